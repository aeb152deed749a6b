// SPDX-License-Identifier: MIT
#include "base/text/utf8.hpp"
#include "schedulers/scripts/lint.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddlrun::job_scripts {

std::string render_findings_json(const JobScript& script, const std::vector<Finding>& findings) {
  using Json = nlohmann::ordered_json;
  const auto count = [&](Severity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [severity](const Finding& finding) { return finding.severity == severity; });
  };
  const char* dialect = script.dialect == Dialect::slurm ? "slurm"
                        : script.dialect == Dialect::pbs ? "pbs"
                                                         : "none";
  Json document = {{"schema", "ddlrun.lint-script/1"},
                   {"file", script.file},
                   {"scheduler", dialect},
                   {"errors", count(Severity::error)},
                   {"warnings", count(Severity::warning)},
                   {"notes", count(Severity::note)}};
  Json& list = document["findings"] = Json::array();
  for (const Finding& finding : findings)
    list.push_back({{"id", finding.id},
                    {"severity", name_of(finding.severity)},
                    {"line", finding.place.line},
                    {"column", finding.place.column},
                    {"what", finding.what},
                    {"why", finding.why},
                    {"hint", finding.hint}});
  // Bytes that are not UTF-8 come from the file; they must not break the document.
  return escape_json(document.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::job_scripts
