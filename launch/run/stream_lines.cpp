// SPDX-License-Identifier: MIT
#include "launch/run/stream_lines.hpp"

#include "launch/monitor/rank_files.hpp"

#include <algorithm>
#include <cstddef>

namespace ddlrun::launch {

namespace {

constexpr std::size_t most_runs = std::size_t{1} << 20;  // of many ranks that take turns: 40 MiB
constexpr std::string_view own_stream = "stderr of launch";

}  // namespace

void StreamLines::take(std::string_view piece, std::optional<std::uint32_t> rank, bool begins_line) {
  Place place{rank, 0};
  bool goes_on = false;
  if (rank) {
    File& file = files_[*rank];
    goes_on = file.is_open;
    if (!goes_on) ++file.lines;
    file.is_open = !piece.ends_with('\n');
    place.line = file.lines;
  }
  if (!begins_line) return;
  ++lines_;
  if (runs_.size() == most_runs) return;
  known_ = lines_;
  const bool follows = !runs_.empty() && runs_.back().place.rank == rank &&
                       (!rank || runs_.back().place.line + (lines_ - runs_.back().first) == place.line);
  if (!follows) runs_.push_back({lines_, place});
}

std::optional<StreamLines::Place> StreamLines::find(std::uint64_t stream_line) const {
  if (stream_line == 0 || stream_line > known_) return std::nullopt;
  const auto behind = std::ranges::upper_bound(runs_, stream_line, {}, &Run::first);
  if (behind == runs_.begin()) return std::nullopt;
  const Run& run = *std::prev(behind);
  Place place = run.place;
  if (place.rank) place.line += stream_line - run.first;
  return place;
}

diagnose::Diagnosis cite_rank_files(diagnose::Diagnosis diagnosis, const StreamLines& lines) {
  const auto cite = [&](diagnose::LogLine& line) {
    const auto place = lines.find(line.line);
    if (place && place->rank) {
      line.source = rank_file(".", *place->rank, RankStream::err).substr(2);
      line.line = place->line;
    } else {
      line.source = own_stream;
      line.line = 0;
    }
  };
  const auto cite_finding = [&](diagnose::Finding& finding) {
    std::ranges::for_each(finding.evidence, cite);
    std::ranges::for_each(finding.following, cite);
  };
  if (diagnosis.cause) cite_finding(*diagnosis.cause);
  std::ranges::for_each(diagnosis.also_seen, cite_finding);
  if (diagnosis.first_failing) cite(diagnosis.first_failing->evidence);
  std::ranges::for_each(diagnosis.salient_lines, cite);
  return diagnosis;
}

}  // namespace ddlrun::launch
