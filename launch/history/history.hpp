// SPDX-License-Identifier: MIT
// The runs of this user in rows: when, how long, what, where, how it ended. Pure.
#pragma once

#include "launch/history/run_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// unseen: it has no end, and its ddlrun is not there any more. elsewhere: on a host that we cannot look at.
enum class RunState { ended, running, unseen, elsewhere, damaged };

struct HistoryRow {
  std::string id;
  std::string directory;
  RunState state = RunState::ended;
  std::string start;  // "2026-11-21T03:19:14Z"
  std::optional<std::int64_t> seconds;
  std::string dims;   // or "8 ranks"
  std::string hosts;  // folded
  std::string program;
  std::string title;          // the program with base names: "python3 train.py --epochs 3"
  int exit_status = 0;        // ended
  bool cancelled = false;     // ended by Ctrl-C, cancel or the end of its job
  bool saved = false;         // its program saved its state and can continue
  bool timed_out = false;     // its job reached its time limit
  std::string running_on;     // the host of its ddlrun, where that is another one
  std::string first_failure;  // "rank 3 on h2: signal 9"
  std::string problem;        // damaged: why
  std::string replay_of;
  std::string job;                      // the scheduler's, or ""
  std::string result;                   // the file that rank 0 wrote as its result, or ""
  std::optional<double> test_accuracy;  // of the bundled trainer, after its last epoch

  bool failed() const {
    return (state == RunState::unseen && !cancelled) ||
           (state == RunState::ended && (exit_status != 0 || timed_out) && !cancelled && !saved);
  }
};

// Why a run has no end.
constexpr std::string_view unseen_end = "ddlrun was killed, the host went down, or the disk was full";

// The command with the base names of the program and its script.
std::string program_title(std::vector<std::string> program);

// `now` in seconds since 1970: how long a running one has run.
HistoryRow history_row(const RunRecord& run, const std::string& directory, RunState state, std::int64_t now);

// The run goes on, though it is of another host.
void set_running_on(HistoryRow& row, const RunRecord& run, std::int64_t now);

// What the scheduler reports of the job of a run.
enum class RunJob { unknown, running, over, timed_out, cancelled };

// A run that ended with its job, seen or unseen, or that runs on another host, shows what its job shows.
// `cause`: why the job ended badly, or "".
void add_job(HistoryRow& row, const RunRecord& run, RunJob job, const std::string& cause, std::int64_t now);

// "ok", "saved", "timed out", "status 7", "signal 9", "cancelled", "running", "ended unseen", "unknown (on
// h9)", "damaged".
std::string status_words(const HistoryRow& row);

// "ok", "status 7", "signal 9".
std::string end_words(int exit_status);

// Long programs are cut, so that the first failure begins within `most_columns`; it is never cut itself.
std::string render_history_table(const std::vector<HistoryRow>& rows, std::size_t most_columns);
// "schema": "ddlrun.history/1".
std::string render_history_json(const std::vector<HistoryRow>& rows);

// 59 -> "0:59", 3723 -> "1:02:03".
std::string render_duration(std::int64_t seconds);

}  // namespace ddlrun::launch
