// SPDX-License-Identifier: MIT
// The model on the published figures; tests/differential/affinity.sh holds it against the runtimes
// themselves.
#include "topology/affinity/thread_map.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::affinity;

namespace {

constexpr ThreadMachine knights_landing{1, 68, 4}, skylake{2, 20, 2};

ThreadMap map_of(const ThreadMapRequest& request) {
  const auto map = map_threads(request);
  REQUIRE(map.has_value());
  return *map;
}

}  // namespace

TEST_SUITE_BEGIN("topology/affinity/thread_map");

TEST_CASE("published figures: distinct cores and threads on the fullest") {
  struct Row {
    ThreadMachine machine;
    std::uint32_t threads;
    EnvVars variables;
    std::uint32_t distinct, most;
  };
  for (const Row& row :
       {Row{knights_landing, 60, {{"KMP_AFFINITY", "verbose,granularity=fine,compact=1"}}, 15, 4},
        Row{knights_landing, 60, {{"KMP_AFFINITY", "granularity=fine,compact,1,0"}}, 60, 1},
        Row{knights_landing, 60, {{"KMP_AFFINITY", "granularity=fine,balanced"}}, 60, 1},
        Row{knights_landing, 60, {{"OMP_PLACES", "threads"}, {"OMP_PROC_BIND", "close"}}, 15, 4},
        Row{knights_landing, 60, {{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "close"}}, 60, 1},
        Row{knights_landing, 136, {{"KMP_AFFINITY", "scatter"}}, 68, 2},
        Row{skylake, 20, {{"KMP_AFFINITY", "granularity=fine,compact"}}, 10, 2},
        Row{skylake, 20, {{"KMP_AFFINITY", "granularity=fine,compact,1,0"}}, 20, 1}}) {
    CAPTURE(row.variables.begin()->second);
    const ThreadMap map = map_of({row.machine, {}, OpenMpRuntime::libomp, row.variables, row.threads});
    CHECK(map.bound);
    CHECK(map.distinct_cores == row.distinct);
    CHECK(map.most_on_a_core == row.most);
  }
}

TEST_CASE("GNU's and LLVM's runtime take true differently") {
  const EnvVars variables{{"OMP_PROC_BIND", "true"}};
  CHECK(map_of({knights_landing, {}, OpenMpRuntime::libgomp, variables, 60}).distinct_cores == 15);
  CHECK(map_of({knights_landing, {}, OpenMpRuntime::libomp, variables, 60}).distinct_cores == 60);
}

TEST_CASE("a mask is all there is") {
  const EnvVars variables{{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "close"}, {"OMP_NUM_THREADS", "3"}};
  const ThreadMap map = map_of({{2, 3, 2}, {1, 2, 7, 8}, OpenMpRuntime::libgomp, variables, 0});
  CHECK(map.processors == std::vector<std::vector<int>>{{1, 7}, {2, 8}, {1, 7}});
  CHECK(map.distinct_cores == 2);
  CHECK(map.most_on_a_core == 2);
}

TEST_CASE("unbound threads are taken to spread") {
  const ThreadMap map = map_of({knights_landing, {}, OpenMpRuntime::libomp, {{"KMP_AFFINITY", "none"}}, 60});
  CHECK_FALSE(map.bound);
  CHECK(map.distinct_cores == 60);
  CHECK(map.most_on_a_core == 1);
  CHECK(map_of({knights_landing, {}, OpenMpRuntime::libgomp, {}, 136}).most_on_a_core == 2);
}

TEST_CASE("what is not modelled is not guessed") {
  for (const EnvVars& variables :
       {EnvVars{{"OMP_PLACES", "{0:4}:17:4"}}, EnvVars{{"OMP_PLACES", "cores(4)"}},
        EnvVars{{"GOMP_CPU_AFFINITY", "0-3"}}, EnvVars{{"OMP_PROC_BIND", "tight"}},
        EnvVars{{"KMP_AFFINITY", "proclist=[0,1],explicit"}}, EnvVars{{"KMP_AFFINITY", "compct"}}}) {
    CAPTURE(variables.begin()->second);
    CHECK_FALSE(map_threads({knights_landing, {}, OpenMpRuntime::libomp, variables, 4}).has_value());
  }
  CHECK_FALSE(map_threads({knights_landing, {}, OpenMpRuntime::unknown, {}, 4}).has_value());
  CHECK_FALSE(map_threads({{0, 0, 0}, {}, OpenMpRuntime::libomp, {}, 4}).has_value());
}

TEST_CASE("the number of threads is the first of OMP_NUM_THREADS") {
  CHECK(threads_of({{"OMP_NUM_THREADS", "4,2"}}) == 4u);
  CHECK(threads_of({{"OMP_NUM_THREADS", " 8 "}}) == 8u);
  for (const char* text : {"", "0", "-1", "all", "4x"}) CHECK_FALSE(threads_of({{"OMP_NUM_THREADS", text}}));
}

TEST_SUITE_END();
