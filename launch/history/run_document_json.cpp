// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/run_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>

namespace ddlrun::run_report {

namespace {

using RunJson = nlohmann::json;

// Members by name; what is missing or null leaves the value as it is, a wrong type throws RunJson::exception.
template <typename Value>
void take(const RunJson& json, const char* name, Value& value) {
  const auto found = json.find(name);
  if (found != json.end() && !found->is_null()) found->get_to(value);
}

// An object's member, or an empty object.
const RunJson& member(const RunJson& json, const char* name) {
  static const RunJson none = RunJson::object();
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? none : *found;
}

void take_watched(const RunJson& json, RunDocument& run) {
  run.watched = !json.empty();
  const RunJson& first = member(json, "first_failure");
  if (!first.empty()) {
    RunFailure& failure = run.first_failure.emplace();
    take(first, "rank", failure.rank);
    take(first, "host", failure.host);
    take(first, "exit_status", failure.exit_status);
    take(first, "signal", failure.signal);
  }
  for (const RunJson& entry : member(json, "stalls")) {
    RunStall& stall = run.stalls.emplace_back();
    take(entry, "rank", stall.rank);
    take(entry, "host", stall.host);
    take(entry, "state", stall.state);
    take(entry, "process", stall.process);
    take(entry, "seconds", stall.seconds);
  }
  take(json, "silent_hosts", run.silent_hosts);
  take(json, "lost_hosts", run.lost_hosts);
}

void take_versions(const RunJson& json, RunDocument& run) {
  take(json, "ddlrun", run.ddlrun_version);
  take(json, "mpirun", run.mpirun_version);
  take(json, "kernel", run.kernel);
}

void take_process(const RunJson& json, RunDocument& run) {
  take(json, "pid", run.pid);
  take(json, "started_ticks", run.started_ticks);
  take(json, "boot", run.boot);
}

void take_typed(const RunJson& json, RunDocument& run) {
  run.is_typed = !json.empty();
  take(json, "words", run.captured_arguments);
  take(json, "program", run.typed_program);
}

void take_told(const RunJson& json, RunDocument& run) {
  take(json, "replay_of", run.replay_of);
  take(json, "restart_of", run.restart_of);
  take(json, "result", run.result);
  take(json, "output", run.output);
  take(json, "network", run.network);
  take(json, "diagnosis", run.diagnosis);
  take(json, "remarks", run.remarks);
  take(json, "findings", run.findings);
  take(json, "last_lines", run.last_lines);
  take(json, "digests", run.digests);
  take(json, "hosts", run.hosts);
  take(json, "machine_of_host", run.machine_of_host);
  for (const RunJson& entry : member(json, "reasons"))
    run.reasons.emplace_back(entry.value("subject", ""), entry.value("why", ""));
}

RunRank rank_of(const RunJson& json) {
  RunRank rank;
  json.at("rank").get_to(rank.rank);
  take(json, "local_rank", rank.local_rank);
  take(json, "host", rank.host);
  take(json, "slot", rank.slot);
  take(json, "planned_pus", rank.planned_pus);
  if (json.contains("exit_status") && !json["exit_status"].is_null())
    rank.exit_status = json["exit_status"].get<int>();
  take(json, "found_host", rank.found_host);
  take(json, "found_pus", rank.found_pus);
  take(json, "verdict", rank.verdict);
  take(json, "why", rank.why);
  return rank;
}

RunDocument document_of(const RunJson& json) {
  RunDocument run;
  take(json, "id", run.id);
  take(json, "start", run.start);
  take(json, "start_us", run.start_us);
  if (const RunJson& end = member(json, "end"); !end.empty()) {
    run.end.emplace();
    take(end, "time", run.end->time);
    take(end, "exit_status", run.end->exit_status);
    take(end, "signal", run.end->signal);
  }
  take(json, "host", run.host);
  take(json, "workdir", run.working_folder);
  take(json, "dims", run.dims);
  take(json, "program", run.program);
  take(json, "rank_count", run.rank_count);
  take(json, "exported", run.exported);
  take(json, "launcher", run.launcher);
  take(json, "mpirun", run.mpirun);
  take(json, "verified", run.verified);
  take_versions(member(json, "versions"), run);
  take_watched(member(json, "watched"), run);
  take_process(member(json, "process"), run);
  take_typed(member(json, "typed"), run);
  take_told(json, run);
  for (const RunJson& entry : member(json, "ranks")) run.ranks.push_back(rank_of(entry));
  return run;
}

[[noreturn]] void refuse_document(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::request, {what, where, "ls -l " + quote_shell(where)});
}

// Skips the ranks, however many, if the caller does not want them.
RunJson parse_without(std::string_view text, std::string_view left_out) {
  const auto wanted = [&](int depth, RunJson::parse_event_t event, RunJson& parsed) {
    return depth != 1 || event != RunJson::parse_event_t::key || parsed != left_out;
  };
  return RunJson::parse(text, wanted);
}

}  // namespace

RunDocument parse_run_json(std::string_view text, const std::string& where, bool with_ranks) {
  try {
    const RunJson json = with_ranks ? RunJson::parse(text) : parse_without(text, "ranks");
    if (!json.is_object() || json.value("schema", "") != "ddlrun.run/1")
      refuse_document(where, "this is no run of a ddlrun like this one: its schema is not ddlrun.run/1");
    return document_of(json);
  } catch (const RunJson::exception& error) {
    refuse_document(where, fmt::format("the record of this run is damaged: {}",
                                       printable(std::string_view(error.what()), 160)));
  }
}

std::map<std::uint32_t, int> parse_plan_gpus(std::string_view text, const std::string& where) {
  std::map<std::uint32_t, int> gpus;
  try {
    const RunJson plan = RunJson::parse(text);
    for (const RunJson& rank : member(plan, "ranks")) {
      if (rank.contains("gpu")) gpus[rank.at("rank").get<std::uint32_t>()] = rank.at("gpu").get<int>();
    }
  } catch (const RunJson::exception& error) {
    refuse_document(where, fmt::format("the plan of this run is damaged: {}",
                                       printable(std::string_view(error.what()), 160)));
  }
  return gpus;
}

std::optional<std::int64_t> parse_run_time(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !digit : text[i] != form[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t length) {
    return static_cast<unsigned>(parse_unsigned(text.substr(at, length)).value_or(0));
  };
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(number(0, 4))),
                                        std::chrono::month(number(5, 2)), std::chrono::day(number(8, 2))};
  if (!day.ok()) return std::nullopt;
  const auto days = std::chrono::sys_days(day).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(days).count() + number(11, 2) * 3600 +
         number(14, 2) * 60 + number(17, 2);
}

}  // namespace ddlrun::run_report
