// SPDX-License-Identifier: MIT
#include "launch/rank/output_frame.hpp"

#include "launch/rank/line_assembler.hpp"
#include "launch/rank/placement_line.hpp"
#include "launch/rank/status_line.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::OutputFrame;
using launch::OutputFramer;
using launch::OutputReader;
using launch::RankStream;

namespace {

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  return bytes;
}

struct ReceivedOutput {
  std::string out, err, rest;
};

// What a reader makes of `text`, given in two parts: each cut into lines as base/ does.
ReceivedOutput receive(OutputReader& reader, std::string_view text, std::size_t cut) {
  ReceivedOutput received;
  const auto give = [&](std::string_view line) {
    const auto taken = reader.take(line);
    received.rest += taken.rest;
    if (taken.piece)
      (taken.piece->stream == RankStream::out ? received.out : received.err) += taken.piece->bytes;
  };
  for (std::string_view part : {text.substr(0, cut), text.substr(cut)}) {
    while (!part.empty()) {
      const std::size_t end = std::min(part.find('\n'), part.size() - 1) + 1;
      give(part.substr(0, end));
      part.remove_prefix(end);
    }
  }
  received.rest += reader.finish();
  return received;
}

}  // namespace

TEST_SUITE_BEGIN("launch/rank/output_frame");

TEST_CASE("pieces are lines of one length, whatever is in them") {
  struct Row {
    std::string bytes;
    std::size_t pieces;
  };
  const std::vector<Row> rows{{"", 1},
                              {"a", 1},
                              {"one line\n", 1},
                              {std::string(200, '\n'), 1},
                              {std::string(300, '\n'), 2},  // two bytes each
                              {all_bytes(), 1},
                              {std::string(10'000, 'x'), 21},
                              {std::string(600, '\x10'), 3}};
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    OutputFramer marker("18a2bdf0c0ffee00", 1'048'575);
    const std::string text = marker.mark(RankStream::err, row.bytes);
    CHECK(text.size() == row.pieces * launch::output_frame_bytes);
    for (std::size_t i = 0; i < text.size(); ++i)
      REQUIRE((text[i] == '\n') == (i % launch::output_frame_bytes == launch::output_frame_bytes - 1));
    OutputReader reader("18a2bdf0c0ffee00");
    const ReceivedOutput received = receive(reader, text, 0);
    CHECK(received.err == row.bytes);
    CHECK(received.rest.empty());
  }
}

TEST_CASE("pieces survive a cut at every byte, beside other ranks and others' text") {
  OutputFramer three("t0k", 3), four("t0k", 4);
  std::string text = "mpirun says\n" + three.mark(RankStream::out, "from three\n" + all_bytes());
  text += four.mark(RankStream::err, "no end");
  text += three.mark(RankStream::err,
                     "\x1e"
                     "t0k 9o0:fake\n");
  text += "unfinished " + three.mark(RankStream::out, "more") + "\x1e alone\n";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CAPTURE(cut);
    OutputReader reader("t0k");
    const ReceivedOutput received = receive(reader, text, cut);
    REQUIRE(received.out == "from three\n" + all_bytes() + "more");
    REQUIRE(received.err ==
            "no end"
            "\x1e"
            "t0k 9o0:fake\n");
    REQUIRE(received.rest == "mpirun says\nunfinished \x1e alone\n");
  }
}

TEST_CASE("rank, stream and number are reported; --tag-output's prefix goes") {
  OutputFramer marker("tok", 7);
  marker.mark(RankStream::out, "zero");
  for (const std::string tag : {"", "[1,7]<stderr>:", "[host-1@1,7]<stderr>: "}) {
    CAPTURE(tag);
    OutputFramer again = marker;
    OutputReader reader("tok");
    const auto taken = reader.take(tag + again.mark(RankStream::out, "one"));
    CHECK(taken.piece == OutputFrame{7, RankStream::out, 1, "one"});
    CHECK(taken.rest.empty());
  }
}

TEST_CASE("what is no piece is somebody else's, byte for byte") {
  OutputFramer marker("tok", 1);
  std::string damaged = marker.mark(RankStream::out, "text");
  damaged[200] = '\n';
  std::string wrong_rank = marker.mark(RankStream::out, "text");
  wrong_rank.replace(5, 1, "x");
  const std::vector<std::string> rows{"plain\n",
                                      "",
                                      "\x1e\n",
                                      "\x1etok\n",
                                      damaged.substr(0, 201),
                                      wrong_rank,
                                      OutputFramer("other", 1).mark(RankStream::out, "text")};
  for (const std::string& row : rows) {
    CAPTURE(row);
    OutputReader reader("tok");
    const auto taken = reader.take(row);
    CHECK_FALSE(taken.piece.has_value());
    CHECK(taken.rest + reader.finish() == row);
  }
}

TEST_CASE("what never came is counted") {
  launch::OutputCount count;
  count.take({1, RankStream::out, 0, "a"});
  count.take({1, RankStream::out, 3, "b"});
  count.take({1, RankStream::err, 0, ""});
  count.take({2, RankStream::out, 0, "c"});
  CHECK(count.missing() == 2);
  CHECK(count.without_end() == 2);
}

TEST_CASE("the keeper's other lines are as long as pieces, and still found") {
  const launch::RankReport report{3, "h2", launch::RankStatus::ended, {}, 137, 9};
  const std::string padded = launch::pad_to_frame(launch::render_status_line("tok", report));
  CHECK(padded.size() == launch::output_frame_bytes);
  const auto found = launch::find_status_line(padded, "tok");
  CHECK(found.report == report);
  CHECK(found.rest.empty());
  CHECK(launch::pad_to_frame("no end") == "no end");
  CHECK(launch::pad_to_frame(std::string(512, 'x') + "\n").size() == 1024);
  const std::string place = launch::pad_to_frame(launch::render_placement_line("tok", {1, 0, "h", {0, 1}}));
  CHECK(launch::find_placement_line(place, "tok").report.has_value());
}

TEST_CASE("pieces become lines again") {
  std::string reported;
  launch::LineAssembler lines([&](std::uint32_t rank, RankStream stream, std::string_view line) {
    reported +=
        std::to_string(rank) + (stream == RankStream::out ? "o" : "e") + "<" + std::string(line) + ">";
  });
  lines.take({1, RankStream::out, 0, "ab"});
  lines.take({2, RankStream::out, 0, "x\ny"});
  lines.take({1, RankStream::err, 0, "err\n"});
  lines.take({1, RankStream::out, 1, "c\n\nd"});
  CHECK(reported == "2o<x\n>1e<err\n>1o<abc\n>1o<\n>");
  reported.clear();
  lines.take({2, RankStream::out, 1, ""});
  lines.flush();
  CHECK(reported == "2o<y>1o<d>");
  reported.clear();
  const std::string half(launch::LineAssembler::max_line / 2 + 1, 'z');
  lines.take({1, RankStream::out, 2, half});
  CHECK(reported.empty());
  lines.take({1, RankStream::out, 3, half});
  CHECK(reported == "1o<" + half + half + ">");
}

TEST_SUITE_END();
