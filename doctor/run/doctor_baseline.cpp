// SPDX-License-Identifier: MIT
#include "doctor/run/doctor_baseline.hpp"

#include "base/os/state_directory.hpp"
#include "doctor/report/baseline.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ddlrun::doctor {

namespace {

std::string baseline_file(System& system, const BaselineRequest& request) {
  if (!request.file.empty()) return request.file;
  const std::string dir = find_own_state_directory(system, "the baseline", "--baseline-file ./baseline.json");
  system.files.make_directories(dir);
  return dir + "/baseline.json";
}

}  // namespace

void use_baseline(System& system, const BaselineRequest& request, const std::vector<HostReport>& hosts,
                  std::vector<Finding>& findings) {
  if (request.verb.empty()) return;
  const std::string file = baseline_file(system, request);
  if (request.verb == "save") {
    const std::string now = fmt::format("{:%F %T} UTC", fmt::gmtime(system.clock.now()));
    system.files.write(file, render_baseline_json(make_baseline(hosts, now)));
    system.err(fmt::format("ddlrun: the facts of this run are kept in {}\n", file));
    const bool ill = std::any_of(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return finding.verdict == Verdict::fail; });
    if (ill) system.err("ddlrun: note: this run found failures; keep the facts of a good one\n");
    return;
  }
  const auto baseline = parse_baseline_json(system.files.read(file, 256u << 20), file);
  auto changes = compare_with_baseline(baseline, hosts);
  std::move(changes.begin(), changes.end(), std::back_inserter(findings));
}

}  // namespace ddlrun::doctor
