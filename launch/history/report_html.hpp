// SPDX-License-Identifier: MIT
// One run as one HTML page that needs nothing else: no network, no script; styles and pictures inside. Pure:
// the caller has read the files.
#pragma once

#include "launch/history/history.hpp"
#include "launch/history/run_record.hpp"
#include "launch/history/training.hpp"
#include "launch/monitor/stall_text.hpp"
#include "launch/monitor/usage_timeline.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

constexpr std::size_t most_rank_rows = 512;

struct ReportPicture {
  std::string title;
  std::string svg;  // as a file; made to stand inside the page
};

struct ReportInput {
  RunRecord run;
  RunState state = RunState::ended;
  std::optional<std::int64_t> seconds;  // how long it took, or has run
  std::string directory;
  std::string command_line;              // that started it, to be pasted
  std::vector<ReportPicture> machines;   // with the ranks of one host each
  std::optional<Standstill> standstill;  // now
  std::optional<UsageTimeline> usage;    // of the ranks; nothing where launch has written none
  std::optional<Training> training;
  std::string metrics_file;               // where that was read
  std::string timeline;                   // a file, or ""
  std::string first_log;                  // the file of the rank that failed first, or ""
  std::vector<std::string> first_lines;   // its last lines
  std::vector<std::string> notes;         // what could not be read, and why
  std::vector<HistoryRow> job_runs = {};  // all runs of its job, oldest first
  std::string made;                       // "ddlrun 0.1.0, 2026-11-21T03:19:14Z"
};

std::string render_report_html(const ReportInput& input);

}  // namespace ddlrun::launch
