// SPDX-License-Identifier: MIT
#include "doctor/diagnose/collective_calls.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/collective_calls");

namespace {

// As PyTorch 2.1 prints it.
std::string timeout_of(int rank, int number, const char* operation, int elements, const char* group = "") {
  return fmt::format(
      "[E ProcessGroupNCCL.cpp:474] [{}Rank {}] Watchdog caught collective operation timeout: "
      "WorkNCCL(SeqNum={}, OpType={}, NumelIn={}, NumelOut={}, Timeout(ms)=1800000) ran for 1800410 "
      "milliseconds before timing out.\n",
      group, rank, number, operation, elements, elements);
}

std::string title_of(const std::string& log) {
  const Diagnosis diagnosis = diagnose_text(log);
  return diagnosis.cause ? diagnosis.cause->title : "";
}

}  // namespace

TEST_CASE("the rank that is behind, or that differs from most, is named") {
  CHECK(
      title_of(timeout_of(0, 14, "ALLREDUCE", 8) + timeout_of(1, 12, "ALLGATHER", 4)) ==
      "the ranks call different collectives: rank 1 waits in ALLGATHER of 4 elements (number 12), rank 0 in "
      "ALLREDUCE of 8 elements (number 14)");
  CHECK(title_of(timeout_of(0, 14, "ALLREDUCE", 8) + timeout_of(1, 14, "ALLREDUCE", 8) +
                 timeout_of(2, 14, "ALLREDUCE", 3))
            .find("rank 2 waits in ALLREDUCE of 3 elements (number 14), rank 0 in ALLREDUCE of 8") !=
        std::string::npos);
}

TEST_CASE("ranks in one collective, of different groups, or one rank alone are no mismatch") {
  for (const std::string& log :
       {timeout_of(0, 14, "ALLREDUCE", 8) + timeout_of(1, 14, "ALLREDUCE", 8),
        timeout_of(0, 14, "ALLREDUCE", 8),
        timeout_of(0, 14, "ALLREDUCE", 8) + timeout_of(1, 12, "ALLREDUCE", 8),
        timeout_of(0, 14, "ALLREDUCE", 8, "PG 1 ") + timeout_of(1, 12, "ALLGATHER", 4, "PG 2 ")}) {
    CAPTURE(log);
    CHECK(title_of(log) == "a collective did not end in time");
  }
}

TEST_SUITE_END();
