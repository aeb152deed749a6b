// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "launch/rank/rank_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>

namespace ddlrun::launch {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view sheet_schema = "ddlrun.ranks/1";
constexpr int most_pus = 1 << 20;
constexpr std::array<std::string_view, 3> memory_names{"", "preferred", "bind"};
constexpr std::array<std::string_view, 3> view_names{"", "one", "host"};

[[noreturn]] void refuse_sheet(const std::string& what, const std::string& at) {
  throw Error(ErrorKind::request,
              {"cannot read the rank map: " + what, at, "the same ddlrun on all hosts: ddlrun --version"});
}

// "0-18/6": first, last and step; "5" for one; "0,2,3" where the steps differ.
std::string render_rank_list(const std::vector<std::uint32_t>& ranks) {
  if (ranks.size() > 2) {
    const std::uint32_t step = ranks[1] - ranks[0];
    bool even = true;
    for (std::size_t i = 2; i < ranks.size(); ++i) even = even && ranks[i] - ranks[i - 1] == step;
    if (even) return fmt::format("{}-{}/{}", ranks.front(), ranks.back(), step);
  }
  return fmt::format("{}", fmt::join(ranks, ","));
}

std::uint32_t rank_number(std::string_view text, const std::string& at) {
  const auto number = parse_unsigned(text, topology::max_ranks - 1);
  if (!number) refuse_sheet(fmt::format("'{}' is no rank", printable(text, 40)), at);
  return static_cast<std::uint32_t>(*number);
}

std::vector<std::uint32_t> parse_rank_list(std::string_view text, const std::string& at) {
  std::vector<std::uint32_t> ranks;
  const std::size_t dash = text.find('-'), slash = text.find('/');
  if (dash != std::string_view::npos) {
    if (slash == std::string_view::npos || slash < dash) refuse_sheet("a range without its step", at);
    const std::uint32_t first = rank_number(text.substr(0, dash), at);
    const std::uint32_t last = rank_number(text.substr(dash + 1, slash - dash - 1), at);
    const std::uint32_t step = rank_number(text.substr(slash + 1), at);
    if (step == 0 || last < first) refuse_sheet("a range that does not ascend", at);
    for (std::uint32_t rank = first; rank <= last; rank += step) ranks.push_back(rank);
    return ranks;
  }
  for (const std::string_view word : split(text, ',')) {
    ranks.push_back(rank_number(word, at));
    if (ranks.size() > 1 && ranks.back() <= ranks[ranks.size() - 2]) refuse_sheet("ranks do not ascend", at);
  }
  return ranks;
}

// Folding may change the order of names, which is the meaning here.
std::string render_names(const std::vector<std::string>& names) {
  const std::string folded = fold_host_list(names, SIZE_MAX);
  return expand_host_list(folded) == names ? folded : fmt::format("{}", fmt::join(names, ","));
}

Json seat_json(const RankBinding& binding) {
  Json entry = Json::object();
  if (!binding.pus.empty()) entry["pus"] = render_ranges(binding.pus);
  if (binding.numa_node >= 0) entry["numa"] = binding.numa_node;
  if (binding.gpu >= 0) entry["gpu"] = binding.gpu;
  if (!binding.gpu_pci.empty()) entry["pci"] = binding.gpu_pci;
  if (!binding.nic.empty()) entry["nic"] = binding.nic;
  return entry;
}

Json group_json(const RankGroup& group) {
  Json entry{{"first", group.first}, {"ranks", group.ranks}};
  if (!group.name.empty()) entry["name"] = group.name;
  if (!group.program.empty()) entry["program"] = group.program;
  if (!group.arguments.empty()) entry["arguments"] = group.arguments;
  if (group.is_service) entry["serves"] = true;
  Json& variables = entry["set"] = Json::object();
  for (const RankVariable& variable : group.variables) variables[variable.name] = variable.value;
  return entry;
}

// A known object: what it lacks keeps its default, what it does not know is refused.
class RankMapFields {
 public:
  RankMapFields(const Json& object, std::string at) : object_(object), at_(std::move(at)) {
    if (!object.is_object()) refuse_sheet("an object is wanted", at_);
  }
  template <typename Value>
  void take(const char* name, Value& value) {
    known_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end()) return;
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      // get_to() would cut a fraction, or a number that does not fit.
      const bool fits = found->is_number_unsigned()
                            ? std::in_range<Value>(found->get<std::uint64_t>())
                            : found->is_number_integer() && std::in_range<Value>(found->get<std::int64_t>());
      if (!fits) refuse_sheet("a number is wanted", at_ + "." + name);
    }
    try {
      found->get_to(value);
    } catch (const Json::exception&) {
      refuse_sheet("a value of the wrong kind", at_ + "." + name);
    }
  }
  const Json& list(const char* name) {
    known_.insert(name);
    const auto found = object_.find(name);
    if (found == object_.end() || !found->is_array()) refuse_sheet("a list is wanted", at_ + "." + name);
    return *found;
  }
  const Json* object(const char* name) {
    known_.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  void done() const {
    for (const auto& [name, value] : object_.items()) {
      if (known_.count(name) == 0) refuse_sheet(fmt::format("unknown '{}'", printable(name, 40)), at_);
    }
  }

 private:
  const Json& object_;
  std::string at_;
  std::set<std::string> known_;
};

