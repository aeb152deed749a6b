// SPDX-License-Identifier: MIT
// Questions and answers as JSON. What a host says is foreign: sizes, depth and types are checked.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/remote/agent_protocol.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>

namespace ddlrun::doctor {

namespace {

using nlohmann::json;

constexpr std::size_t max_facts = 20'000;
constexpr std::size_t max_fact_bytes = 64u << 10;

[[noreturn]] void refuse_question(const std::string& what, const std::string& where) {
  throw Error(ErrorKind::request, {what, where, "the same ddlrun on every host: ddlrun --version"});
}

json parse(std::string_view text, std::size_t limit, const std::string& where) {
  if (text.size() > limit)
    refuse_question(fmt::format("{} bytes of JSON, at most {} are read", text.size(), limit), where);
  int deepest = 0;
  const auto shallow = [&](int depth, json::parse_event_t, json&) {
    deepest = std::max(deepest, depth);
    return depth <= 6;
  };
  json document = json::parse(text, shallow, false);
  if (document.is_discarded() || !document.is_object() || deepest > 6)
    refuse_question("not the JSON of an agent", where);
  return document;
}

template <typename T>
T get(const json& object, const char* key, const std::string& where) {
  try {
    return object.at(key).get<T>();
  } catch (const json::exception&) {
    refuse_question(fmt::format("'{}' is missing or of another type", key), where);
  }
}

Level level_from(int number) {
  return number == 2 ? Level::stress : number == 1 ? Level::full : Level::quick;
}

}  // namespace

std::string render_question_json(const Question& question) {
  const json document{{"level", static_cast<int>(question.level)},
                      {"host", question.host},
                      {"is_head", question.is_head},
                      {"names", question.names},
                      {"ranks_here", question.ranks_here},
                      {"ranks", question.ranks},
                      {"cores_per_rank", question.cores_per_rank},
                      {"executable", question.executable},
                      {"program_files", question.program_files},
                      {"own_files", question.own_files},
                      {"environment", question.environment},
                      {"workdir", question.working_folder},
                      {"checkpoint_folder", question.checkpoint_folder},
                      {"temporary_folder", question.temporary_folder},
                      {"data_paths", question.data_paths},
                      {"interface", question.interface},
                      {"ports", question.ports},
                      {"token_file", question.token_file},
                      {"groups", question.groups},
                      {"peers", question.peers},
                      {"probe_ports", question.probe_ports},
                      {"probe_ms", question.probe_ms},
                      {"launch_children", question.launch_children}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Question parse_question_json(std::string_view text) {
  const std::string where = "the question to the agent";
  const json document = parse(text, max_question_bytes, where);
  Question question;
  question.level = level_from(get<int>(document, "level", where));
  question.host = get<std::string>(document, "host", where);
  question.is_head = get<bool>(document, "is_head", where);
  question.names = get<std::vector<std::string>>(document, "names", where);
  question.ranks_here = get<std::uint32_t>(document, "ranks_here", where);
  question.ranks = get<std::uint32_t>(document, "ranks", where);
  question.cores_per_rank = get<std::uint32_t>(document, "cores_per_rank", where);
  question.executable = get<std::string>(document, "executable", where);
  question.program_files = get<std::vector<std::string>>(document, "program_files", where);
  question.own_files = get<std::vector<std::string>>(document, "own_files", where);
  question.environment = get<std::map<std::string, std::string>>(document, "environment", where);
  question.working_folder = get<std::string>(document, "workdir", where);
  question.checkpoint_folder = get<std::string>(document, "checkpoint_folder", where);
  question.temporary_folder = get<std::string>(document, "temporary_folder", where);
  question.data_paths = get<std::vector<std::string>>(document, "data_paths", where);
  question.interface = get<std::string>(document, "interface", where);
  question.ports = get<std::vector<std::uint16_t>>(document, "ports", where);
  question.token_file = get<std::string>(document, "token_file", where);
  question.groups = get<std::vector<std::string>>(document, "groups", where);
  question.peers = get<std::vector<std::string>>(document, "peers", where);
  question.probe_ports = get<std::vector<std::uint16_t>>(document, "probe_ports", where);
  question.probe_ms = get<std::uint32_t>(document, "probe_ms", where);
  question.launch_children = get<std::vector<std::string>>(document, "launch_children", where);
  return question;
}

std::string render_answer_json(const Answer& answer) {
  json facts = json::object();
  json unknown = json::object();
  for (const auto& [name, fact] : answer.facts.all()) (fact.known ? facts : unknown)[name] = fact.text;
  const json document{{"schema", "ddlrun.agent/1"},    {"facts", std::move(facts)},
                      {"unknown", std::move(unknown)}, {"failed", answer.failed_gatherers},
                      {"ready_us", answer.ready_us},   {"asked_us", answer.asked_us}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

namespace {

using Store = std::function<void(const std::string& name, const std::string& text)>;

void take_texts(const json& document, const char* key, const std::string& where, const Store& store) {
  const auto entries = document.find(key);
  if (entries == document.end()) return;
  if (!entries->is_object() || entries->size() > max_facts)
    refuse_question(fmt::format("'{}' is odd or too large", key), where);
  for (const auto& [name, value] : entries->items()) {
    const bool good = value.is_string() && value.get_ref<const std::string&>().size() <= max_fact_bytes;
    if (!good) {
      refuse_question(
          fmt::format("'{}' is not a text of at most {} bytes", printable(name, 60), max_fact_bytes), where);
    }
    store(name, value.get_ref<const std::string&>());
  }
}

}  // namespace

Answer parse_answer_json(std::string_view text, const std::string& host) {
  const json document = parse(text, max_answer_bytes, host);
  if (get<std::string>(document, "schema", host) != "ddlrun.agent/1")
    refuse_question("an agent of another version", host);
  Answer answer;
  take_texts(document, "facts", host,
             [&](const auto& name, const auto& value) { answer.facts.set(name, value); });
  take_texts(document, "unknown", host,
             [&](const auto& name, const auto& why) { answer.facts.set_unknown(name, why); });
  take_texts(document, "failed", host,
             [&](const auto& name, const auto& why) { answer.failed_gatherers[name] = why; });
  answer.ready_us = get<std::int64_t>(document, "ready_us", host);
  answer.asked_us = get<std::int64_t>(document, "asked_us", host);
  return answer;
}

}  // namespace ddlrun::doctor
