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
  // bash(1): the names of signals have no case.
  CHECK_FALSE(is_found("cleanup() { rm -r x; }\ntrap cleanup exit\nsrun a & wait\n"));
}

TEST_CASE("one wait and a trap: the action is a function") {
  const auto is_found = [](const std::string& lines) {
    return has_finding(lint_script(parse_job_script("#!/bin/bash\n#SBATCH -n 2\n" + lines, "f"), {}),
                       "wait-once");
  };
  const std::string start = "trap handler USR1\nsrun ./a & wait\n", requeue = "scontrol requeue \"$J\"";
  CHECK_FALSE(is_found("handler() { " + requeue + "; exit 0; }; trap handler USR1; srun ./a & wait\n"));
  CHECK_FALSE(is_found("handler()\n{\n" + requeue + "\nif true; then { exit 0; }\nfi\n}\n" + start));
  CHECK_FALSE(is_found("function handler {\n" + requeue + "\nexit\n}\n" + start));
  CHECK_FALSE(is_found("stop() { exit 0; }\nhandler() { stop; }\n" + start));
  CHECK(is_found("handler() { " + requeue + "; }\n" + start));
  CHECK(is_found("handler() { " + requeue + "; }\nother() { exit 0; }\n" + start));
  CHECK(is_found("function handler {\n" + requeue + "\n}\nother() { exit; }\n" + start));
  CHECK(is_found("handler() { handler; }\n" + start));
}

TEST_CASE("Slurm's commands in a script for both schedulers") {
  const auto is_found = [](const std::string& lines) {
    return has_finding(lint_script(parse_job_script("#!/bin/bash\n#PBS -N a\n" + lines, "f"), {}),
                       "command-of-other-scheduler");
  };
  const std::string use = "scontrol show hostnames\n";
  CHECK_FALSE(is_found("if command -v scontrol >/dev/null; then\n" + use + "fi\n"));
  CHECK_FALSE(is_found("which scontrol >/dev/null 2>&1 && " + use));
  CHECK_FALSE(is_found("hash scontrol 2>/dev/null && " + use));
  CHECK_FALSE(is_found("type -p scontrol && " + use));
  CHECK_FALSE(is_found("if [ -x \"$(command -v scontrol)\" ]; then " + use + "fi\n"));
  CHECK_FALSE(is_found("has=$(which scontrol)\n[ -z \"$has\" ] || " + use));
  CHECK_FALSE(is_found("case \"$SCHED\" in slurm) " + use + ";; esac\n"));
  CHECK_FALSE(is_found("case \"$SCHED\" in pbs) true;; slurm) " + use + ";; esac\n"));
  CHECK_FALSE(is_found("case \"$SCHED\" in\npbs)\ntrue;;\nslurm | SLURM)\n" + use + ";;\nesac\n"));
  CHECK_FALSE(is_found("if [ \"$SCHED\" = slurm ]; then " + use + "fi\n"));
  CHECK_FALSE(is_found("[[ $A = b && -n $SLURM_JOB_ID ]] && " + use));
  CHECK_FALSE(is_found("command -v scontrol\n"));  // no use of it
  CHECK(is_found(use));
  CHECK(is_found("command " + use));
  CHECK(is_found("if command -v module; then " + use + "fi\n"));
  CHECK(is_found("case \"$SCHED\" in pbs) " + use + ";; esac\n"));
  CHECK(is_found("[ -f done ] && " + use));
}

TEST_CASE("--bind-to core where the cores of a rank are given otherwise") {
  const auto is_found = [](const std::string& options, const std::string& ranks) {
    const std::string lines = "#!/bin/bash\n#SBATCH -J t\nexport OMP_NUM_THREADS=8\nmpirun -np ";
    return has_finding(lint_script(parse_job_script(lines + ranks + " " + options + " a\n", "f"), {}),
                       "bound-to-one-core");
  };
  CHECK(is_found("--bind-to core", "4"));
  CHECK(is_found("--bind-to core --mca pml ob1", "4"));
  CHECK(is_found("--bind-to core --mca rmaps_base_mapping_policy slot", "4"));
  CHECK(is_found("--bind-to core --map-by socket", "4"));
  CHECK(is_found("--mca pml ob1", "2"));
  // orterun(1) and ompi_info(1) of Open MPI 4.1.4; pe-list is of prte-map(1) of Open MPI 5.
  for (const char* options :
       {"--cpus-per-rank 8", "--cpus-per-proc 8", "--mca rmaps_base_mapping_policy slot:PE=8",
        "-mca rmaps_base_cpus_per_rank 8", "--mca rmaps_base_cpus_per_proc 8", "-rankfile r", "-rf r",
        "--map-by numa:pe-list=0-7", "--map-by socket:Pe=8", "--map-by rankfile:file=r"}) {
    CAPTURE(options);
    CHECK_FALSE(is_found(std::string("--bind-to core ") + options, "4"));
    CHECK_FALSE(is_found(options, "2"));
  }
}

TEST_SUITE_END();