// An enumerator by its name; none keeps the first.
template <typename Value>
void take_name(RankMapFields& fields, const char* field, const std::array<std::string_view, 3>& names,
               Value& value) {
  std::string name;
  fields.take(field, name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse_sheet(fmt::format("unknown '{}'", printable(name, 40)), field);
  value = static_cast<Value>(found - names.begin());
}

RankBinding parse_seat(const Json& entry, const std::string& at) {
  RankBinding binding;
  std::string pus;
  RankMapFields fields(entry, at);
  fields.take("pus", pus);
  fields.take("numa", binding.numa_node);
  fields.take("gpu", binding.gpu);
  fields.take("pci", binding.gpu_pci);
  fields.take("nic", binding.nic);
  fields.done();
  if (pus.empty()) return binding;
  const auto numbers = parse_ranges(pus, most_pus);
  if (!numbers) refuse_sheet(fmt::format("'{}' is no list of PUs", printable(pus, 40)), at);
  binding.pus = *numbers;
  return binding;
}

RankGroup parse_group(const Json& entry, const std::string& at) {
  RankGroup group;
  RankMapFields fields(entry, at);
  fields.take("first", group.first);
  fields.take("ranks", group.ranks);
  fields.take("name", group.name);
  fields.take("program", group.program);
  fields.take("arguments", group.arguments);
  fields.take("serves", group.is_service);
  const Json* variables = fields.object("set");
  fields.done();
  if (variables == nullptr) return group;
  if (!variables->is_object()) refuse_sheet("an object is wanted", at + ".set");
  for (const auto& [name, value] : variables->items()) {
    if (!value.is_string()) refuse_sheet("a value of the wrong kind", at + ".set");
    group.variables.push_back({name, value.get<std::string>(), ""});
  }
  return group;
}

void parse_hosts(RankMapFields& fields, RankMap& rank_map) {
  std::string names;
  fields.take("hosts", names);
  const Json& kinds = fields.list("kind_of_host");
  const Json& ranks = fields.list("ranks");
  const std::vector<std::string> hosts = expand_host_list(names);
  if (kinds.size() != hosts.size() || ranks.size() != hosts.size()) {
    refuse_sheet(
        fmt::format("{} hosts, {} kinds and {} lists of ranks", hosts.size(), kinds.size(), ranks.size()),
        "hosts");
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string at = fmt::format("ranks[{}]", i);
    if (!kinds[i].is_number_unsigned() || !ranks[i].is_string())
      refuse_sheet("a value of the wrong kind", at);
    const auto kind = kinds[i].get<std::uint64_t>();
    if (kind >= rank_map.kinds.size()) {
      refuse_sheet(fmt::format("kind {} of {}", kind, rank_map.kinds.size()), at);
    }
    rank_map.hosts.push_back({hosts[i], static_cast<std::uint32_t>(kind),
                              parse_rank_list(ranks[i].get_ref<const std::string&>(), at)});
  }
}

}  // namespace

std::string render_rank_map(const RankMap& rank_map) {
  Json document{{"schema", sheet_schema}};
  if (rank_map.bind) document["bind"] = true;
  if (rank_map.unbind) document["unbind"] = true;
  if (rank_map.memory != MemoryPolicy::leave)
    document["memory"] = memory_names[static_cast<std::size_t>(rank_map.memory)];
  if (rank_map.gpu_view != GpuView::leave)
    document["gpu_view"] = view_names[static_cast<std::size_t>(rank_map.gpu_view)];
  if (!rank_map.workdir.empty()) document["workdir"] = rank_map.workdir;
  if (!rank_map.result.empty()) document["result"] = rank_map.result;
  std::vector<std::string> names;
  Json kind_of_host = Json::array(), ranks = Json::array();
  for (const RankMapHost& host : rank_map.hosts) {
    names.push_back(host.name);
    kind_of_host.push_back(host.kind);
    ranks.push_back(render_rank_list(host.ranks));
  }
  document["hosts"] = render_names(names);
  document["kind_of_host"] = kind_of_host;
  document["ranks"] = ranks;
  Json& kinds = document["kinds"] = Json::array();
  for (const auto& bindings : rank_map.kinds) {
    Json& kind = kinds.emplace_back(Json::array());
    for (const RankBinding& binding : bindings) kind.push_back(seat_json(binding));
  }
  Json& groups = document["groups"] = Json::array();
  for (const RankGroup& group : rank_map.groups) groups.push_back(group_json(group));
  try {
    return document.dump(-1, ' ', true);
  } catch (const Json::exception&) {
    throw Error(ErrorKind::request, {"a word for the ranks is not UTF-8, which this launcher cannot carry",
                                     "", "the word in UTF-8, or a file that holds it"});
  }
}

RankMap parse_rank_map(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_discarded()) refuse_sheet("it is no JSON", "");
  RankMapFields fields(document, "rank_map");
  std::string schema;
  fields.take("schema", schema);
  if (schema != sheet_schema) refuse_sheet(fmt::format("schema '{}'", printable(schema, 40)), "schema");
  RankMap rank_map;
  fields.take("bind", rank_map.bind);
  fields.take("unbind", rank_map.unbind);
  take_name(fields, "memory", memory_names, rank_map.memory);
  take_name(fields, "gpu_view", view_names, rank_map.gpu_view);
  fields.take("workdir", rank_map.workdir);
  fields.take("result", rank_map.result);
  const Json& kinds = fields.list("kinds");
  for (const Json& kind : kinds) {
    if (!kind.is_array()) refuse_sheet("a list is wanted", "kinds");
    auto& bindings = rank_map.kinds.emplace_back();
    for (const Json& binding : kind)
      bindings.push_back(parse_seat(binding, fmt::format("kinds[{}]", rank_map.kinds.size() - 1)));
  }
  parse_hosts(fields, rank_map);
  for (const Json& group : fields.list("groups")) {
    rank_map.groups.push_back(parse_group(group, fmt::format("groups[{}]", rank_map.groups.size())));
  }
  fields.done();
  return rank_map;
}

}  // namespace ddlrun::launch
