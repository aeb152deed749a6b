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

TEST_CASE("where all ranks wait in the same call, none of them is the suspect, in any order of the lines") {
  const auto log = [](std::vector<std::pair<int, int>> ranks) {
    std::string text;
    for (const auto& [rank, number] : ranks) text += timeout_of(rank, number, "ALLREDUCE", 8);
    return text;
  };
  for (const auto& text : {log({{1, 808}, {0, 808}, {2, 808}}), log({{2, 808}, {0, 808}, {1, 808}})}) {
    const Diagnosis diagnosis = diagnose_text(text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == "D35");
    CHECK(diagnosis.cause->cause == "Another rank died, is late, or is elsewhere in the program.");
    CHECK(diagnosis.cause->place.empty());
    CHECK(render_diagnosis(diagnosis).find("\nat: ranks 0-2\n") != std::string::npos);
    CHECK(diagnosis.cause->evidence.front().text.find("[Rank 0]") != std::string::npos);
  }
  const Diagnosis behind = diagnose_text(log({{1, 808}, {0, 808}, {2, 807}}));
  REQUIRE(behind.cause);
  CHECK(behind.cause->cause.ends_with(" The suspect is rank 2: the SeqNum is the lowest."));
  CHECK(behind.cause->place.rank == 2);
  const Diagnosis silent = diagnose_text(log({{3, 808}, {0, 808}, {1, 808}}));
  REQUIRE(silent.cause);
  CHECK(silent.cause->cause.ends_with(" Not in the log: rank 2."));
  CHECK(silent.cause->remedies.front() == "look at the output of rank 2");
}

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
