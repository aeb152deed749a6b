// SPDX-License-Identifier: MIT
#include "doctor/diagnose/finding_text.hpp"

#include "doctor/diagnose/diagnosis.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/finding_text");

TEST_CASE("a value from a log is one shell word in a remedy") {
  const Diagnosis diagnosis = diagnose_text(
      "mpirun was unable to launch the specified application as it could not access\nor execute an "
      "executable:\n\n"
      "Executable: $(touch owned); x'y\nNode: --oProxyCommand\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->remedies[0] ==
        "mpirun -n 1 -H oProxyCommand ls -l '$(touch owned); x'\\''y'   # as the job sees it, in its "
        "directory");
}

TEST_CASE("a host out of a log is a name or nothing") {
  const Diagnosis diagnosis = diagnose_text(
      "MPICH ERROR [Rank 3] [job id 77.0] [Tue] [nid1;touch x;b] - Abort(1): Fatal error in PMPI_Init: no "
      "memory\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->place.host.empty());
  CHECK(render_diagnosis(diagnosis).find("ddlrun doctor nid1;") == std::string::npos);
}

TEST_SUITE_END();
