// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "launch/history/run_record.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::launch {

namespace {

using Json = nlohmann::ordered_json;

std::string_view verdict_name(PlaceVerdict verdict) {
  return verdict == PlaceVerdict::ok ? "ok" : verdict == PlaceVerdict::differs ? "differs" : "silent";
}

Json rank_json(const PlacementRow& row, bool verified, const std::optional<MonitorRecord>& watched) {
  Json rank{{"rank", row.planned.rank},
            {"local_rank", row.planned.local_rank},
            {"host", row.planned.host},
            {"slot", row.planned.slot},
            {"planned_pus", render_ranges(row.planned.pus)}};
  if (watched) {
    const auto end = watched->ends.find(row.planned.rank);
    rank["exit_status"] = end == watched->ends.end() ? Json() : Json(end->second);
  }
  if (!verified) return rank;
  rank["found_host"] = row.found ? Json(row.found->host) : Json();
  rank["found_pus"] = row.found ? Json(render_ranges(row.found->pus)) : Json();
  rank["verdict"] = verdict_name(row.verdict);
  if (!row.why.empty()) rank["why"] = row.why;
  return rank;
}

Json end_json(const std::optional<RunEnd>& end) {
  if (!end) return {};
  return {{"time", render_time(end->time)}, {"exit_status", end->exit_status}, {"signal", end->signal}};
}

Json failure_json(const std::optional<RankReport>& report) {
  if (!report) return {};
  return {{"rank", report->rank},
          {"host", report->host},
          {"exit_status", report->exit_status},
          {"signal", report->signal}};
}

Json watched_json(const std::optional<MonitorRecord>& record, int status) {
  if (!record) return {};
  Json stalls = Json::array();
  for (const RankReport& report : record->stalls) {
    stalls.push_back({{"rank", report.rank},
                      {"host", report.host},
                      {"seconds", report.stall.seconds},
                      {"state", std::string(1, report.stall.state)},
                      {"pid", report.stall.pid},
                      {"process", report.stall.name}});
  }
  return {{"first_failure", failure_json(find_first_failure(*record, status))},
          {"stalls", stalls},
          {"silent_hosts", record->silent_hosts},
          {"lost_hosts", record->lost_hosts}};
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

// Lists that may be long stand in one line.
std::string one_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// One rank a line: readable in a diff, and large runs stay small.
std::string render_ranks(const RunRecord& record) {
  std::string text;
  for (const PlacementRow& row : record.placement) {
    if (!text.empty()) text += ",\n";
    text +=
        "    " +
        rank_json(row, record.verified, record.watched).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text.empty() ? "[]" : "[\n" + text + "\n  ]";
}

}  // namespace

std::string render_run_json(const RunRecord& record) {
  const Json head{
      {"schema", "ddlrun.run/1"},
      {"id", record.id},
      {"start", render_time(record.start)},
      {"start_us",
       std::chrono::duration_cast<std::chrono::microseconds>(record.start.time_since_epoch()).count()},
      {"end", end_json(record.end)},
      {"host", record.host},
      {"workdir", record.working_folder},
      {"program", record.program},
      {"dims", record.dims.empty() ? Json() : Json(record.dims)},
      {"rank_count", record.placement.size()},
      {"exported", record.exported},
      {"launcher", record.launcher},
      {"mpirun", record.mpirun},
      {"versions",
       {{"ddlrun", record.ddlrun_version}, {"mpirun", record.mpirun_version}, {"kernel", record.kernel}}},
      {"watched", watched_json(record.watched, record.end ? record.end->exit_status : 0)},
      {"verified", record.verified},
      {"process", process_json(record.process)},
      {"typed", typed_json(record.typed)},
      {"replay_of", text_or_null(record.replay_of)},
      {"restart_of", text_or_null(record.restart_of)},
      {"restarts", record.restarts},
      {"result", text_or_null(record.result)},
      {"output", record.output},
      {"network", text_or_null(record.network)},
      {"remarks", record.remarks},
      {"findings", record.findings},
      {"reasons", reasons_json(record.reasons)},
      {"digests", record.digests},
      {"diagnosis", text_or_null(record.diagnosis)},
      {"last_lines", record.last_lines}};
  std::string text = head.dump(2, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - 2);  // "\n}": the ranks follow
  text += ",\n  \"hosts\": " + one_line(record.hosts);
  text += ",\n  \"machine_of_host\": " + one_line(record.machine_of_host);
  return text + ",\n  \"ranks\": " + render_ranks(record) + "\n}\n";
}

}  // namespace ddlrun::launch
