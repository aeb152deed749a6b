// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "base/text/utf8.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

namespace ddlrun::launch {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view start_schema = "ddlrun.start/1";
constexpr std::string_view host_schema = "ddlrun.host/1";
constexpr int max_depth = 16;
constexpr int longest_grace_ms = 24 * 3600 * 1000;

[[noreturn]] void refuse_start(const std::string& what, const std::string& at) {
  throw Error(ErrorKind::request, {"the start document is not readable: " + what, at,
                                   "the same ddlrun on all hosts: ddlrun --version"});
}

Json word_json(const std::string& word) {
  if (is_utf8(word)) return word;
  std::string digits;
  for (const char byte : word) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return Json{{"hex", digits}};
}

Json words_json(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const std::string& word : words) list.push_back(word_json(word));
  return list;
}

int hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

std::string checked_word(std::string word, const std::string& at) {
  if (word.find('\0') != std::string::npos) refuse_start("a word with a NUL byte", at);
  return word;
}

std::string parse_word(const Json& entry, const std::string& at) {
  if (entry.is_string()) return checked_word(entry.get<std::string>(), at);
  if (!entry.is_object() || entry.size() != 1 || !entry.contains("hex") || !entry["hex"].is_string()) {
    refuse_start("a word is wanted", at);
  }
  const std::string digits = entry["hex"].get<std::string>();
  if (digits.size() % 2 != 0) refuse_start("an odd number of hex digits", at);
  std::string word;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) refuse_start("no hex digits", at);
    word += static_cast<char>(high * 16 + low);
  }
  return checked_word(word, at);
}

// A known object: what it lacks keeps its default, what it does not know is refused.
class SshSpecFields {
 public:
  SshSpecFields(const Json& object, std::string at) : object_(object), at_(std::move(at)) {
    if (!object.is_object()) refuse_start("an object is wanted", at_);
  }
  const Json* find(const char* name) {
    known_.insert(name);
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }
  std::string place(const char* name) const { return at_ + "." + name; }
  void take(const char* name, std::string& text) {
    if (const Json* found = find(name)) text = parse_word(*found, place(name));
  }
  void take(const char* name, bool& flag) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_boolean()) refuse_start("true or false is wanted", place(name));
    flag = found->get<bool>();
  }
  void take(const char* name, int& number, int least, int most) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_number_integer() || *found < least || *found > most) {
      refuse_start(fmt::format("a number from {} to {} is wanted", least, most), place(name));
    }
    number = found->get<int>();
  }
  void take(const char* name, std::vector<std::string>& words) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_array()) refuse_start("a list is wanted", place(name));
    for (const Json& word : *found) words.push_back(parse_word(word, place(name)));
  }
  void take(const char* name, std::map<std::string, std::string>& values) {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_object()) refuse_start("an object is wanted", place(name));
    for (const auto& [key, value] : found->items()) values[key] = parse_word(value, place(name) + "." + key);
  }
  void done() const {
    for (const auto& [name, value] : object_.items()) {
      if (known_.count(name) == 0) refuse_start(fmt::format("unknown '{}'", printable(name, 40)), at_);
    }
  }

 private:
  const Json& object_;
  std::string at_;
  std::set<std::string> known_;
};

Json program_json(const RankProgram& program) {
  Json entry{{"words", words_json(program.program)}};
  if (!program.placement_token.empty()) entry["report"] = program.placement_token;
  if (program.keep) entry["keep"] = true;
  if (!program.status_token.empty()) entry["watch"] = program.status_token;
  if (!program.output_token.empty()) entry["output"] = program.output_token;
  if (program.stall_after != 0) entry["stall_after"] = program.stall_after;
  return entry;
}

RankProgram parse_program(SshSpecFields& document) {
  RankProgram program;
  const Json* entry = document.find("program");
  if (entry == nullptr) refuse_start("no program", "program");
  SshSpecFields fields(*entry, "program");
  fields.take("words", program.program);
  fields.take("report", program.placement_token);
  fields.take("output", program.output_token);
  fields.take("keep", program.keep);
  fields.take("watch", program.status_token);
  fields.take("stall_after", program.stall_after, 0, 1 << 30);
  fields.done();
  return program;
}

