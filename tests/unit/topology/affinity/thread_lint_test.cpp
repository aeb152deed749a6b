// SPDX-License-Identifier: MIT
#include "topology/affinity/thread_lint.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <set>

using namespace ddlrun;
using namespace ddlrun::affinity;

namespace {

constexpr ThreadMachine knl{1, 68, 4}, minsky{2, 8, 1};
using enum OpenMpRuntime;

ThreadEnvironment env(EnvVars variables, ThreadMachine machine = knl, OpenMpRuntime runtime = unknown) {
  ThreadEnvironment environment;
  environment.variables = std::move(variables);
  environment.machine = machine;
  environment.runtime = runtime;
  environment.ranks_per_node = 1;
  return environment;
}

ThreadEnvironment with_request(ThreadEnvironment environment, std::uint32_t ranks, std::uint32_t ompthreads,
                               std::uint32_t ncpus = 0) {
  environment.ranks_per_node = ranks;
  environment.ompthreads = ompthreads;
  environment.cpus_per_chunk = ncpus;
  return environment;
}

}  // namespace

TEST_SUITE_BEGIN("topology/affinity/thread_lint");

TEST_CASE("what people write by hand") {
  struct Row {
    ThreadEnvironment environment;
    std::vector<std::string> ids;
    std::string part;  // of the first finding
  };
  const EnvVars good{{"OMP_NUM_THREADS", "60"}, {"KMP_AFFINITY", "granularity=fine,compact,1,0"}};
  ThreadEnvironment rankfile = env({{"I_MPI_PIN", "1"}}), numactl = env(good);
  rankfile.rankfile = true;
  numactl.numactl = true;
  for (const Row& row : {
           Row{env(good), {}, ""},
           // The page of the centre.
           Row{env({{"OMP_NUM_THREADS", "60"}, {"KMP_AFFINITY", "verbose,granularity=fine,compact=1"}}),
               {"kmp-trailing"},
               "60 threads on 15 of 68 cores, 4 on the fullest"},
           // A rank of four has 17 of the 68 cores; 17 threads fill 5 of them, 4 hardware threads each.
           Row{with_request(env({{"OMP_NUM_THREADS", "17"}, {"KMP_AFFINITY", "granularity=fine,compact=1"}}),
                            4, 0),
               {"kmp-trailing"},
               "17 threads of a rank on 5 of its 17 cores, 4 on the fullest"},
           Row{env({{"OMP_NUM_THREADS", "60"}, {"KMP_AFFINITY", "granularity=fine,compact"}}),
               {"kmp-compact"},
               "60 threads on 15 of 68 cores"},
           Row{env({{"OMP_NUM_THREADS", "272"}, {"KMP_AFFINITY", "granularity=fine,compact"}}),
               {"threads-over-cores"},
               "272"},
           Row{env({{"KMP_AFFINITY", "compact"}}, minsky), {}, ""},
           Row{env({{"KMP_AFFINITY", "compact"}, {"KMP_HW_SUBSET", "68c,1t"}}), {}, ""},
           Row{env({{"KMP_AFFINITY", "compct,1,0"}}), {"kmp-grammar"}, "neither"},
           Row{env({{"KMP_AFFINITY", "scatter"}, {"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "close"}}),
               {"kmp-and-omp", "kmp-and-omp"},
               "OMP_PROC_BIND=close"},
           Row{env({{"KMP_AFFINITY", "scatter"}, {"KMP_BLOCKTIME", "1"}}, knl, libgomp),
               {"kmp-with-libgomp", "kmp-with-libgomp"},
               "libgomp"},
           Row{env({{"GOMP_CPU_AFFINITY", "0-3"}}, knl, libomp), {"gomp-with-libomp"}, ""},
           Row{env({{"OMP_NUM_THREADS", "60"}, {"OMP_PLACES", "threads"}, {"OMP_PROC_BIND", "close"}}),
               {"places-share-cores"},
               "60 threads on 15 of 68 cores"},
           Row{env({{"OMP_NUM_THREADS", "60"}, {"OMP_PROC_BIND", "true"}}),
               {"places-share-cores"},
               "libgomp"},
           Row{env({{"OMP_NUM_THREADS", "60"}, {"OMP_PROC_BIND", "true"}}, knl, libomp), {}, ""},
           Row{env({{"OMP_NUM_THREADS", "60"}, {"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "close"}}), {}, ""},
           Row{with_request(env({{"OMP_NUM_THREADS", "60"}}), 1, 68),
               {"ompthreads-differ"},
               "ompthreads=68, the script OMP_NUM_THREADS=60"},
           Row{with_request(env({}), 4, 0, 68),
               {"ompthreads-missing"},
               "OMP_NUM_THREADS=68 for each of 4 ranks"},
           Row{with_request(env({{"OMP_NUM_THREADS", "8"}}, minsky), 4, 0),
               {"threads-over-cores"},
               "4 ranks x 8 threads = 32 threads on 16 cores"},
           Row{with_request(env({{"OMP_NUM_THREADS", "4"}}, minsky), 4, 0), {}, ""},
           Row{env({{"OMP_NUM_THREADS", "8"}, {"MKL_NUM_THREADS", "4"}}, minsky), {"mkl-differs"}, "=4 and"},
           Row{env({{"OMP_NUM_THREADS", "all"}}, minsky), {"threads-no-number"}, ""},
           Row{env({{"OMP_NUM_THREADS", "$NCPUS"}}, minsky), {}, ""},
           Row{env({{"KMP_BLOCKTIME", "soon"}}), {"blocktime"}, "200 ms"},
           Row{env({{"KMP_BLOCKTIME", "infinite"}}), {}, ""},
           Row{rankfile, {"i-mpi-and-rankfile"}, ""},
           Row{numactl, {"kmp-and-numactl"}, ""},
       }) {
    const auto findings = check_thread_environment(row.environment);
    std::vector<std::string> ids;
    for (const AffinityFinding& finding : findings) {
      ids.push_back(finding.id);
      CHECK_FALSE(finding.hint.empty());
    }
    CAPTURE(row.part);
    CHECK(ids == row.ids);
    if (!findings.empty())
      CHECK_MESSAGE(findings[0].what.find(row.part) != std::string::npos, findings[0].what);
  }
}

TEST_CASE("compact is judged by what is known of the hardware threads, and by nothing else") {
  const EnvVars compact{{"KMP_AFFINITY", "granularity=fine,compact"}, {"OMP_NUM_THREADS", "4"}};
  struct Row {
    ThreadMachine machine;
    bool siblings_known;
    std::string threads;
    std::optional<AffinitySeverity> verdict;
  };
  for (const Row& row : {
           Row{{1, 8, 2}, true, "4", AffinitySeverity::warning},
           Row{{1, 8, 1}, true, "4", std::nullopt},
           Row{{1, 8, 1}, false, "4", AffinitySeverity::note},
           Row{{1, 8, 1}, false, "8", AffinitySeverity::note},
           Row{{0, 0, 0}, true, "4", AffinitySeverity::note},
           Row{{1, 8, 2}, true, "16", std::nullopt},  // every order fills all
           Row{{1, 8, 2}, true, "1", std::nullopt},   // one thread has the first place in any order
           Row{{0, 0, 0}, true, "1", std::nullopt},
       }) {
    CAPTURE(row.threads);
    CAPTURE(row.machine.threads_per_core);
    ThreadEnvironment environment = env(compact, row.machine);
    environment.siblings_known = row.siblings_known;
    environment.variables["OMP_NUM_THREADS"] = row.threads;
    std::optional<AffinitySeverity> verdict;
    for (const AffinityFinding& finding : check_thread_environment(environment))
      if (finding.id == "kmp-compact") verdict = finding.severity;
    CHECK(verdict == row.verdict);
  }
}

TEST_CASE("a mend, carried out, leaves nothing to find of its kind") {
  for (const ThreadEnvironment& before :
       {env({{"OMP_NUM_THREADS", "60"}, {"KMP_AFFINITY", "compact=1"}}),
        env({{"OMP_NUM_THREADS", "60"}, {"OMP_PROC_BIND", "true"}}),
        env({{"OMP_NUM_THREADS", "60"}, {"MKL_NUM_THREADS", "4"}}),
        env({{"KMP_AFFINITY", "scatter"}, {"OMP_PLACES", "cores"}}), env({{"KMP_BLOCKTIME", "soon"}}),
        with_request(env({{"OMP_NUM_THREADS", "8"}}, minsky), 4, 0)}) {
    ThreadEnvironment after = before;
    const auto findings = check_thread_environment(before);
    REQUIRE(findings.size() == 1);
    CAPTURE(findings[0].id);
    REQUIRE_FALSE(findings[0].mend.empty());
    for (const auto& [name, value] : findings[0].mend) {
      after.variables.erase(name);
      if (!value.empty()) after.variables[name] = value;
    }
    CHECK(check_thread_environment(after).empty());
  }
}

TEST_CASE("every finding is a rule that is listed") {
  std::set<std::string_view> ids;
  for (const AffinityRule& rule : affinity_rules()) {
    CHECK(ids.insert(rule.id).second);
    CHECK_FALSE(rule.summary.empty());
  }
  CHECK(ids.count("kmp-trailing") == 1);
}

TEST_SUITE_END();
