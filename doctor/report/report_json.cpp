// SPDX-License-Identifier: MIT
#include "base/text/utf8.hpp"
#include "doctor/report/report.hpp"

#include <nlohmann/json.hpp>

namespace ddlrun::doctor {

namespace {

using nlohmann::ordered_json;

ordered_json json_of(const Finding& finding, std::span<const Check> checks) {
  std::string_view title;
  for (const Check& check : checks) {
    if (check.id == finding.id) title = check.title;
  }
  return {{"id", finding.id},
          {"title", title},
          {"verdict", verdict_name(finding.verdict)},
          {"hosts", finding.hosts},
          {"observed", finding.observed},
          {"expected", finding.expected},
          {"why", finding.why},
          {"remedy",
           {{"commands", finding.remedy.commands},
            {"needs_root", finding.remedy.needs_root},
            {"on", finding.remedy.on_driver_host ? "driver" : "hosts"},
            {"note", finding.remedy.note}}}};
}

}  // namespace

std::string render_report_json(const Examination& examination, std::span<const Check> checks) {
  ordered_json findings = ordered_json::array();
  for (const Finding& finding : examination.findings) findings.push_back(json_of(finding, checks));
  ordered_json lost = ordered_json::object();
  for (const LostPath& path : examination.lost) lost[std::string(via_name(path.via))] = path.hosts;
  const Summary summary = count_checks(examination.findings);
  const ordered_json document{{"schema", "ddlrun.doctor/1"},
                              {"level", level_name(examination.level)},
                              {"via", join_paths(examination.paths, ",")},
                              {"hosts", examination.hosts},
                              {"unreached", examination.unreached},
                              {"unreached_by", std::move(lost)},
                              {"relayed", examination.relayed},
                              {"seconds", examination.seconds},
                              {"checks",
                               {{"pass", summary[Verdict::pass]},
                                {"warn", summary[Verdict::warn]},
                                {"fail", summary[Verdict::fail]},
                                {"skip", summary[Verdict::skip]},
                                {"error", summary[Verdict::error]}}},
                              {"findings", std::move(findings)}};
  return escape_json(document.dump(2, ' ', false, ordered_json::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::doctor
