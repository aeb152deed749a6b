// SPDX-License-Identifier: MIT
// What libddl itself throws, as programs print it: by std::terminate, by text(), by ddl_last_error() and by
// Python.
#include "ddl/core/checks.hpp"
#include "ddl/core/grid.hpp"
#include "ddl/ddl.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using ddlrun::tests::diagnose_text;
using namespace ddlrun::diagnose;

namespace {

const std::string thrown = "terminate called after throwing an instance of 'ddl::Error'\n";

ddl::Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const ddl::Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return {ddl::Fault::usage, "", "", ""};
}

std::vector<std::string> printed_forms(const ddl::Error& error) {
  const std::string sentence = std::string(error.what()) + " (at " + error.where() + "); try " + error.hint();
  return {
      thrown + "  what():  " + error.what() + "\n", error.text() + "\n", "ddl_init: " + sentence + "\n",
      "Traceback (most recent call last):\n  File \"/me/t.py\", line 2, in <module>\n    c = ddl.Context()\n"
      "ddl.errors.UsageError: " +
          sentence + "\n"};
}

}  // namespace

TEST_SUITE_BEGIN("doctor/diagnose/ddl_errors");

TEST_CASE("options that libddl refuses are known, in each form that programs print") {
  for (const char* options :
       {"-bad 3", "-mode", "-mode x", "-mode b:", "-timeout 0", "-timeout x", "-timeout 100000", "-wire fp8",
        "-nccl x", "-dev_sync 7", "-dump_iter x", "-rebind_iter -1", "-cache", "mode b"}) {
    CAPTURE(options);
    for (const std::string& text : printed_forms(error_of([&] { ddl::parse_options(options, {}); }))) {
      CAPTURE(text);
      const Diagnosis found = diagnose_text(text);
      REQUIRE(found.cause);
      CHECK(found.cause->id == "O36");
      if (text.starts_with(thrown)) CHECK(found.salient_lines.empty());
      for (const Finding& other : found.also_seen) CHECK(other.kind > SignatureClass::likely);
    }
  }
}

TEST_CASE("dims that libddl refuses are known") {
  const std::vector<std::string> hosts{"h1", "h1"};
  for (const char* dims : {"0", "2x", "axb", "3x1", "2x2x2x2x2x2x2x2x2"}) {
    CAPTURE(dims);
    for (const std::string& text : printed_forms(error_of([&] { ddl::plan_grid(dims, hosts); }))) {
      CAPTURE(text);
      const Diagnosis found = diagnose_text(text);
      REQUIRE(found.cause);
      CHECK(found.cause->id == "O36");
    }
  }
}

TEST_CASE("any other exception of libddl has the advice for libddl") {
  const Diagnosis found = diagnose_text(thrown + "  what():  " + error_of([] {
                                                                   ddl::Options never;
                                                                   never.timeout_seconds = -1;
                                                                   ddl::check_timeout(never);
                                                                 }).what() +
                                        "\n");
  REQUIRE(found.cause);
  CHECK(found.cause->id == "L45");
}

TEST_CASE("one event is one finding: an exception whose text is known") {
  for (const auto& [what, id] : std::vector<std::pair<std::string, std::string>>{
           {"rank 1 (vm) ended before it came to all_reduce #1 of 100 float32", "O30"},
           {"rank 1 (vm) has not come to all_reduce #1 of 100 float32 within 3 s", "O16"},
           {"rank 1 (vm) has not computed its input yet in all_reduce #21 of 1000 float32 on GPUs; its stream has "
            "not reached the sum; it has not ended within 3 s",
            "O16"},
           {"rank 1 (vm) does not answer in all_reduce #20 of 1000 float32 on GPUs; process 7 is stopped; it has not "
            "ended within 3 s",
            "O16"},
           {"all_reduce #20 of 1000 float32 on GPUs did not complete: it has not ended within 3 s; all ranks respond, "
            "so the slow one cannot be identified",
            "O38"},
           {"invalid root 99: must be 0 to 1", "O14"}}) {
    CAPTURE(what);
    const Diagnosis found = diagnose_text(thrown + "  what():  " + what + "\n[vm:7] Signal: Aborted (6)\n",
                                          {134, LogSource::mpirun});
    REQUIRE(found.cause);
    CHECK(found.cause->id == id);
    for (const Finding& other : found.also_seen) CHECK(other.id == "E30");
    for (const LogLine& line : found.salient_lines)
      CHECK(line.text.find("terminate called") == std::string::npos);
  }
}

TEST_SUITE_END();
