// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/utf8.hpp"
#include "launch/history/run_record.hpp"
#include "launch/rank/status_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddlrun::launch {

namespace {

using Json = nlohmann::ordered_json;

// --- write ---

Json end_json(const std::optional<RunEnd>& end) {
  if (!end) return {};
  return {{"time", end->time},
          {"exit_status", end->exit_status},
          {"signal", end->signal},
          {"stopped_by", end->stopped_by}};
}

Json failure_json(const std::optional<RunFailure>& failure) {
  if (!failure) return {};
  Json with = Json::array();
  for (const RankEnd& end : failure->with)
    with.push_back({{"rank", end.rank}, {"host", end.host}, {"exit_status", end.exit_status}});
  return {{"rank", failure->rank},
          {"host", failure->host},
          {"exit_status", failure->exit_status},
          {"signal", failure->signal},
          {"start_error", failure->start_error},
          {"absence", failure->absence},
          {"with", with},
          {"alike", failure->alike},
          {"differ", failure->differ}};
}

Json watched_json(const std::optional<RunMonitoring>& watched) {
  if (!watched) return {};
  Json stalls = Json::array();
  for (const RunStall& stall : watched->stalls) {
    stalls.push_back({{"rank", stall.rank},
                      {"host", stall.host},
                      {"seconds", stall.seconds},
                      {"state", stall.state},
                      {"pid", stall.pid},
                      {"process", stall.process}});
  }
  return {{"first_failure", failure_json(watched->first_failure)},
          {"stalls", stalls},
          {"silent_hosts", watched->silent_hosts},
          {"lost_hosts", watched->lost_hosts},
          {"stall", watched->stall},
          {"stall_severity", watched->stall_severity}};
}

Json process_json(const RunProcess& process) {
  if (process.pid == 0) return {};
  return {{"pid", process.pid}, {"started_ticks", process.started_ticks}, {"boot", process.boot}};
}

Json typed_json(const std::optional<TypedLaunch>& typed) {
  if (!typed) return {};
  return {{"words", typed->words}, {"program", typed->program}};
}

Json reasons_json(const std::vector<Reason>& reasons) {
  Json list = Json::array();
  for (const Reason& reason : reasons) list.push_back({{"subject", reason.subject}, {"why", reason.why}});
  return list;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json rank_json(const RunRank& rank, const RunRecord& record) {
  Json json{{"rank", rank.rank},
            {"local_rank", rank.local_rank},
            {"host", rank.host},
            {"slot", rank.slot},
            {"planned_pus", rank.planned_pus}};
  if (record.watched) json["exit_status"] = rank.exit_status ? Json(*rank.exit_status) : Json();
  if (!record.verified) return json;
  json["found_host"] = text_or_null(rank.found_host);
  json["found_pus"] = text_or_null(rank.found_pus);
  json["verdict"] = rank.verdict;
  if (!rank.why.empty()) json["why"] = rank.why;
  return json;
}

// Lists that may be long stand in one line.
std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// One rank a line: readable in a diff, and large runs stay small.
std::string render_ranks(const RunRecord& record) {
  std::string text;
  for (const RunRank& rank : record.ranks) {
    if (!text.empty()) text += ",\n";
    text += "    " + one_line(rank_json(rank, record));
  }
  return text.empty() ? "[]" : "[\n" + text + "\n  ]";
}

// --- read ---

// Members by name; what is missing or null leaves the value as it is, a wrong type throws Json::exception.
template <typename Value>
void take(const Json& json, const char* name, Value& value) {
  const auto found = json.find(name);
  if (found != json.end() && !found->is_null()) found->get_to(value);
}

// An object's member, or an empty object.
const Json& member(const Json& json, const char* name) {
  static const Json none = Json::object();
  const auto found = json.find(name);
  return found == json.end() || found->is_null() ? none : *found;
}

RunFailure failure_of(const Json& json) {
  RunFailure failure;
  take(json, "rank", failure.rank);
  take(json, "host", failure.host);
  take(json, "exit_status", failure.exit_status);
  take(json, "signal", failure.signal);
  take(json, "start_error", failure.start_error);
  take(json, "absence", failure.absence);
  take(json, "alike", failure.alike);
  for (const Json& rank : member(json, "differ"))
    if (rank.is_number_unsigned()) failure.differ.push_back(rank.get<std::uint32_t>());
  for (const Json& entry : member(json, "with")) {
    RankEnd& end = failure.with.emplace_back();
    take(entry, "rank", end.rank);
    take(entry, "host", end.host);
    take(entry, "exit_status", end.exit_status);
  }
  return failure;
}

RunMonitoring watched_of(const Json& json) {
  RunMonitoring watched;
  if (const Json& first = member(json, "first_failure"); !first.empty())
    watched.first_failure = failure_of(first);
  for (const Json& entry : member(json, "stalls")) {
    RunStall& stall = watched.stalls.emplace_back();
    take(entry, "rank", stall.rank);
    take(entry, "host", stall.host);
    take(entry, "seconds", stall.seconds);
    take(entry, "state", stall.state);
    take(entry, "pid", stall.pid);
    take(entry, "process", stall.process);
  }
  take(json, "silent_hosts", watched.silent_hosts);
  take(json, "lost_hosts", watched.lost_hosts);
  take(json, "stall", watched.stall);
  take(json, "stall_severity", watched.stall_severity);
  return watched;
}

RunRank rank_of(const Json& json) {
  RunRank rank;
  json.at("rank").get_to(rank.rank);
  take(json, "local_rank", rank.local_rank);
  take(json, "host", rank.host);
  take(json, "slot", rank.slot);
  take(json, "planned_pus", rank.planned_pus);
  if (const Json& status = member(json, "exit_status"); status.is_number())
    rank.exit_status = status.get<int>();
  take(json, "found_host", rank.found_host);
  take(json, "found_pus", rank.found_pus);
  take(json, "verdict", rank.verdict);
  take(json, "why", rank.why);
  return rank;
}

RunRecord record_of(const Json& json) {
  RunRecord record;
  take(json, "id", record.id);
  take(json, "start", record.start);
  take(json, "start_us", record.start_us);
  if (const Json& end = member(json, "end"); !end.empty()) {
    record.end.emplace();
    take(end, "time", record.end->time);
    take(end, "exit_status", record.end->exit_status);
    take(end, "signal", record.end->signal);
    take(end, "stopped_by", record.end->stopped_by);
  }
  take(json, "host", record.host);
  take(json, "workdir", record.workdir);
  take(json, "program", record.program);
  take(json, "dims", record.dims);
  take(json, "rank_count", record.rank_count);
  take(json, "exported", record.exported);
  take(json, "launcher", record.launcher);
  take(json, "mpirun", record.mpirun);
  const Json& versions = member(json, "versions");
  take(versions, "ddlrun", record.ddlrun_version);
  take(versions, "mpirun", record.mpirun_version);
  take(versions, "kernel", record.kernel);
  if (const Json& watched = member(json, "watched"); !watched.empty()) record.watched = watched_of(watched);
  take(json, "verified", record.verified);
  const Json& process = member(json, "process");
  take(process, "pid", record.process.pid);
  take(process, "started_ticks", record.process.started_ticks);
  take(process, "boot", record.process.boot);
  if (const Json& typed = member(json, "typed"); !typed.empty()) {
    record.typed.emplace();
    take(typed, "words", record.typed->words);
    take(typed, "program", record.typed->program);
  }
  take(json, "replay_of", record.replay_of);
  take(json, "restart_of", record.restart_of);
  take(json, "restarts", record.restarts);
  take(json, "job", record.job);
  take(json, "result", record.result);
  take(json, "output", record.output);
  take(json, "network", record.network);
  take(json, "remarks", record.remarks);
  take(json, "findings", record.findings);
  for (const Json& entry : member(json, "reasons"))
    record.reasons.push_back({entry.value("subject", ""), entry.value("why", "")});
  take(json, "digests", record.digests);
  take(json, "diagnosis", record.diagnosis);
  take(json, "cause_is_known", record.cause_is_known);
  take(json, "last_lines", record.last_lines);
  take(json, "hosts", record.hosts);
  take(json, "machine_of_host", record.machine_of_host);
  for (const Json& entry : member(json, "ranks")) record.ranks.push_back(rank_of(entry));
  return record;
}

[[noreturn]] void refuse_record(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::request, {what, where, "ls -l " + quote_shell(where)});
}

// Messages and commands have these: a record of another user must not put in what is no host. "" if none.
std::string find_bad_host(const RunRecord& record) {
  std::string bad;
  const auto check = [&](const std::string& host) {
    if (bad.empty() && !host.empty() && !is_reported_host(host)) bad = host;
  };
  check(record.host);
  std::ranges::for_each(record.hosts, check);
  for (const RunRank& rank : record.ranks) {
    check(rank.host);
    check(rank.found_host);
  }
  if (!record.watched) return bad;
  std::ranges::for_each(record.watched->silent_hosts, check);
  std::ranges::for_each(record.watched->lost_hosts, check);
  for (const RunStall& stall : record.watched->stalls) check(stall.host);
  if (const auto& first = record.watched->first_failure) {
    check(first->host);
    for (const RankEnd& end : first->with) check(end.host);
  }
  return bad;
}

// Skips the ranks, however many, if the caller does not want them.
Json parse_without(std::string_view text, std::string_view left_out) {
  const auto wanted = [&](int depth, Json::parse_event_t event, Json& parsed) {
    return depth != 1 || event != Json::parse_event_t::key || parsed != left_out;
  };
  return Json::parse(text, wanted);
}

}  // namespace

