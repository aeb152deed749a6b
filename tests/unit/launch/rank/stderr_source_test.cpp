// SPDX-License-Identifier: MIT
#include "launch/rank/stderr_source.hpp"

#include "launch/rank/output_frame.hpp"
#include "launch/rank/placement_line.hpp"
#include "launch/rank/status_line.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::cut_stderr_marks;
using launch::ForeignMarkFilter;
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

TEST_CASE("a host's reports and frames of its own ranks pass, those of other ranks are none") {
  const std::string frame = launch::OutputFramer("O1", 3).mark(launch::RankStream::err, "text\n");
  const std::string report = "ddlrun-rank token=T1 rank=3 host=h2 ended status=7 signal=0 alone=0;\n";
  const std::string place = "ddlrun-place token=T1 rank=3 local=0 host=h2 pus=0;\n";
  for (const std::string& own : {frame, report, place, std::string("a line\n"), std::string()}) {
    CAPTURE(own);
    CHECK(ForeignMarkFilter({"T1", "", "O1"}).clean(own, 3) == own);
  }
  for (const std::uint32_t other : {0u, 33u, 2u}) {
    CAPTURE(other);
    ForeignMarkFilter filter({"T1", "", "O1"});
    CHECK_FALSE(launch::find_status_line(filter.clean(report, other), "T1").report);
    CHECK_FALSE(launch::find_placement_line(filter.clean(place, other), "T1").report);
    const std::string cleaned = filter.clean(frame, other);
    CHECK(cleaned.size() == frame.size());
    CHECK_FALSE(launch::OutputReader("O1").take(cleaned).piece);
    CHECK_FALSE(cut_stderr_marks(filter.clean("ddlrun-err token=T1 rank=3;x\n", other), "T1").rank);
  }
  CHECK(ForeignMarkFilter({"T1"}).clean(report, std::nullopt).find("T1") == std::string::npos);
  CHECK(ForeignMarkFilter({"T1"}).clean("ddlrun-err token=T1 rank=3;x\n", 3).find("T1") == std::string::npos);
}

TEST_CASE("no way to cut a report of another rank in two passes") {
  const std::string report = "ddlrun-rank token=T1T2T3 rank=0 host=h1 ended status=0 signal=0 alone=0;\n";
  for (std::size_t cut = 0; cut <= report.size(); ++cut) {
    CAPTURE(cut);
    ForeignMarkFilter filter({"T1T2T3"});
    std::string passed = filter.clean(report.substr(0, cut), 3);
    passed += filter.clean(report.substr(cut), 2);
    CHECK_FALSE(launch::find_status_line(passed, "T1T2T3").report);
  }
  ForeignMarkFilter filter({"T1T2T3"});
  std::string passed;
  for (const char byte : report) passed += filter.clean(std::string(1, byte), 3);
  CHECK_FALSE(launch::find_status_line(passed, "T1T2T3").report);
}

TEST_CASE("what a host's shell prints controls no terminal") {
  CHECK(launch::printable_lines("\x1b]0;title\x07\r\nWelcome to h\xc3\xb6st\n\n50%\r") ==
        "\\x1b]0;title\\x07\nWelcome to h\xc3\xb6st\n\n50%\\x0d");
}

TEST_SUITE_END();
