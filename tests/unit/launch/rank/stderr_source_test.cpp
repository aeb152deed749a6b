// SPDX-License-Identifier: MIT
#include "launch/rank/stderr_source.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::cut_stderr_marks;
using launch::mark_stderr_lines;

TEST_SUITE_BEGIN("launch/rank/stderr_source");

TEST_CASE("each line has the mark of its rank, and is itself again without it") {
  CHECK(mark_stderr_lines("T1", 3, "") == "");
  CHECK(mark_stderr_lines("T1", 3, "a\n\nb") ==
        "ddlrun-err token=T1 rank=3;a\nddlrun-err token=T1 rank=3;\nddlrun-err token=T1 rank=3;b");
  for (const std::string line : {"a line\n", "\n", "  \n", "10%\r", "a;b rank=2;\n", "no newline"}) {
    CAPTURE(line);
    const auto marked = cut_stderr_marks(mark_stderr_lines("T1", 3, line), "T1");
    CHECK(marked.rank == 3u);
    CHECK(marked.rest == line);
  }
  const auto twice =
      cut_stderr_marks(mark_stderr_lines("T1", 3, "10%\r") + mark_stderr_lines("T1", 4, "x\n"), "T1");
  CHECK(twice.rank == 3u);
  CHECK(twice.rest == "10%\rx\n");
}

TEST_CASE("a line that only looks like a mark stays as it is") {
  for (const std::string line :
       {"ddlrun-err token=T2 rank=3;a\n", "ddlrun-err token=T1 rank=x;a\n", "ddlrun-err token=T1 rank=3",
        "ddlrun-err token=T1 rank=99999999999;\n", "a\n", ""}) {
    CAPTURE(line);
    const auto marked = cut_stderr_marks(line, "T1");
    CHECK_FALSE(marked.rank);
    CHECK(marked.rest == line);
  }
}

TEST_SUITE_END();
