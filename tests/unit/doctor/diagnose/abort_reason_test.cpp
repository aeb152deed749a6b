// SPDX-License-Identifier: MIT
// The message of Open MPI 4.1.4 on MPI_Abort, as a program's log has it with 2>&1: mpirun may print it before
// the program's own line.
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

namespace {

const std::string ruler = std::string(74, '-') + "\n";
const std::string box =
    ruler +
    "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 42.\n\n"
    "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\n"
    "You may or may not see output from other processes, depending on\n"
    "exactly when Open MPI kills them.\n" +
    ruler;
const std::string reason = "inputdeck: cannot find material 'Fe3O4' in table";
const std::string quiet_reason = "inputdeck: the material Fe3O4 has no row in the table";

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/abort_reason");

TEST_CASE("the reason of MPI_Abort stands before or behind the message of mpirun") {
  for (const std::string& text :
       {reason + "\n" + box, box + reason + "\n", box + "[1,1]<stderr>:" + reason + "\n"}) {
    CAPTURE(text);
    const Diagnosis diagnosis = diagnose_text(text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->title == reason);
    CHECK(diagnosis.cause->place.rank == 1u);
    CHECK(diagnosis.verdict == Verdict::likely_cause);
  }
}

TEST_CASE("words that no rule knows are shown with the call") {
  const Diagnosis before = diagnose_text(quiet_reason + "\n" + box);
  REQUIRE(before.cause);
  CHECK(before.cause->title == "rank 1 called MPI_Abort after: " + quiet_reason);
  const Diagnosis behind = diagnose_text(box + quiet_reason + "\n");
  REQUIRE(behind.cause);
  CHECK(behind.cause->title == "rank 1 called MPI_Abort, and printed: " + quiet_reason);
  CHECK(behind.cause->evidence.back().text == quiet_reason);
}

TEST_CASE("lines of another rank, and of mpirun itself, are no reason") {
  for (const std::string& text :
       {box + "[1,0]<stderr>:" + reason + "\n", box,
        box + "[n1:7] 1 more process has sent help message help-mpi-api.txt / mpi-abort\n"}) {
    CAPTURE(text);
    const Diagnosis diagnosis = diagnose_text(text);
    REQUIRE(diagnosis.cause);
    CHECK(diagnosis.cause->id == "E26");
    CHECK(diagnosis.cause->title == "rank 1 called MPI_Abort");
    for (const LogLine& line : diagnosis.cause->following)
      CHECK(line.text.find("may or may not") == std::string::npos);
  }
}

TEST_SUITE_END();
