// SPDX-License-Identifier: MIT
#include "topology/rankfile/rankfile_check_json.hpp"

#include "base/text/utf8.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

std::string render_findings_json(std::string_view file_name, const std::vector<RankfileFinding>& findings,
                                 bool cores_checked, int mpi_major) {
  using Json = nlohmann::ordered_json;
  const auto count = [&](Severity severity) {
    return std::count_if(findings.begin(), findings.end(),
                         [severity](const RankfileFinding& finding) { return finding.severity == severity; });
  };
  Json document = {{"schema", "ddlrun.check-rankfile/1"},
                   {"file", file_name},
                   {"open_mpi", mpi_major},
                   {"cores_checked", cores_checked},
                   {"errors", count(Severity::error)},
                   {"warnings", count(Severity::warning)},
                   {"notes", count(Severity::note)}};
  Json& list = document["findings"] = Json::array();
  for (const RankfileFinding& finding : findings) {
    Json entry = {{"id", finding.id},     {"severity", severity_name(finding.severity)},
                  {"line", finding.line}, {"column", finding.column},
                  {"what", finding.what}, {"hint", finding.hint}};
    if (!finding.corrected.empty()) entry["corrected"] = finding.corrected;
    list.push_back(std::move(entry));
  }
  // Bytes that are not UTF-8 come from the file; they must not break the document.
  return escape_json(document.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace ddlrun::rankfile
