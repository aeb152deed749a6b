// SPDX-License-Identifier: MIT
// Findings that depend on the centre's nodes, and on how a script waits.
#include "schedulers/scripts/lint.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace ddlrun::job_scripts;

namespace {

bool has_finding(const std::vector<Finding>& findings, std::string_view id) {
  return std::ranges::any_of(findings, [id](const Finding& finding) { return finding.id == id; });
}

}  // namespace

TEST_SUITE_BEGIN("schedulers/scripts/lint_more");

TEST_CASE("chunks of more than half a node cannot share a host") {
  ddlrun::templates::SiteProfile site;
  site.defaults.push_back({"cores_per_node", {}});
  site.defaults.back().value.text = "68";
  LintContext context;
  context.site = &site;
  const auto is_found = [&context](const std::string& cores) {
    return has_finding(
        lint_script(parse_job_script("#!/bin/sh\n#PBS -l select=4:ncpus=" + cores + "\n", "f"), context),
        "place-missing");
  };
  CHECK_FALSE(is_found("68"));
  CHECK_FALSE(is_found("35"));
  CHECK(is_found("34"));
}

TEST_CASE("one wait and a trap: other scripts with a trap") {
  const auto is_found = [](const std::string& lines) {
    return has_finding(lint_script(parse_job_script("#!/bin/bash\n#SBATCH -n 2\n" + lines, "f"), {}),
                       "wait-once");
  };
  CHECK(is_found("trap 'kill -USR1 $p' USR1\nsrun a & p=$!\nwait $p\n"));
  CHECK_FALSE(is_found("trap 'kill $p; wait $p' USR1\nsrun a & p=$!\nwait $p\n"));
  CHECK_FALSE(is_found("trap 'rm -r x' EXIT\nsrun a &\nwait\n"));
  CHECK_FALSE(is_found("trap 'kill $p' TERM\nsrun a & p=$!\nwhile kill -0 $p; do\nwait $p\ndone\n"));
  CHECK_FALSE(is_found("srun a &\nwait\n"));
}

TEST_SUITE_END();
