// SPDX-License-Identifier: MIT
#include "doctor/diagnose/diagnosis_json.hpp"

#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/signatures_yaml.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::diagnose {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const LogLine& line) { return {{"log", line.source}, {"line", line.line}, {"text", line.text}}; }

Json to_json(const std::vector<LogLine>& lines) {
  Json all = Json::array();
  for (const LogLine& line : lines) all.push_back(to_json(line));
  return all;
}

Json to_json(const Place& place) {
  return {{"rank", place.rank ? Json(*place.rank) : Json()},
          {"host", place.host.empty() ? Json() : Json(place.host)}};
}

Json to_json(const Finding& finding) {
  Json json{{"id", finding.id}, {"class", std::string(1, letter_of(finding.kind))}, {"title", finding.title}};
  json["cause"] = finding.cause;
  json["at"] = to_json(finding.place);
  json["hosts"] = finding.all_hosts;
  json["ranks"] = finding.all_ranks;
  json["all_ranks_alike"] = finding.fails_alike;
  json["count"] = finding.count;
  json["evidence"] = to_json(finding.evidence);
  json["following"] = to_json(finding.following);
  json["try"] = finding.remedies;
  json["reference"] = finding.reference;
  return json;
}

// Only exit status 0 shows that nothing failed.
const char* verdict_name(const Diagnosis& diagnosis) {
  switch (diagnosis.verdict) {
    case Verdict::cause_found:
      return "cause-found";
    case Verdict::likely_cause:
      return "likely-cause";
    case Verdict::unknown:
      return "unknown";
    case Verdict::no_trouble:
      break;
  }
  return diagnosis.end.status == 0 ? "no-trouble" : "nothing-found";
}

const char* name_of(LogSource source) {
  if (source == LogSource::mpirun) return "mpirun";
  if (source == LogSource::pbs) return "pbs";
  return source == LogSource::slurm ? "slurm" : "unknown";
}

std::string dump(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json to_json(const Signature& signature) {
  Json json{
      {"id", signature.id}, {"class", std::string(1, letter_of(signature.kind))}, {"title", signature.title}};
  json["cause"] = signature.cause;
  json["try"] = signature.remedies;
  json["reference"] = signature.reference;
  json["match"] = Json::array();
  for (const MessagePattern& pattern : signature.patterns) {
    Json lines = Json::array();
    for (const LinePattern& line : pattern) lines.push_back(render_line_pattern(line));
    json["match"].push_back(lines);
  }
  json["topics"] = Json::array();
  for (const HelpTopic& topic : signature.topics) json["topics"].push_back(topic.file + " / " + topic.topic);
  json["facts"] = Json::array();
  for (const FactRule& fact : signature.facts) {
    Json one{{"status", fact.statuses}};
    if (!fact.from.empty()) one["from"] = fact.from;
    if (fact.log_is_empty) one["empty"] = true;
    if (!fact.last_line_has.empty()) one["last_line"] = fact.last_line_has;
    json["facts"].push_back(std::move(one));
  }
  for (const auto& [key, flag] : signature_flags)
    if (signature.*flag) json[std::string(key)] = true;
  json["exit_statuses"] = Json::array();
  for (const FactRule& fact : signature.facts) {
    for (const int status : fact.statuses) json["exit_statuses"].push_back(status);
  }
  return json;
}

}  // namespace

std::string render_diagnosis_json(const Diagnosis& diagnosis, const Message* error) {
  Json json{{"schema", "ddlrun.diagnose/1"}, {"verdict", verdict_name(diagnosis)}};
  json["error"] = Json();
  if (error != nullptr) json["error"] = {{"what", error->what}, {"at", error->where}, {"try", error->hint}};
  json["lines"] = diagnosis.lines;
  json["bytes"] = diagnosis.bytes;
  json["cause"] = diagnosis.cause ? to_json(*diagnosis.cause) : Json();
  json["first_failing"] = Json();
  if (diagnosis.first_failing) {
    const FailingRank& failing = *diagnosis.first_failing;
    json["first_failing"] = to_json(failing.place);
    json["first_failing"]["how"] = failing.how;
    json["first_failing"]["evidence"] = to_json(failing.evidence);
  }
  json["exit"] = {{"status", diagnosis.end.status ? Json(*diagnosis.end.status) : Json()},
                  {"from", name_of(diagnosis.end.from)},
                  {"meaning", diagnosis.status_meaning}};
  json["also_seen"] = Json::array();
  for (const Finding& finding : diagnosis.also_seen) json["also_seen"].push_back(to_json(finding));
  json["salient_lines"] = to_json(diagnosis.salient_lines);
  return dump(json);
}

std::string render_signatures_json(const std::vector<const Signature*>& signatures) {
  Json json{{"schema", signatures_schema}, {"signatures", Json::array()}};
  for (const Signature* signature : signatures) json["signatures"].push_back(to_json(*signature));
  return dump(json);
}

}  // namespace ddlrun::diagnose
