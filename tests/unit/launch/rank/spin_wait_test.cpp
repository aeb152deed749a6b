// SPDX-License-Identifier: MIT
// Where samples of a process's code show a wait. The first rows are what `perf record` shows of Open
// MPI 4.1.4 and MPICH 4.0.2 in MPI_Recv, the last ones of programs that compute.
#include "launch/rank/spin_wait.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace ddlrun;
using launch::find_spin_library;

TEST_SUITE_BEGIN("launch/rank/spin_wait");

TEST_CASE("a rank spins where nearly all of its code is a transport's") {
  struct Row {
    const char* what;
    CodeSamples samples;
    const char* library;
  };
  const std::vector<Row> rows{
      {"Open MPI's progress loop",
       {{"libopen-pal.so.40.30.2", 31},
        {"mca_btl_vader.so", 22},
        {"libc.so.6", 17},
        {"libevent_core-2.1.so.7.0.1", 3}},
       "libopen-pal.so.40.30.2"},
      {"MPICH over UCX",
       {{"libmpich.so.12.2.2", 40}, {"libucp.so.0.0.0", 35}, {"libuct.so.0.0.0", 21}},
       "libmpich.so.12.2.2"},
      {"OpenMP's threads wait too",
       {{"libopen-pal.so.80", 40}, {"libgomp.so.1.0.0", 900}},
       "libopen-pal.so.80"},
      {"a stray sample", {{"libopen-pal.so.40", 99}, {"train", 1}}, "libopen-pal.so.40"},
      {"it computes between short waits", {{"libopen-pal.so.40", 90}, {"train", 10}}, ""},
      {"a library computes", {{"libmkl_avx512.so.2", 60}, {"libmpi.so.40", 2}}, ""},
      {"code without a file", {{"", 60}, {"libmpi.so.40", 40}}, ""},
      {"only OpenMP's threads", {{"libgomp.so.1.0.0", 90}}, ""},
      {"a loop around poll", {{"libc.so.6", 90}}, ""},
      {"a name that only looks like it", {{"libmpirical.so", 90}}, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(find_spin_library(row.samples) == row.library);
  }
  CHECK_FALSE(find_spin_library({{"libopen-pal.so.40", 9}}));  // too few
  CHECK_FALSE(find_spin_library({}));
  CHECK(find_spin_library({{"train", 2}}) == "");  // enough to see that it works
}

TEST_CASE("own code is what neither waits nor serves a wait") {
  using launch::find_own_code;
  CHECK(find_own_code({{"python3.11", 97}, {"libc.so.6", 3}}) == "python3.11");
  CHECK(find_own_code({{"libc.so.6", 60}, {"solve", 40}}) == "solve");
  CHECK(find_own_code({{"", 60}, {"libjvm.so", 40}}) == "generated_code");
  CHECK(find_own_code({{"libopen-pal.so.40", 5}, {"solve", 95}}).empty());  // polls MPI
  CHECK(find_own_code({{"libcuda.so.1", 90}, {"libc.so.6", 10}}).empty());
  CHECK(find_own_code({{"libgomp.so.1.0.0", 90}, {"libtorch_cpu.so", 10}}).empty());
  CHECK(find_own_code({{"solve", 9}}).empty());  // too few
  CHECK(find_own_code({}).empty());
}

TEST_SUITE_END();
