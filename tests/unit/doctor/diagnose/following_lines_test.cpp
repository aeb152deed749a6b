// SPDX-License-Identifier: MIT
#include "doctor/diagnose/following_lines.hpp"

#include "doctor/diagnose/diagnosis.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace ddlrun::diagnose;
using ddlrun::tests::diagnose_text;

TEST_SUITE_BEGIN("doctor/diagnose/following_lines");

namespace {

std::vector<std::string> following_of(const Diagnosis& diagnosis) {
  std::vector<std::string> texts;
  if (diagnosis.cause) {
    for (const LogLine& line : diagnosis.cause->following) texts.push_back(line.text);
  }
  return texts;
}

}  // namespace

TEST_CASE("the lines behind a message are kept, without stacks, reports and repetitions") {
  std::vector<EvidenceLine> lines;
  for (const char* text : {"", "Read 3 of 4 points.", "File \"a.py\", line 3, in f", "rank 1 INFO next step",
                           "----------", "the same list of causes: a", "the same list of causes: b"})
    add_following(lines, 10, 11, text);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].text == "Read 3 of 4 points.");
  CHECK(lines[1].text == "the same list of causes: a");
  add_following(lines, 10, 17, "too far away");
  CHECK(lines.size() == 2);
}

TEST_CASE("a known message and an exception show what follows them, of the same rank only") {
  CHECK(following_of(diagnose_text(
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\n"
            "ValueError: the input is not usable\nRead 3 of 4 points.\n")) ==
        std::vector<std::string>{"Read 3 of 4 points."});
  CHECK(following_of(
            diagnose_text("[1,1]<stderr>:ModuleNotFoundError: No module named 'yaml'\n"
                          "[1,0]<stderr>:rank 0 has other words\n[1,1]<stderr>:sys.path has 3 entries\n")) ==
        std::vector<std::string>{"sys.path has 3 entries"});
}

TEST_CASE("an earlier error that no signature explains is shown beside the cause") {
  const Diagnosis diagnosis = diagnose_text(
      "ERROR: the module system of this host is damaged\nstep 1\nModuleNotFoundError: No module named "
      "'yaml'\n");
  REQUIRE(diagnosis.cause);
  REQUIRE(diagnosis.salient_lines.size() == 1);
  CHECK(diagnosis.salient_lines[0].line == 1);
  CHECK(render_diagnosis(diagnosis).find("errors before it:\n  ") != std::string::npos);
}

TEST_CASE("advice in the lines behind a known message is one of its remedies") {
  const Diagnosis diagnosis = diagnose_text(
      "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
      "If reserved but unallocated memory is large try setting\nmax_split_size_mb to avoid fragmentation.\n");
  REQUIRE(diagnosis.cause);
  const auto& remedies = diagnosis.cause->remedies;
  CHECK(
      std::count(
          remedies.begin(), remedies.end(),
          "as the log advises: If reserved but unallocated memory is large try setting max_split_size_mb to "
          "avoid fragmentation.") == 1);
}

TEST_CASE("the line before a mere \"Exiting.\" is the error where its words are doubtful") {
  const Diagnosis failed = diagnose_text("loading a.nii\na.nii is not a 4D image\nExiting.\n");
  REQUIRE(failed.cause);
  CHECK(failed.cause->title == "a.nii is not a 4D image");
  CHECK(diagnose_text("wrote a.nii\nall 4 images are written\nExiting.\n").verdict == Verdict::no_trouble);
}

TEST_SUITE_END();
