// SPDX-License-Identifier: MIT
#include "launch/rank/exports.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::Exports;
using launch::plan_exports;
using Names = std::vector<std::string>;

namespace {

std::string reason(const Exports& exports, const std::string& subject) {
  for (const auto& entry : exports.reasons) {
    if (entry.subject == subject) return entry.why;
  }
  return "none";
}

}  // namespace

TEST_SUITE_BEGIN("launch/rank/exports");

TEST_CASE("what is exported by default, and only where it is set") {
  const Exports bare = plan_exports({{}, 5, 5}, {});
  CHECK(bare.names == Names{"CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
  CHECK(bare.set_by_us == EnvVars{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"OMP_NUM_THREADS", "5"}});
  const Exports usual = plan_exports(
      {{}, 5, 5},
      {{"PATH", "/bin"}, {"LD_LIBRARY_PATH", "/lib"}, {"DDL_OPTIONS", "-mode r"}, {"SECRET", "x"}});
  CHECK(usual.names ==
        Names{"PATH", "LD_LIBRARY_PATH", "DDL_OPTIONS", "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
}

TEST_CASE("what the script of a job exports is no request of the user") {
  const Exports exports = plan_exports({{"DDLRUN_RESTART_COUNT", "DEBUG"}, 1, 1},
                                       {{"DDLRUN_RESTART_COUNT", "0"}, {"DEBUG", "1"}});
  CHECK(reason(exports, "-x DDLRUN_RESTART_COUNT") == "of the job: its script sets it");
  CHECK(reason(exports, "-x DEBUG") == "you requested it");
}

TEST_CASE("ranks on other hosts belong to the same Slurm job") {
  launch::ExportRequest request{{}, 1, 1};
  const EnvVars job{{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}};
  CHECK(plan_exports(request, job).names == Names{"CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
  request.others = true;
  CHECK(plan_exports(request, job).names == Names{"SLURM_JOB_ID", "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
}

TEST_CASE("ranks on other hosts have the index of their job array") {
  launch::ExportRequest request{{}, 1, 1};
  const EnvVars job{{"PBS_JOBID", "7[2].pbs"}, {"PBS_ARRAY_INDEX", "2"}, {"PBS_NODEFILE", "/var/spool/7"}};
  CHECK(plan_exports(request, job).names == Names{"CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
  request.others = true;
  CHECK(plan_exports(request, job).names ==
        Names{"PBS_JOBID", "PBS_ARRAY_INDEX", "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
  const EnvVars task{{"SLURM_JOB_ID", "9"}, {"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_PROCID", "0"}};
  CHECK(plan_exports(request, task).names ==
        Names{"SLURM_ARRAY_TASK_ID", "SLURM_JOB_ID", "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
}

TEST_CASE("what the user has set stays, and surprises are said") {
  launch::ExportRequest request{{}, 2, 3};
  request.threads.emplace().runtime = affinity::OpenMpRuntime::none;
  request.threads->room = 8;
  const EnvVars own{{"OMP_NUM_THREADS", "8"}, {"CUDA_DEVICE_ORDER", "FASTEST_FIRST"}};
  const Exports exports = plan_exports(request, own);
  CHECK(exports.set_by_us.empty());
  CHECK(exports.names == Names{"CUDA_DEVICE_ORDER", "OMP_NUM_THREADS"});
  CHECK(reason(exports, "-x OMP_NUM_THREADS") ==
        "8, from the environment, although a rank has 2 cores: more threads share them (export "
        "OMP_NUM_THREADS=2, or --cores-per-rank 8)");
  request.threads->room = 7;  // the hosts have no 8 cores for each rank
  CHECK(reason(plan_exports(request, own), "-x OMP_NUM_THREADS")
            .ends_with("share them (export OMP_NUM_THREADS=2)"));
  CHECK_FALSE(exports.chooses_threads);
  CHECK(reason(exports, "-x CUDA_DEVICE_ORDER").find("PCI_BUS_ID order") != std::string::npos);
  CHECK(plan_exports({{}, 2, 3}, {}).set_by_us.at("OMP_NUM_THREADS") == "2");
  CHECK(plan_exports({{}, 2, 3}, {}).chooses_threads);
  CHECK(reason(plan_exports({{"OMP_NUM_THREADS=2"}, 1, 1}, {}), "-x OMP_NUM_THREADS") ==
        "2, from -x, although a rank has 1 core: more threads share them (-x OMP_NUM_THREADS=1)");
}

TEST_CASE("-x by name, by value, over a default, twice") {
  const EnvVars here{{"PATH", "/bin"}, {"DATA", "d"}};
  const Exports exports =
      plan_exports({{"DATA", "KEY=a=b;c", "PATH", "OMP_NUM_THREADS=1", "KEY=a=b;c", "EMPTY="}, 4, 4}, here);
  CHECK(exports.names == Names{"PATH", "CUDA_DEVICE_ORDER", "OMP_NUM_THREADS", "DATA", "KEY", "EMPTY"});
  CHECK(exports.set_by_user == EnvVars{{"KEY", "a=b;c"}, {"OMP_NUM_THREADS", "1"}, {"EMPTY", ""}});
  CHECK(exports.set_by_us == EnvVars{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}});
}

TEST_CASE("--threads is nearer than a scheduler's OMP_NUM_THREADS; the user's other variables stay") {
  launch::ExportRequest request{{}, 4, 4};
  request.threads.emplace();
  request.threads->threads = 2;
  const EnvVars here{{"OMP_NUM_THREADS", "68"}, {"OMP_PROC_BIND", "false"}};
  const Exports exports = plan_exports(request, here);
  CHECK(exports.set_by_us ==
        EnvVars{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"MKL_NUM_THREADS", "2"}, {"OMP_NUM_THREADS", "2"}});
  // What the user set has to reach the ranks of other hosts, too.
  CHECK(exports.names == Names{"CUDA_DEVICE_ORDER", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OMP_PROC_BIND"});
  CHECK(reason(exports, "-x OMP_PROC_BIND") == "from the environment");
  CHECK(exports.remarks == Names{"OMP_NUM_THREADS=68 of the environment gives way to --threads 2"});
  request.typed = {"OMP_NUM_THREADS=3"};
  CHECK_THROWS_AS(plan_exports(request, here), Error);
}

TEST_CASE("without --threads the environment's OMP_NUM_THREADS stays, and too many are said") {
  launch::ExportRequest request{{}, 4, 4};
  request.threads.emplace();
  const Exports exports = plan_exports(request, {{"OMP_NUM_THREADS", "68"}});
  CHECK(exports.set_by_us.count("OMP_NUM_THREADS") == 0);
  CHECK(exports.set_by_us.at("MKL_NUM_THREADS") == "68");
  CHECK(exports.remarks.empty());
  CHECK(
      reason(exports, "-x OMP_NUM_THREADS").starts_with("68, from the environment, although a rank has 4 "));
}

TEST_CASE("-x that cannot hold is refused with what to type") {
  struct Row {
    Names typed;
    std::string what;
  };
  for (const Row& row : {Row{{"NOT_SET"}, "NOT_SET is not set here"}, Row{{"a b=1"}, "not a variable name"},
                         Row{{"=1"}, "not a variable name"}, Row{{"1A"}, "not a variable name"},
                         Row{{"BASH_FUNC_x%%=() { :; }"}, "not a variable name"},
                         Row{{"A=1", "A=2"}, "two different values"}}) {
    CAPTURE(row.what);
    try {
      plan_exports({row.typed, 1, 1}, {});
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK(error.message().what.find(row.what) != std::string::npos);
    }
  }
}

TEST_CASE(
    "names that are not set are reported all at once, and a secret's value is not required in the line") {
  try {
    plan_exports({{"DATA", "HERE", "API_TOKEN", "DB_PASSWORD", "SET=1"}, 1, 1}, {{"HERE", "1"}});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message().what ==
          "DATA, API_TOKEN, DB_PASSWORD are not set here, so there is nothing to export");
    CHECK(error.message().where == "-x DATA -x API_TOKEN -x DB_PASSWORD");
    CHECK(
        error.message().hint ==
        "-x DATA=value; read -rs API_TOKEN && export API_TOKEN; read -rs DB_PASSWORD && export DB_PASSWORD");
  }
}

TEST_CASE("-x 'NCCL_*': what is set here and fits, but no secrets") {
  const EnvVars here{{"NCCL_DEBUG", "INFO"},          {"NCCL_ALGO", "Ring"},       {"AWS_REGION", "eu"},
                     {"AWS_SECRET_ACCESS_KEY", "k1"}, {"AWS_SESSION_TOKEN", "k2"}, {"UCX_TLS", "tcp"}};
  launch::ExportRequest request{{"NCCL_*", "AWS_*"}, 4, 4};
  request.others = true;
  const Exports exports = plan_exports(request, here);
  CHECK(exports.names ==
        Names{"CUDA_DEVICE_ORDER", "OMP_NUM_THREADS", "NCCL_ALGO", "NCCL_DEBUG", "AWS_REGION"});
  REQUIRE(exports.remarks.size() == 2);
  CHECK(exports.remarks[0] ==
        "-x 'AWS_*' leaves out AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN: a name that looks like a secret is "
        "exported by -x AWS_SECRET_ACCESS_KEY only");
  CHECK(exports.remarks[1] == "UCX_TLS is set here and not exported: other hosts do not see it (-x 'UCX_*')");
  request = {{"AWS_*"}, 4, 4};
  request.passes_all = true;  // srun
  CHECK(plan_exports(request, here).remarks ==
        Names{"this launcher passes the whole environment to the ranks, AWS_SECRET_ACCESS_KEY, "
              "AWS_SESSION_TOKEN too"});
  CHECK(plan_exports({{"AWS_SESSION_TOKEN"}, 4, 4}, here).names.back() == "AWS_SESSION_TOKEN");
  CHECK(plan_exports({{"*_DEBUG"}, 4, 4}, here).names.back() == "NCCL_DEBUG");
  CHECK(plan_exports({{"UCX_TLS"}, 4, 4}, here).remarks.empty());
  CHECK_THROWS_AS(plan_exports({{"HOROVOD_*"}, 4, 4}, here), Error);
  CHECK_THROWS_AS(plan_exports({{"NCCL_*=1"}, 4, 4}, here), Error);
  const EnvVars secrets{{"MYAPP_PASS", "1"},    {"MYAPP_PWD", "1"},        {"MYAPP_AUTH", "1"},
                        {"MYAPP_SSH_KEY", "1"}, {"MYAPP_PASSPHRASE", "1"}, {"MYAPP_MODE", "1"}};
  CHECK(plan_exports({{"MYAPP_*"}, 4, 4}, secrets).names ==
        Names{"CUDA_DEVICE_ORDER", "OMP_NUM_THREADS", "MYAPP_MODE"});
}

TEST_CASE("a default counts where nothing is set, and is no value of the user's") {
  launch::ExportRequest request{{}, 4, 4};
  request.defaults = {"NCCL_LL_THRESHOLD=0"};
  const Exports fresh = plan_exports(request, {});
  CHECK(fresh.set_by_us.at("NCCL_LL_THRESHOLD") == "0");
  CHECK(fresh.set_by_user.empty());
  CHECK(fresh.names.back() == "NCCL_LL_THRESHOLD");
  const Exports set_here = plan_exports(request, {{"NCCL_LL_THRESHOLD", "9"}});
  CHECK(set_here.set_by_us.count("NCCL_LL_THRESHOLD") == 0);
  CHECK(set_here.names.back() == "NCCL_LL_THRESHOLD");
  request.typed = {"NCCL_LL_THRESHOLD=5"};
  const Exports typed = plan_exports(request, {});
  CHECK(typed.set_by_user.at("NCCL_LL_THRESHOLD") == "5");
  CHECK(typed.set_by_us.count("NCCL_LL_THRESHOLD") == 0);
}

TEST_SUITE_END();
