// SPDX-License-Identifier: MIT
#include "launch/rank/status_line.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace ddlrun;
using launch::find_status_line;
using launch::RankReport;
using launch::RankStatus;
using launch::RankUsage;
using launch::render_status_line;

TEST_SUITE_BEGIN("launch/rank/status_line");

TEST_CASE("what a keeper reports is one short line and is read back") {
  struct Row {
    RankReport report;
    std::string line;
  };
  const std::vector<Row> rows{
      {{3, "h2", RankStatus::heartbeat, {}, 0, 0}, "ddlrun-rank token=T1 rank=3 host=h2 alive;\n"},
      {{3, "h2", RankStatus::heartbeat, {}, 0, 0, 0, false, RankUsage{398, 2048, 7, 12, true, {}}},
       "ddlrun-rank token=T1 rank=3 host=h2 alive cpu=398 rss=2048 io=7 quiet=12 stopped=1;\n"},
      {{0, "h2", RankStatus::heartbeat, {}, 0, 0, 0, false, RankUsage{0, 1, 0, 0, false, {{5, 6}}}},
       "ddlrun-rank token=T1 rank=0 host=h2 alive cpu=0 rss=1 io=0 quiet=0 stopped=0 rx=5 tx=6;\n"},
      {{0, "h2", RankStatus::stalled, {52, 'T', 812, "train", "do_signal_stop"}, 0, 0},
       "ddlrun-rank token=T1 rank=0 host=h2 stalled seconds=52 state=T pid=812 name=train "
       "in=do_signal_stop;\n"},
      {{0, "h2", RankStatus::stalled, {52, 'S', 812, "", ""}, 0, 0},
       "ddlrun-rank token=T1 rank=0 host=h2 stalled seconds=52 state=S pid=812 name=? in=?;\n"},
      {{0, "h2", RankStatus::computes, {52, 'C', 812, "train", "python3.11"}, 0, 0},
       "ddlrun-rank token=T1 rank=0 host=h2 computes seconds=52 state=C pid=812 name=train in=python3.11;\n"},
      {{3, "481516234212", RankStatus::heartbeat, {}, 0, 0},
       "ddlrun-rank token=T1 rank=3 host=481516234212 alive;\n"},
      {{1, "h.x", RankStatus::resumed, {72, 'S', -1, "", ""}, 0, 0},
       "ddlrun-rank token=T1 rank=1 host=h.x moves seconds=72;\n"},
      {{1, "h2", RankStatus::ended, {}, 139, 11},
       "ddlrun-rank token=T1 rank=1 host=h2 ended status=139 signal=11 alone=0;\n"},
      {{1, "h2", RankStatus::ended, {}, 127, 0, 2},
       "ddlrun-rank token=T1 rank=1 host=h2 ended status=127 signal=0 alone=0 errno=2;\n"},
      {{1, "h2", RankStatus::ended, {}, 137, 9, 0, true},
       "ddlrun-rank token=T1 rank=1 host=h2 ended status=137 signal=9 alone=1;\n"},
      {{1, "h2", RankStatus::ended, {}, 137, 9, 0, true, {}, "/sys/fs/cgroup/pbs:7/memory.events"},
       "ddlrun-rank token=T1 rank=1 host=h2 ended status=137 signal=9 alone=1 "
       "oom=/sys/fs/cgroup/pbs:7/memory.events;\n"},
      {{1, "h2", RankStatus::ended, {}, 137, 9, 0, true, {}, ""},
       "ddlrun-rank token=T1 rank=1 host=h2 ended status=137 signal=9 alone=1 oom=?;\n"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    CHECK(render_status_line("T1", row.report) == row.line);
    const auto found = find_status_line("[1,3]<stderr>:" + row.line + "more", "T1");
    REQUIRE(found.report);
    CHECK(found.report->rank == row.report.rank);
    CHECK(found.report->host == row.report.host);
    CHECK(found.report->sign == row.report.sign);
    CHECK(found.report->stall.seconds == row.report.stall.seconds);
    CHECK(found.report->stall.name == row.report.stall.name);
    CHECK(found.report->exit_status == row.report.exit_status);
    CHECK(found.report->signal == row.report.signal);
    CHECK(found.report->start_error == row.report.start_error);
    CHECK(found.report->alone == row.report.alone);
    CHECK(found.report->usage == row.report.usage);
    CHECK(found.report->oom_file == row.report.oom_file);
    CHECK(found.rest == "more");
  }
}

TEST_CASE("the name of a cgroup that would break the line is left out") {
  for (const std::string name : {"/a b/memory.events", "/a;b/memory.events", "/a\nb/memory.events"}) {
    CAPTURE(name);
    RankReport report{1, "h2", RankStatus::ended, {}, 137, 9, 0, true, {}, name};
    const auto found = find_status_line(render_status_line("T1", report), "T1");
    REQUIRE(found.report);
    CHECK(found.report->oom_file == "");
  }
  const RankReport longest{1,  std::string(64, 'h'),  RankStatus::ended, {}, 137, 9, 0, true,
                           {}, std::string(4000, 'g')};
  CHECK(render_status_line("T1", longest).size() < 512);
}

TEST_CASE("whatever is not exactly a keeper's line stays with the program") {
  for (const std::string line :
       {"ddlrun-rank token=T2 rank=3 host=h2 alive;\n", "ddlrun-rank token=T1 rank=3 host=h2 alive\n",
        "ddlrun-rank token=T1 rank=x host=h2 alive;\n", "ddlrun-rank token=T1 rank=3 host=h2 dances;\n",
        "ddlrun-rank token=T1 rank=3 host=h2 alive now;\n",
        "ddlrun-rank token=T1 rank=3 host=h2 alive cpu=1 rss=1 io=1 quiet=1 stopped=2;\n",
        "ddlrun-rank token=T1 rank=3 alive;\n", "ddlrun-rank token=T1 rank=3 host= alive;\n",
        "ddlrun-rank token=T1 rank=3 host=$(touch${IFS}x) alive;\n",
        "ddlrun-rank token=T1 rank=3 host=-oProxyCommand alive;\n",
        "ddlrun-rank token=T1 rank=3 host=h2 ended status=256 signal=0 alone=0;\n",
        "ddlrun-rank token=T1 rank=3 host=h2 ended status=137 signal=9 alone=1 oom;\n",
        "ddlrun-rank token=T1 rank=3 host=h2 ended status=1 signal=0;\n", "ddlrun-rank token=T1 ;\n",
        "ddlrun-rank token=T1 rank=99999999 host=h2 alive;\n",
        "ddlrun-rank token=T1 rank=3 host=h2 stalled seconds=5 state=TT pid=1 name=a in=b;\n", "a line\n",
        ""}) {
    CAPTURE(line);
    const auto found = find_status_line(line, "T1");
    CHECK_FALSE(found.report);
    CHECK(found.rest == line);
  }
}

TEST_SUITE_END();
