// SPDX-License-Identifier: MIT
#include "launch/run/stream_lines.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::StreamLines;

TEST_SUITE_BEGIN("launch/run/stream_lines");

TEST_CASE("each line of the stream has its line in the file of its rank") {
  StreamLines lines;
  lines.take("mpirun: a note\n", std::nullopt, true);
  lines.take("a\n", 0, true);
  lines.take("b\n", 0, true);
  lines.take("begun ", 3, true);
  lines.take("and ended\n", 3, false);
  lines.take("c\n", 0, true);
  lines.take("next\n", 3, true);
  const auto check = [&](std::uint64_t at, std::optional<std::uint32_t> rank, std::uint64_t line) {
    CAPTURE(at);
    const auto place = lines.find(at);
    REQUIRE(place);
    CHECK(place->rank == rank);
    if (rank) CHECK(place->line == line);
  };
  check(1, std::nullopt, 0);
  check(2, 0, 1);
  check(3, 0, 2);
  check(4, 3, 1);
  check(5, 0, 3);
  check(6, 3, 2);
  CHECK_FALSE(lines.find(7));
  CHECK_FALSE(lines.find(0));
}

TEST_CASE("a diagnosis cites the files of the ranks, and launch's own lines without a number") {
  StreamLines lines;
  lines.take("mpirun: a note\n", std::nullopt, true);
  lines.take("ValueError: odd\n", 3, true);
  diagnose::Diagnosis diagnosis;
  diagnosis.cause = diagnose::Finding{};
  diagnosis.cause->evidence = {{"stderr", 2, "ValueError: odd"}, {"stderr", 1, "mpirun: a note"}};
  const auto evidence = launch::cite_rank_files(diagnosis, lines).cause->evidence;
  CHECK(evidence[0] == diagnose::LogLine{"out/rank-0003.err", 1, "ValueError: odd"});
  CHECK(evidence[1] == diagnose::LogLine{"stderr of launch", 0, "mpirun: a note"});
}

TEST_SUITE_END();
