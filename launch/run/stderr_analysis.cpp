// SPDX-License-Identifier: MIT
#include "launch/run/stderr_analysis.hpp"

#include <fmt/format.h>

#include <utility>

namespace ddlrun::launch {

StderrAnalysis::StderrAnalysis(std::uint32_t ranks, bool cites_files, diagnose::SignatureSource signatures)
    : cites_files_(cites_files), lines_("stderr", std::move(signatures)) {
  lines_.set_rank_count(ranks);
}

// With the rank in the form of --tag-output, which diagnose reads.
void StderrAnalysis::take(std::string_view line, std::optional<std::uint32_t> rank) {
  if (line.empty()) return;
  if (in_line_ && rank != line_rank_) {
    lines_.take("\n");
    in_line_ = false;
  }
  line_rank_ = rank;
  if (cites_files_) stream_lines_.take(line, rank, !in_line_);
  if (rank && !in_line_) lines_.take(fmt::format("[1,{}]<stderr>:", *rank));
  lines_.take(line);
  in_line_ = line.back() != '\n';
}

void StderrAnalysis::take_report(const std::string& line) {
  if (in_line_) take("\n", line_rank_);
  take(line + "\n", std::nullopt);
}

diagnose::Diagnosis StderrAnalysis::diagnosis(const diagnose::RunStatus& end) {
  return lines_.diagnosis(end);
}

diagnose::Diagnosis StderrAnalysis::cite(diagnose::Diagnosis found) const {
  return cites_files_ ? cite_rank_files(std::move(found), stream_lines_) : found;
}

}  // namespace ddlrun::launch