std::string render_run_json(const RunRecord& record) {
  const Json first{
      {"schema", "ddlrun.run/1"},
      {"id", record.id},
      {"start", record.start},
      {"start_us", record.start_us},
      {"end", end_json(record.end)},
      {"host", record.host},
      {"workdir", record.workdir},
      {"program", record.program},
      {"dims", text_or_null(record.dims)},
      {"rank_count", record.rank_count},
      {"exported", record.exported},
      {"launcher", record.launcher},
      {"mpirun", record.mpirun},
      {"versions",
       {{"ddlrun", record.ddlrun_version}, {"mpirun", record.mpirun_version}, {"kernel", record.kernel}}},
      {"watched", watched_json(record.watched)},
      {"verified", record.verified},
      {"process", process_json(record.process)},
      {"typed", typed_json(record.typed)},
      {"replay_of", text_or_null(record.replay_of)},
      {"restart_of", text_or_null(record.restart_of)},
      {"restarts", record.restarts},
      {"job", text_or_null(record.job)},
      {"result", text_or_null(record.result)},
      {"output", record.output},
      {"network", text_or_null(record.network)},
      {"remarks", record.remarks},
      {"findings", record.findings},
      {"reasons", reasons_json(record.reasons)},
      {"digests", record.digests},
      {"diagnosis", text_or_null(record.diagnosis)},
      {"cause_is_known", record.cause_is_known},
      {"last_lines", record.last_lines}};
  std::string text = first.dump(2, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - 2);  // "\n}": the ranks follow
  text += ",\n  \"hosts\": " + one_line(record.hosts);
  text += ",\n  \"machine_of_host\": " + one_line(record.machine_of_host);
  return escape_json(text + ",\n  \"ranks\": " + render_ranks(record) + "\n}\n");
}

RunRecord parse_run_json(std::string_view text, const std::string& where, bool with_ranks) {
  try {
    const Json json = with_ranks ? Json::parse(text) : parse_without(text, "ranks");
    if (!json.is_object() || json.value("schema", "") != "ddlrun.run/1")
      refuse_record(where, "this is no run of a ddlrun like this one: its schema is not ddlrun.run/1");
    RunRecord record = record_of(json);
    if (const std::string bad = find_bad_host(record); !bad.empty())
      refuse_record(
          where, fmt::format("the record of this run is damaged: '{}' is no host name", printable(bad, 80)));
    return record;
  } catch (const Json::exception& error) {
    refuse_record(where, fmt::format("the record of this run is damaged: {}",
                                     printable(std::string_view(error.what()), 160)));
  }
}

}  // namespace ddlrun::launch
