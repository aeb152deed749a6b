// SPDX-License-Identifier: MIT
// The stderr of a launch as `diagnose` reads it: each line with its rank, where that is known. Pure.
#pragma once

#include "doctor/diagnose/stream_analyzer.hpp"
#include "launch/run/stream_lines.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

class StderrAnalysis {
 public:
  // With `cites_files`, the diagnosis cites the files of the ranks. Without `signatures`: the built-in ones.
  StderrAnalysis(std::uint32_t ranks, bool cites_files, diagnose::SignatureSource signatures = {});

  // A line, or a part of one, of a rank or of the launcher. Parts that follow each other make one line only
  // if they are of the same rank.
  void take(std::string_view line, std::optional<std::uint32_t> rank);
  // A line of launch's own.
  void take_report(const std::string& line);
  void set_host(std::uint32_t rank, const std::string& host) { lines_.set_host(rank, host); }
  diagnose::Diagnosis diagnosis(const diagnose::RunStatus& end);
  // Replaces lines of the stream by those of the ranks' files.
  diagnose::Diagnosis cite(diagnose::Diagnosis found) const;

 private:
  bool cites_files_;
  diagnose::StreamAnalyzer lines_;
  StreamLines stream_lines_;  // of lines_
  bool in_line_ = false;      // the last part had no newline
  std::optional<std::uint32_t> line_rank_;
};

}  // namespace ddlrun::launch
