// SPDX-License-Identifier: MIT
#include "launch/history/history.hpp"

#include "base/text/host_list.hpp"
#include "base/text/interpreter.hpp"
#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "launch/rank/status_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace ddlrun::launch {

namespace {

using Columns = std::array<std::string, 9>;
constexpr std::size_t time_column = 2, job_column = 3, program_column = 7, failure_column = 8;
using Widths = std::array<std::size_t, std::tuple_size_v<Columns>>;

std::string failure_text(const RunFailure& failure) {
  if (failure.alike > 0)
    return fmt::format("all {} ranks alike: status {}", failure.alike, failure.exit_status);
  if (failure.differ.size() == 2)
    return fmt::format("ranks {} and {} make different calls", failure.differ[0], failure.differ[1]);
  if (!failure.with.empty()) {
    const auto all = failure.all();
    return fmt::format("ranks {} within 1 s: status {}", name_ends(all), render_statuses(all));
  }
  const std::string how = failure.start_error != 0 ? describe_start_error(failure.start_error)
                          : failure.signal != 0    ? fmt::format("signal {}", failure.signal)
                          : failure.exit_status != 0 && failure.absence.empty()
                              ? fmt::format("status {}", failure.exit_status)
                              : printable(failure.words(), 120);
  return fmt::format("rank {} on {}: {}", failure.rank, printable(failure.host, 60), how);
}

// Who stands still, without the process. An exception that the note names may have colons.
std::string_view stall_head(std::string_view stall) {
  for (const std::string_view mark : {"; it has ", ": process ", ":"})
    if (const auto at = stall.find(mark); at != std::string_view::npos) return stall.substr(0, at);
  return stall;
}

// What is known of the first failure; "" for a run that went well or still runs.
std::string first_failure_of(const RunRecord& run, RunState state) {
  const bool is_stall = run.watched && !run.watched->stall.empty();
  if (const RunFailure* failure = run.first_failure(); failure != nullptr && !is_stall)
    return failure_text(*failure);
  if (!run.end) return state == RunState::unseen ? std::string(unseen_end) : "";
  if (run.end->exit_status == 0 || run.end->is_saved()) return {};
  if (run.end->is_cancelled()) return "stopped by " + describe_signal(run.end->stopped_by);
  if (is_stall) return "ended because of a stall: " + printable(stall_head(run.watched->stall), 200);
  if (run.watched && !run.watched->lost_hosts.empty())
    return fmt::format("host {} was lost", printable(run.watched->lost_hosts.front(), 60));
  const std::string_view cause = trim(std::string_view(run.diagnosis).substr(0, run.diagnosis.find('\n')));
  if (!cause.empty()) return printable(cause, 120);
  return fmt::format("{} ended with {}; no rank reported an end",
                     run.launcher.empty() ? "the launcher" : run.launcher,
                     run.end->signal != 0 ? fmt::format("signal {}", run.end->signal)
                                          : fmt::format("status {}", run.end->exit_status));
}

// "2026-11-21 03:19" of "2026-11-21T03:19:14Z".
std::string short_time(const std::string& time) {
  if (time.size() < 16) return time.empty() ? "-" : printable(time, 20);
  return time.substr(0, 10) + " " + time.substr(11, 5);
}

std::string or_dash(std::string text) { return text.empty() ? "-" : std::move(text); }

Columns columns_of(const HistoryRow& row) {
  const std::string last = row.state == RunState::damaged ? printable(row.problem, 80) : row.first_failure;
  return {
      printable(row.id, 40),
      short_time(row.start),
      row.seconds ? render_duration(*row.seconds) : "-",
      or_dash(printable(row.job, 30)),
      or_dash(printable(row.dims, 20)),
      or_dash(printable(row.hosts, 30)),
      status_words(row) + (row.test_accuracy ? fmt::format(", {:.1f} %", 100.0 * *row.test_accuracy) : ""),
      or_dash(printable(row.title, 120)),
      last};
}

// So wide that the first failure, which is behind it, begins within the line; at least as wide as most names.
std::size_t program_width(const Widths& width, bool has_jobs, std::size_t most_columns) {
  constexpr std::size_t least_program = 24, failure_shown = 32;
  std::size_t others = std::min(width[failure_column], failure_shown);
  for (std::size_t i = 0; i < failure_column; ++i)
    if (i != program_column && (i != job_column || has_jobs)) others += width[i] + 2;
  const std::size_t room = most_columns > others + 2 ? most_columns - others - 2 : 0;
  return std::min(width[program_column], std::max(room, least_program));
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : printable(text, most - 3);
}

}  // namespace

std::string program_title(std::vector<std::string> program) {
  if (program.empty()) return {};
  const auto script = find_script(program);
  for (const std::size_t at : {std::size_t{0}, script.value_or(0)}) program[at] = base_name(program[at]);
  return render_shell(program);
}

