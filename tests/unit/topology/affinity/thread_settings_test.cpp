// SPDX-License-Identifier: MIT
#include "topology/affinity/thread_settings.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::affinity;

namespace {

EnvVars values(const ThreadSettings& settings) {
  EnvVars result;
  for (const ThreadVariable& variable : settings.variables) {
    CHECK(result.count(variable.name) == 0);  // nothing twice
    CHECK_FALSE(variable.why.empty());
    result[variable.name] = variable.value;
  }
  return result;
}

ThreadRequest request_for(OpenMpRuntime runtime, std::uint32_t cores = 4, std::uint32_t siblings = 1) {
  ThreadRequest request;
  request.runtime = runtime;
  request.cores = cores;
  request.threads_per_core = siblings;
  return request;
}

bool says(const ThreadSettings& settings, std::string_view part) {
  for (const std::string& remark : settings.remarks) {
    if (remark.find(part) != std::string::npos) return true;
  }
  return false;
}

using enum OpenMpRuntime;

}  // namespace

TEST_SUITE_BEGIN("topology/affinity/thread_settings");

TEST_CASE("each runtime gets what it understands, and nothing else") {
  CHECK(values(plan_thread_settings(request_for(libomp), {})) ==
        EnvVars{{"OMP_NUM_THREADS", "4"},
                {"MKL_NUM_THREADS", "4"},
                {"KMP_BLOCKTIME", "1"},
                {"KMP_AFFINITY", "granularity=fine,compact,1,0"}});
  const EnvVars portable{{"OMP_NUM_THREADS", "4"},
                         {"MKL_NUM_THREADS", "4"},
                         {"OMP_PLACES", "cores"},
                         {"OMP_PROC_BIND", "close"}};
  CHECK(values(plan_thread_settings(request_for(libgomp), {})) == portable);
  CHECK(values(plan_thread_settings(request_for(unknown), {})) == portable);
  CHECK(values(plan_thread_settings(request_for(none), {})) == EnvVars{{"OMP_NUM_THREADS", "4"}});
}

TEST_CASE("more threads than cores, talk, TensorFlow") {
  ThreadRequest request = request_for(libomp, 4, 4);
  request.threads = 8;
  request.verbose = true;
  request.tensorflow = true;
  const ThreadSettings settings = plan_thread_settings(request, {});
  const EnvVars found = values(settings);
  CHECK(found.at("OMP_NUM_THREADS") == "8");
  CHECK(found.at("KMP_BLOCKTIME") == "0");
  CHECK(found.at("KMP_SETTINGS") == "1");
  CHECK(found.at("TF_NUM_INTRAOP_THREADS") == "8");
  CHECK(found.at("TF_NUM_INTEROP_THREADS") == "2");
  CHECK(settings.remarks.empty());  // siblings are requested
  request.threads_per_core = 1;
  request.room = 7;
  CHECK(plan_thread_settings(request, {}).variables.front().why.ends_with("share them (--threads 4)"));
  request.room = 8;
  const ThreadSettings crowded = plan_thread_settings(request, {});
  CHECK(crowded.remarks.empty());  // the number's own reason has it
  CHECK(crowded.variables.front().why ==
        "--threads 8, although a rank has 4 cores: more threads share them (--threads 4, or --cores-per-rank "
        "8)");
}

TEST_CASE("TensorFlow has two operators at once, and takes its threads from masks that differ") {
  ThreadRequest request = request_for(unknown, 1);
  request.tensorflow = true;
  EnvVars found = values(plan_thread_settings(request, {}));
  CHECK(found.at("TF_NUM_INTRAOP_THREADS") == "1");
  CHECK(found.at("TF_NUM_INTEROP_THREADS") == "2");
  request.most_cores = 4;
  found = values(plan_thread_settings(request, {}));
  CHECK(found.count("TF_NUM_INTRAOP_THREADS") == 0);
  CHECK(found.at("TF_NUM_INTEROP_THREADS") == "2");
  request.threads = 3;
  CHECK(values(plan_thread_settings(request, {})).at("TF_NUM_INTRAOP_THREADS") == "3");
}

