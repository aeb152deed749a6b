// SPDX-License-Identifier: MIT
// Logs of runs that ended well, without their exit status, raise no alarm.
#include "doctor/diagnose/harmless_notes.hpp"

#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

namespace {

// help-mpi-btl-openib.txt / no device params found, and help-mpi-btl-tcp.txt / invalid if_inexclude.
const std::string no_parameters =
    "WARNING: No preset parameters were found for the device that Open MPI\ndetected:\n\n"
    "  Local host:            n3\n  Device name:           hfi1_0\n  Device vendor ID:      0x1175\n"
    "  Device vendor part ID: 9456\n\n"
    "Default device parameters will be used, which may result in lower\nperformance.\n";
const std::string bad_interface =
    "WARNING: An invalid value was given for btl_tcp_if_exclude.  This\nvalue will be ignored.\n\n"
    "  Local host: n3\n  Value:      ib7\n  Message:    Unknown interface name\n";
const std::string rule = "--------------------------------------------------------------------------\n";
const std::string no_worker =
    "[17.4] [n3:81:0]  mm_posix.c:2  UCX  ERROR shm_open(x) failed: Permission denied\n"
    "[n3:81] pml_ucx.c:309  Error: Failed to create UCP worker\n";

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/harmless_notes");

TEST_CASE("a warning whose value is ignored, or replaced by a default, is a note") {
  for (const char* text :
       {"WARNING: An invalid value was given for x.  This value will be ignored.",
        "Warning: 3 options are ignored", "WARNING: cannot read tune.conf, using the default",
        "warning: no table for this CPU. Default sizes will be used."}) {
    CAPTURE(text);
    CHECK(describes_no_failure(text));
  }
  for (const char* text : {"ERROR: the value will be ignored", "WARNING: the mesh has no cells",
                           "rank 3: WARNING of the solver was ignored, now it fails"}) {
    CAPTURE(text);
    CHECK_FALSE(describes_no_failure(text));
  }
}

TEST_CASE("such notes alone are no failure, and with one they are its cause") {
  for (const std::string& text :
       {bad_interface, no_parameters, no_parameters + rule + bad_interface + rule, no_worker}) {
    CAPTURE(text);
    const Diagnosis unknown = diagnose_text(text);
    CHECK(exit_code(unknown) == 0);
    CHECK_FALSE(unknown.cause);
    CHECK(unknown.salient_lines.empty());
  }
  const std::string lost = "ORTE was unable to reliably start one or more daemons.\n";
  for (const std::string& text : {bad_interface, no_worker}) {
    CAPTURE(text);
    CHECK(diagnose_text(text, {1}).cause);
    CHECK(exit_code(diagnose_text(text + lost)) == 1);
    CHECK(exit_code(diagnose_text(text + "[n3:81] *** Process received signal ***\n"
                                         "[n3:81] Signal: Segmentation fault (11)\n")) == 1);
  }
}

TEST_CASE("an adapter that fails without a component that goes on is no note") {
  CHECK(exit_code(diagnose_text(no_worker.substr(0, no_worker.find('\n') + 1))) == 1);
  std::string far = no_worker;
  std::string between;
  for (int line = 0; line < 20; ++line) between += "reading part " + std::to_string(line) + " of the mesh\n";
  far.insert(far.find("[n3:81] pml"), "[n3:81] solve: error: the mesh has no cells\n" + between);
  CHECK(exit_code(diagnose_text(far)) == 1);
}

TEST_SUITE_END();
