// SPDX-License-Identifier: MIT
#include "doctor/diagnose/episodes.hpp"

#include "doctor/diagnose/diagnosis.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/episodes");

namespace {

std::string steps(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "step " + std::to_string(i) + " loss 0.3\n";
  return text;
}

const std::string library_error =
    "./solver: error while loading shared libraries: libfftw3.so.3: cannot open shared object file: No such "
    "file or directory\n";
const std::string shape_error =
    "Traceback (most recent call last):\n  File \"train.py\", line 9, in <module>\n    step()\n"
    "ValueError: shapes do not fit\n";

}  // namespace

TEST_CASE("more than 25 ordinary lines end an episode") {
  Episodes episodes;
  CHECK(episodes.start_of(3) == 0);
  for (const int line : {10, 11, 37, 64, 65}) episodes.take(static_cast<std::uint64_t>(line));
  CHECK(episodes.start_of(9) == 0);
  CHECK(episodes.start_of(37) == 10);
  CHECK(episodes.start_of(64) == 64);
  CHECK(episodes.start_of(1000) == 64);
}

TEST_CASE("a run that goes on for long after an error survived it") {
  const Diagnosis survived = diagnose_text(library_error + steps(40) + shape_error);
  REQUIRE(survived.cause);
  CHECK(survived.cause->title == "ValueError: shapes do not fit (train.py:9)");
  REQUIRE(!survived.also_seen.empty());
  CHECK(survived.also_seen[0].is_survived);
  CHECK(render_diagnosis(survived).find("(earlier; the run went on; ") != std::string::npos);

  const Diagnosis direct = diagnose_text(library_error + steps(5) + shape_error);
  REQUIRE(direct.cause);
  CHECK(direct.cause->title.find("ValueError") == std::string::npos);
}

TEST_CASE("of several runs in one log the last counts") {
  const Diagnosis last = diagnose_text(
      "./solver: error while loading shared libraries: libfirst.so.1: cannot open shared object file\n" +
      steps(60) +
      "./solver: error while loading shared libraries: libsecond.so.1: cannot open shared object file\n");
  REQUIRE(last.cause);
  CHECK(last.cause->evidence.front().line == 62);
  CHECK(last.cause->count == 2);
}

TEST_CASE("the banner of a program begins a new run, however near") {
  Episodes episodes;
  episodes.take_start(1);
  episodes.take(5);
  episodes.take_start(8);
  episodes.take(12);
  CHECK(episodes.start_of(5) == 5);
  CHECK(episodes.last_start() == 12);
}

TEST_CASE("an episode of consequences alone is not the one that counts") {
  const Diagnosis diagnosis =
      diagnose_text(library_error + steps(40) + "Primary job  terminated normally, but 1 process returned\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->evidence.front().line == 1);
}

TEST_SUITE_END();