// That every rank has one host and a program, and ssh can be given every name.
void check_rank_map(const RankMap& rank_map, const RankProgram& program) {
  std::vector<bool> seen(rank_map.size(), false);
  for (const RankMapHost& host : rank_map.hosts) {
    if (!is_host_name(host.name))
      refuse_start(fmt::format("'{}' is no host", printable(host.name, 60)), "hosts");
    for (const std::uint32_t rank : host.ranks) {
      if (rank >= seen.size() || seen[rank]) {
        refuse_start(fmt::format("rank {} of {} has not one place", rank, seen.size()), "rank_map.ranks");
      }
      seen[rank] = true;
    }
  }
  std::uint32_t next = 0;
  for (const RankGroup& group : rank_map.groups) {
    if (group.first != next || group.ranks == 0 || group.ranks > seen.size() - next) {
      refuse_start(fmt::format("a group of {} from rank {} on, {} of {} are given", group.ranks, group.first,
                               next, seen.size()),
                   "rank_map.groups");
    }
    const Command& words = group.program.empty() ? program.program : group.program;
    if (words.empty() || words[0].empty()) {
      refuse_start(fmt::format("rank {} has no program", group.first), "program");
    }
    next += group.ranks;
  }
  if (next != seen.size()) refuse_start(fmt::format("rank {} is in no group", next), "rank_map.groups");
  if (seen.empty()) refuse_start("no ranks", "rank_map");
}

RankMap parse_sheet(SshSpecFields& fields) {
  const Json* entry = fields.find("rank_map");
  if (entry == nullptr) refuse_start("no rank map", "rank_map");
  return parse_rank_map(entry->dump());
}

Json parse_text(std::string_view text, std::string_view schema) {
  // nlohmann-json 3.11 writes a document recursively: a deep one would use up the stack.
  bool is_deep = false;
  const auto shallow = [&is_deep](int depth, Json::parse_event_t, Json&) {
    is_deep = is_deep || depth > max_depth;
    return !is_deep;
  };
  Json document = Json::parse(text, shallow, false);
  if (is_deep) refuse_start(fmt::format("it is nested deeper than {} levels", max_depth), "");
  if (document.is_discarded()) refuse_start("it is no JSON", "");
  if (!document.is_object()) refuse_start("an object is wanted", "");
  const std::string found = document.contains("schema") && document["schema"].is_string()
                                ? document["schema"].get<std::string>()
                                : std::string();
  if (found != schema)
    refuse_start(fmt::format("schema '{}', not {}", printable(found, 40), schema), "schema");
  return document;
}

void check_name(const std::string& name) {
  if (name.empty() || name.find('=') != std::string::npos) {
    refuse_start(fmt::format("'{}' is no variable", printable(name, 60)), "exported");
  }
}

std::string dump_start(const Json& document, int indent) {
  try {
    return document.dump(indent) + "\n";
  } catch (const Json::exception&) {
    throw Error(ErrorKind::request, {"a name for the ranks is not UTF-8", "", "the name in UTF-8"});
  }
}

}  // namespace

std::string render_ssh_launch_spec(const SshLaunchSpec& start) {
  Json document{{"schema", start_schema}, {"program", program_json(start.program)}};
  document["exported"] = start.exported;
  if (!start.addresses.empty()) document["addresses"] = start.addresses;
  if (start.ssh != "ssh") document["ssh"] = word_json(start.ssh);
  if (!start.ssh_arguments.empty()) document["ssh_arguments"] = words_json(start.ssh_arguments);
  document["grace_ms"] = start.grace_ms;
  document["rank_map"] = Json::parse(render_rank_map(start.rank_map));
  return dump_start(document, 1);
}

SshLaunchSpec parse_ssh_launch_spec(std::string_view text) {
  const Json document = parse_text(text, start_schema);
  SshLaunchSpec start;
  SshSpecFields fields(document, "start");
  fields.find("schema");
  start.program = parse_program(fields);
  fields.take("exported", start.exported);
  fields.take("addresses", start.addresses);
  fields.take("ssh", start.ssh);
  fields.take("ssh_arguments", start.ssh_arguments);
  fields.take("grace_ms", start.grace_ms, 0, longest_grace_ms);
  start.rank_map = parse_sheet(fields);
  fields.done();
  for (const std::string& name : start.exported) check_name(name);
  for (const auto& [host, address] : start.addresses) {
    if (!is_host_name(address)) {
      refuse_start(fmt::format("'{}' is no address", printable(address, 60)), "addresses");
    }
  }
  check_rank_map(start.rank_map, start.program);
  return start;
}

std::string render_ssh_host_spec(const SshHostSpec& host) {
  Json document{{"schema", host_schema}, {"program", program_json(host.program)}};
  Json& values = document["values"] = Json::object();
  for (const auto& [name, value] : host.values) values[name] = word_json(value);
  document["grace_ms"] = host.grace_ms;
  document["rank_map"] = Json::parse(render_rank_map(host.rank_map));
  return dump_start(document, -1);
}

SshHostSpec parse_ssh_host_spec(std::string_view text) {
  const Json document = parse_text(text, host_schema);
  SshHostSpec host;
  SshSpecFields fields(document, "host");
  fields.find("schema");
  host.program = parse_program(fields);
  fields.take("values", host.values);
  fields.take("grace_ms", host.grace_ms, 0, longest_grace_ms);
  host.rank_map = parse_sheet(fields);
  fields.done();
  for (const auto& [name, value] : host.values) check_name(name);
  check_rank_map(host.rank_map, host.program);
  return host;
}

}  // namespace ddlrun::launch
