// SPDX-License-Identifier: MIT
#include "launch/plan/program_list.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "base/text/yaml_tree.hpp"
#include "launch/rank/exports.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::launch {

namespace {

constexpr std::array<std::string_view, 7> program_keys{"ranks", "hosts",  "name",     "program",
                                                       "set",   "serves", "arguments"};
constexpr const char* list_example = "- {ranks: 0-1, program: [./server, --port, \"2222\"]}";
constexpr const char* program_example = "program: [./server, --port, \"2222\"]";

// One reading of one file: where it stands, and who has each rank.
class ListReader {
 public:
  ListReader(const std::string& file, const RankMap& rank_map,
             const std::function<bool(const std::string&)>& is_here)
      : file_(file), sheet_(rank_map), is_here_(is_here), entry_of_(rank_map.size(), none) {}

  std::vector<RankGroup> read(const YamlValue& root) {
    if (root.kind != YamlValue::Kind::sequence || root.items.empty())
      refuse(root, "a list of programs is wanted", list_example);
    for (std::size_t i = 0; i < root.items.size(); ++i) read_entry(root.items[i], i);
    std::vector<int> left;
    for (std::size_t rank = 0; rank < entry_of_.size(); ++rank)
      if (entry_of_[rank] == none) left.push_back(static_cast<int>(rank));
    if (!left.empty()) {
      refuse(root, fmt::format("rank {} of {} has no program", left.front(), entry_of_.size()),
             fmt::format("one entry more: - {{ranks: '{}', program: ./worker}}", render_ranges(left)));
    }
    return groups();
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  [[noreturn]] void refuse(const YamlValue& value, const std::string& what, const std::string& hint) const {
    throw Error(ErrorKind::request, {what, place_in(file_, value), hint});
  }

  std::string scalar(const YamlValue& value) const {
    if (value.kind != YamlValue::Kind::scalar)
      refuse(value, "one word is wanted", "the word in quotation marks, if it holds any of : { } [ ] , #");
    return value.text;
  }

  std::vector<std::string> words(const YamlValue& value) const {
    if (value.kind == YamlValue::Kind::scalar) return {value.text};
    if (value.kind != YamlValue::Kind::sequence) refuse(value, "a list of words is wanted", program_example);
    std::vector<std::string> words;
    for (const YamlValue& item : value.items) words.push_back(scalar(item));
    return words;
  }

  void read_entry(const YamlValue& entry, std::size_t number) {
    if (entry.kind != YamlValue::Kind::mapping)
      refuse(entry, "ranks or hosts, and a program, are wanted", list_example);
    for (const auto& [key, value] : entry.fields) check_key(key, value);
    RankGroup group;
    if (const YamlValue* name = entry.find("name")) group.name = scalar(*name);
    const YamlValue* program = entry.find("program");
    if (program == nullptr) refuse(entry, "there is no program", program_example);
    group.program = words(*program);
    if (group.program.empty() || group.program[0].empty())
      refuse(*program, "the program is empty", program_example);
    if (const YamlValue* arguments = entry.find("arguments")) group.arguments = words(*arguments);
    if (const YamlValue* set = entry.find("set")) group.variables = variables(*set);
    if (const YamlValue* serves = entry.find("serves")) group.is_service = truth(*serves);
    entries_.push_back(std::move(group));
    take_ranks(entry, number);
  }

  void check_key(const std::string& key, const YamlValue& value) const {
    if (std::find(program_keys.begin(), program_keys.end(), key) != program_keys.end()) return;
    const std::vector<std::string> known(program_keys.begin(), program_keys.end());
    const auto near = closest_match(key, known);
    refuse(value, fmt::format("'{}' is not one of {}", printable(key, 40), join(known, ", ")),
           near ? *near + ":" : list_example);
  }

  bool truth(const YamlValue& value) const {
    const std::string text = scalar(value);
    if (text != "true" && text != "false") refuse(value, "true or false is wanted", "serves: true");
    return text == "true";
  }

  std::vector<RankVariable> variables(const YamlValue& set) const {
    if (set.kind != YamlValue::Kind::mapping) refuse(set, "NAME: value is wanted", "set: {MODE: train}");
    std::vector<RankVariable> variables;
    for (const auto& [name, value] : set.fields) {
      if (!is_variable_name(name))
        refuse(value, fmt::format("'{}' is no variable name", printable(name, 40)),
               "letters, digits and _ only, no digit first: set: {MODE: train}");
      if (is_secret_name(name))
        refuse(value,
               fmt::format("{} looks like a secret, and what `set` gives is kept in files of the run", name),
               fmt::format("-x {} instead: by its name, its value from the environment; also at a replay",
                           name));
      variables.push_back({name, scalar(value), "the program list sets it"});
    }
    return variables;
  }

  void take_ranks(const YamlValue& entry, std::size_t number) {
    const YamlValue *ranks = entry.find("ranks"), *hosts = entry.find("hosts");
    if ((ranks == nullptr) == (hosts == nullptr))
      refuse(entry, "a program needs either ranks or hosts",
             ranks == nullptr ? "ranks: 0-1, or hosts: h[1-2]" : "one of the two");
    if (ranks != nullptr) {
      const int most = static_cast<int>(entry_of_.size()) - 1;
      const auto numbers = parse_ranges(scalar(*ranks), most);
      if (!numbers || numbers->empty()) {
        refuse(
            *ranks,
            fmt::format("'{}' are not ranks from 0 to {}, ascending", printable(ranks->text, 40), most),
            most == 0 ? "ranks: 0" : fmt::format("ranks: 0-{}, or some of them: ranks: '0,{}'", most, most));
      }
      for (const int rank : *numbers) take(static_cast<std::uint32_t>(rank), number, *ranks);
      return;
    }
    for (const std::string& name : expand_host_list(scalar(*hosts))) {
      for (const std::uint32_t rank : find_host(name, *hosts).ranks) take(rank, number, *hosts);
    }
  }

  const RankMapHost& find_host(const std::string& name, const YamlValue& at) const {
    const auto find = [&](const auto& is_it) {
      return std::find_if(sheet_.hosts.begin(), sheet_.hosts.end(),
                          [&](const RankMapHost& known) { return is_it(known.name); });
    };
    auto host = find([&](const std::string& known) { return known == name; });
    if (host == sheet_.hosts.end() && is_here_ && is_here_(name)) host = find(is_here_);
    if (host != sheet_.hosts.end()) return *host;
    std::vector<std::string> names;
    for (const RankMapHost& known : sheet_.hosts) names.push_back(known.name);
    const auto near = closest_match(name, names);
    refuse(at, fmt::format("{} is no host of this job", printable(name, 60)),
           fmt::format("hosts: {}   # the job has {}", near.value_or(names.front()), fold_host_list(names)));
  }

  void take(std::uint32_t rank, std::size_t number, const YamlValue& at) {
    std::size_t& owner = entry_of_[rank];
    if (owner != none)
      refuse(at, fmt::format("rank {} has a program already, of entry {}", rank, owner + 1),
             fmt::format("rank {} in one of the entries {} and {}", rank, owner + 1, number + 1));
    owner = number;
  }

  std::vector<RankGroup> groups() const {
    std::vector<RankGroup> groups;
    for (std::uint32_t rank = 0; rank < entry_of_.size(); ++rank) {
      if (rank == 0 || entry_of_[rank] != entry_of_[rank - 1]) {
        groups.push_back(entries_[entry_of_[rank]]);
        groups.back().first = rank;
      }
      ++groups.back().ranks;
    }
    return groups;
  }

  const std::string& file_;
  const RankMap& sheet_;
  const std::function<bool(const std::string&)>& is_here_;
  std::vector<std::size_t> entry_of_;
  std::vector<RankGroup> entries_;
};

}  // namespace

std::vector<RankGroup> parse_program_list(std::string_view text, const std::string& file,
                                          const RankMap& rank_map,
                                          const std::function<bool(const std::string& host)>& is_here) {
  const YamlValue root =
      parse_yaml(text, file, fmt::format("a list with one entry a line: {}", list_example));
  return ListReader(file, rank_map, is_here).read(root);
}

}  // namespace ddlrun::launch