TEST_CASE("Intel MPI's domains hold the hardware threads of a rank's cores") {
  ThreadRequest request = request_for(libomp, 17, 4);
  request.launcher = "intel-mpi";
  CHECK(values(plan_thread_settings(request, {})).at("I_MPI_PIN_DOMAIN") == "68:compact");
  request.threads_per_core = 1;
  CHECK(values(plan_thread_settings(request, {})).at("I_MPI_PIN_DOMAIN") == "omp");
  CHECK(values(plan_thread_settings(request, {{"I_MPI_PIN_DOMAIN", "socket"}})).count("I_MPI_PIN_DOMAIN") ==
        0);
}

TEST_CASE("what the user has set stays alone") {
  struct Row {
    OpenMpRuntime runtime;
    EnvVars own;
    std::vector<std::string> absent, present;
    std::string remark;  // "" : none
  };
  for (const Row& row :
       {Row{libomp, {{"KMP_AFFINITY", "scatter"}}, {"KMP_AFFINITY", "OMP_PLACES"}, {"KMP_BLOCKTIME"}, ""},
        Row{libomp, {{"OMP_PLACES", "cores"}}, {"KMP_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND"}, {}, ""},
        Row{libgomp, {{"OMP_PROC_BIND", "close"}}, {"OMP_PROC_BIND"}, {"OMP_PLACES"}, ""},
        Row{libgomp, {{"OMP_PROC_BIND", "false"}}, {"OMP_PLACES", "OMP_PROC_BIND"}, {}, ""},
        Row{libgomp, {{"GOMP_CPU_AFFINITY", "0-3"}}, {"OMP_PLACES", "OMP_PROC_BIND"}, {}, ""},
        Row{libgomp, {{"KMP_AFFINITY", "scatter"}}, {"KMP_AFFINITY"}, {"OMP_PLACES"}, "ignores KMP_"},
        Row{libomp, {{"KMP_AFFINITY", "granularity=fine,compact=1"}}, {"KMP_AFFINITY"}, {}, "compact=1"},
        Row{libomp,
            {{"OMP_NUM_THREADS", "2"}, {"MKL_NUM_THREADS", "8"}},
            {"MKL_NUM_THREADS"},
            {},
            "MKL_NUM_THREADS=8"},
        Row{libomp, {{"KMP_AFFINITY", "scatter"}, {"OMP_PROC_BIND", "close"}}, {}, {}, "use only the first"},
        Row{libgomp, {{"OMP_NUM_THREADS", "16"}}, {"OMP_NUM_THREADS"}, {}, ""},  // exports.cpp says it
        Row{libgomp, {{"I_MPI_PIN", "1"}}, {}, {}, ""},
        Row{unknown, {{"KMP_BLOCKTIME", "fast"}}, {"KMP_BLOCKTIME"}, {}, "is not a number of ms"}}) {
    CAPTURE(name_of(row.runtime));
    CAPTURE(row.own.begin()->first);
    const ThreadSettings settings = plan_thread_settings(request_for(row.runtime), row.own);
    const EnvVars found = values(settings);
    for (const std::string& name : row.absent) CHECK_MESSAGE(found.count(name) == 0, name);
    for (const std::string& name : row.present) CHECK_MESSAGE(found.count(name) == 1, name);
    CHECK(settings.remarks.empty() == row.remark.empty());
    CHECK(says(settings, row.remark) == !row.remark.empty());
  }
}

TEST_CASE("MKL follows the user's OMP_NUM_THREADS") {
  const EnvVars found = values(plan_thread_settings(request_for(libomp), {{"OMP_NUM_THREADS", "3"}}));
  CHECK(found.at("MKL_NUM_THREADS") == "3");
}

TEST_CASE("ranks that are not bound get no places: each would take the same cores") {
  ThreadRequest request = request_for(libgomp);
  request.bound = false;
  const ThreadSettings settings = plan_thread_settings(request, {});
  CHECK(values(settings).count("OMP_PLACES") == 0);
  CHECK(says(settings, "not bound"));
}

TEST_CASE("ranks of different size get the threads of the smallest, and it is said") {
  ThreadRequest request = request_for(libgomp, 2);
  request.most_cores = 3;
  const ThreadSettings settings = plan_thread_settings(request, {});
  CHECK(settings.variables[0].value == "2");
  CHECK(settings.variables[0].why == "the cores of the smallest rank (they have 2 to 3)");
}

TEST_SUITE_END();