std::string render_duration(std::int64_t seconds) {
  seconds = std::max<std::int64_t>(seconds, 0);
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

HistoryRow history_row(const RunRecord& run, const std::string& directory, RunState state, std::int64_t now) {
  HistoryRow row;
  row.id = run.id;
  row.directory = directory;
  row.state = state;
  row.start = run.start;
  const auto start = parse_run_time(run.start);
  const auto end = run.end ? parse_run_time(run.end->time) : std::optional<std::int64_t>();
  if (start && end) row.seconds = *end - *start;
  if (start && state == RunState::running) row.seconds = now - *start;
  row.dims =
      run.dims.empty() ? fmt::format("{} rank{}", run.rank_count, run.rank_count == 1 ? "" : "s") : run.dims;
  row.hosts = state == RunState::elsewhere && run.hosts.empty() ? run.host : fold_host_list(run.hosts);
  if (state == RunState::elsewhere) row.running_on = run.host;
  row.program = render_shell(run.program);
  row.title = program_title(run.program);
  row.job = run.job;
  if (run.end) row.exit_status = run.end->exit_status;
  row.cancelled = run.end && run.end->is_cancelled();
  row.saved = run.end && run.end->is_saved();
  row.first_failure = first_failure_of(run, state);
  row.replay_of = run.replay_of;
  row.result = run.result;
  return row;
}

void set_running_on(HistoryRow& row, const RunRecord& run, std::int64_t now) {
  row.state = RunState::running;
  row.running_on = run.host;
  if (const auto start = parse_run_time(run.start)) row.seconds = now - *start;
}

void add_job(HistoryRow& row, const RunRecord& run, RunJob job, const std::string& cause, std::int64_t now) {
  if (row.state == RunState::elsewhere && job == RunJob::running) {
    set_running_on(row, run, now);
  } else if (row.state == RunState::elsewhere && job != RunJob::unknown) {
    row.state = RunState::unseen;
    row.first_failure = first_failure_of(run, row.state);
  }
  const bool is_unseen = row.state == RunState::unseen && job != RunJob::unknown && job != RunJob::running;
  if (!is_unseen && (job != RunJob::timed_out || !row.cancelled)) return;
  row.cancelled = job == RunJob::cancelled;
  row.timed_out = job == RunJob::timed_out;
  if (run.first_failure() != nullptr) return;
  if (!cause.empty())
    row.first_failure = printable(cause, 200);
  else if (row.timed_out)
    row.first_failure = "its job used up its time limit";
  else if (row.cancelled)
    row.first_failure = "its job was cancelled";
}

std::string status_words(const HistoryRow& row) {
  switch (row.state) {
    case RunState::running:
      return row.running_on.empty() ? "running" : "running on " + printable(row.running_on, 60);
    case RunState::unseen:
      if (row.timed_out) return "timed out";
      return row.cancelled ? "cancelled" : "ended unseen";
    case RunState::elsewhere:
      return row.running_on.empty() ? "not known here"
                                    : "not known here, see " + printable(row.running_on, 60);
    case RunState::damaged:
      return "damaged";
    case RunState::ended:
      break;
  }
  if (row.exit_status == 0 && !row.cancelled && !row.timed_out) return end_words(0);
  if (row.saved) return "saved";
  if (row.timed_out) return "timed out";
  if (row.cancelled) return "cancelled";
  return end_words(row.exit_status);
}

std::string end_words(int exit_status) {
  if (exit_status == 0) return "ok";
  return exit_status > 128 && exit_status <= 128 + 64 ? fmt::format("signal {}", exit_status - 128)
                                                      : fmt::format("status {}", exit_status);
}

std::string render_history_table(const std::vector<HistoryRow>& rows, std::size_t most_columns) {
  std::vector<Columns> table{
      {"RUN", "STARTED (UTC)", "TIME", "JOB", "RANKS", "HOSTS", "RESULT", "PROGRAM", "FIRST FAILURE"}};
  for (const HistoryRow& row : rows) table.push_back(columns_of(row));
  const bool has_jobs = std::ranges::any_of(rows, [](const HistoryRow& row) { return !row.job.empty(); });
  Widths width{};
  for (const Columns& columns : table)
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], columns[i].size());
  if (const std::size_t most = program_width(width, has_jobs, most_columns); most < width[program_column]) {
    for (Columns& columns : table) columns[program_column] = shortened(columns[program_column], most);
    width[program_column] = most;
  }
  std::string text;
  for (const Columns& columns : table) {
    std::string line;
    for (std::size_t i = 0; i < width.size(); ++i) {
      if (i == job_column && !has_jobs) continue;
      line += i == time_column ? fmt::format("{:>{}}  ", columns[i], width[i])
                               : fmt::format("{:<{}}  ", columns[i], width[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace ddlrun::launch
