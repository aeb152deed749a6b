// SPDX-License-Identifier: MIT
#include "doctor/diagnose/line_prefix.hpp"

#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/time_stamp.hpp"
#include "tests/unit/doctor/diagnose/examples.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::diagnose;

TEST_SUITE_BEGIN("doctor/diagnose/line_prefix");

TEST_CASE("a prefix is removed and gives rank and host") {
  struct Row {
    const char* line;
    int rank;
    const char* host;
    const char* text;
  };
  const Row rows[] = {
      {"[1,3]<stderr>:hello", 3, "", "hello"},
      {"[1,3]<stderr>: hello", 3, "", " hello"},
      {"[prterun-n1-77@1,12]<stdout>:hello", 12, "", "hello"},
      {"[0]<stderr>:hello", 0, "", "hello"},
      {"[5] hello", 5, "", "hello"},
      {" 7: hello", 7, "", "hello"},
      {"[rank2]: RuntimeError: x", 2, "", "RuntimeError: x"},
      {"[rank2]:[E ProcessGroupNCCL.cpp:475] [Rank 2] Watchdog", 2, "",
       "[E ProcessGroupNCCL.cpp:475] [Rank 2] Watchdog"},
      {"[minsky1:00038] *** Process received signal ***", -1, "minsky1", "*** Process received signal ***"},
      {"[minsky1:00038] [[17227,0],0] ORTE_ERROR_LOG: x", -1, "", "ORTE_ERROR_LOG: x"},
      {"[minsky2:00038] [[17227,0],1] ORTE_ERROR_LOG: x", -1, "minsky2", "ORTE_ERROR_LOG: x"},
      {"[n1:00681] [10] /lib/libc.so.6", -1, "n1", "[10] /lib/libc.so.6"},
      {"[1,1]<stderr>:[n2:123] Read -1", 1, "n2", "Read -1"},
      {"n2:33:98 [0] NCCL WARN x", -1, "n2", "NCCL WARN x"},
      {"[1,4]<stdout>:n2:33:98 [0] NCCL WARN x", 4, "n2", "NCCL WARN x"},
      {"2026-11-21T06:34:14.123+09:00 hello", -1, "", "hello"},
      {"2023-05-25 11:10:57.934361: E tensorflow/x", -1, "", "E tensorflow/x"},
      {"[2026-11-21 06:34:14,123] [ERROR] x", -1, "", "[ERROR] x"},
      {"Sat Nov 21 06:34:14 2026[1,2]<stderr>:x", 2, "", "x"},
      {"Sat Nov 21 06:34:14 2026<stderr>:x", -1, "", "x"},
      {"[proxy:0:1@n3] pipe error", -1, "n3", "pipe error"},
      {"[mpiexec@n1] pipe error", -1, "", "pipe error"},
      {"[proxy:0:1] pipe error", -1, "", "pipe error"},
      {"705.1s\t1504\tOSError: x", -1, "", "OSError: x"},
      {"705.1s\tOSError: x", -1, "", "705.1s\tOSError: x"},
      {"trainer_1  | step 3", -1, "", "step 3"},
      {"lab-worker-12 | [rank3]: KeyError: x", 3, "", "KeyError: x"},
      {"epoch | loss", -1, "", "epoch | loss"},
      {"layer-2| 5", -1, "", "layer-2| 5"},
      {"7 | 0.5", -1, "", "7 | 0.5"},
      {"hello world", -1, "", "hello world"},
      {"[12:30] hello", -1, "", "[12:30] hello"},
      {"[a:b] hello", -1, "", "[a:b] hello"},
      {"[1,x]<stderr>:hello", -1, "", "[1,x]<stderr>:hello"},
      {"[99999999999999999999,99999999999999999999]<stderr>:x", -1, "", "x"},
      {"", -1, "", ""},
      {"[", -1, "", "["},
      {"[[[[", -1, "", "[[[["},
      {"2026-13-45T99:99:99 x", -1, "", "2026-13-45T99:99:99 x"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const LinePrefix prefix = split_prefix(row.line);
    CHECK((prefix.rank ? static_cast<int>(*prefix.rank) : -1) == row.rank);
    CHECK(prefix.host == row.host);
    CHECK(prefix.text == row.text);
  }
}

TEST_CASE("a process id before a line is no rank of a job whose size is known") {
  CHECK(*split_prefix("[348] lost").rank == 348);
  CHECK_FALSE(split_prefix("[348] lost", 4).rank);
  CHECK(split_prefix("[348] lost", 4).text == "lost");
  CHECK(*split_prefix("[3] lost", 4).rank == 3);
  CHECK(*split_prefix("[1,3]<stderr>:[348] lost", 4).rank == 3);
}

TEST_CASE("MPICH names the rank in the text") {
  CHECK(rank_in_text("Abort(1) on node 0 (rank 12 in comm 0): x") == 12u);
  for (const char* text : {"x (rank 12 in comm 480)", "(rank in comm 0)", "(rank 1", ""})
    CHECK_FALSE(rank_in_text(text).has_value());
}

TEST_CASE("time stamps are compared in UTC") {
  const auto micro = [](const char* text) {
    const auto found = read_stamp(text);
    return found ? found->stamp.microseconds : -1;
  };
  // date -u -d @1795219200 is 2026-11-21 00:00:00
  constexpr std::int64_t day = 1'795'219'200'000'000;
  CHECK(micro("2026-11-21T00:00:00") == day);
  CHECK(micro("2026-11-21T09:00:00+09:00 x") == day);
  CHECK(micro("2026-11-20T19:00:00-05:00 x") == day);
  CHECK(micro("2026-11-21 00:00:00,250 x") == day + 250'000);
  CHECK(micro("[2026/11/21 00:00:01] x") == day + 1'000'000);
  CHECK(micro("Sat Nov 21 00:00:02 2026 x") == day + 2'000'000);
  CHECK(micro("Nov 21 06:34:14 n1 x") > 0);
  CHECK(micro("I1121 06:34:14.123456 1") > 0);
  CHECK(micro("2026-02-30T00:00:00") == -1);
  CHECK(micro("2026-11-21") == -1);
  CHECK(micro("Information about it") == -1);
}

TEST_CASE("escape sequences are removed and the text stays") {
  CHECK(strip_escapes("\x1b[31mError\x1b[0m: x") == "Error: x");
  CHECK(strip_escapes("\x1b]0;title\aok") == "ok");
  CHECK(strip_escapes("\x1b") == "");
  CHECK(strip_escapes("\x1b[31") == "");
}

TEST_CASE("sanitized text holds no control bytes and only valid UTF-8") {
  CHECK(sanitize("a\tb\x01\x7f") == "a b\\x01\\x7f");
  CHECK(sanitize("\xed\x95\x9c \xc2\x9b \xff \xc0\xaf") == "\xed\x95\x9c \\xc2\\x9b \\xff \\xc0\\xaf");
  CHECK(sanitize("\xe2\x80\xae") == "\\xe2\\x80\\xae");
  CHECK(sanitize("abcdef", 3) == "abc...");
}

TEST_CASE("a pattern captures what its names stand for") {
  const auto pattern =
      parse_line_pattern("rank {rank} with PID {*} on node {host} exited on signal {signal}");
  REQUIRE(pattern);
  const auto captures = match_line(
      *pattern, "mpirun noticed that process rank 3 with PID 12 on node n-1.x exited on signal 9 (K).");
  REQUIRE(captures);
  CHECK(captures->rank == 3u);
  CHECK(captures->host == "n-1.x");
  CHECK(captures->signal == 9);
  CHECK(!match_line(*pattern, "rank x with PID 12 on node n1 exited on signal 9"));
  CHECK(!match_line(*pattern, "rank 3 with PID 12 on node  exited on signal 9"));
  CHECK(render_line_pattern(*pattern) == "rank {rank} with PID {*} on node {host} exited on signal {signal}");
  CHECK(!parse_line_pattern("a {nosuch} b"));
  CHECK(!parse_line_pattern("a {host}{rank} b"));
  CHECK(!parse_line_pattern("a {host"));
}

TEST_CASE("mpirun puts its tag before each piece that a rank writes: it stands once in the report") {
  CHECK(without_repeated_tags("[1,2]<stderr>:KeyError: [1,2]<stderr>:'a'[1,2]<stderr>:") ==
        "[1,2]<stderr>:KeyError: 'a'");
  CHECK_FALSE(repeats_tag("[1,2]<stderr>:a [1,3]<stderr>:b"));
  CHECK_FALSE(repeats_tag("plain text"));
  const Diagnosis diagnosis = ddlrun::tests::diagnose_text(
      "[1,2]<stderr>:Traceback (most recent call last):\n[1,2]<stderr>:  File \"a.py\", line 1, in f\n"
      "[1,2]<stderr>:    g()\n[1,2]<stderr>:MyError: [1,2]<stderr>:the mesh is open\n");
  REQUIRE(diagnosis.cause);
  CHECK(diagnosis.cause->title == "MyError: the mesh is open (a.py:1)");
}

TEST_SUITE_END();
