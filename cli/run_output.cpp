// SPDX-License-Identifier: MIT
#include "cli/run_output.hpp"

#include "base/os/host_info.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/run_ids.hpp"
#include "launch/history/run_store.hpp"
#include "launch/monitor/rank_files.hpp"
#include "schedulers/client/job_log.hpp"
#include "schedulers/client/submitted_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace ddlrun::cli {

namespace {

using launch::RunRecord;
using launch::RunState;
using schedulers::LogPrinter;

constexpr std::chrono::milliseconds look_every{500};

bool keeps_output(const RunRecord& run) {
  return run.output.find("files") != std::string::npos || run.output.find("tee") != std::string::npos;
}

[[noreturn]] void refuse_without_output(const std::string& directory, const std::string& run, RunState state,
                                        const RunRecord& record) {
  const std::string word = quote_shell(printable(run, 200));
  const bool has_words = !record.diagnosis.empty() || !record.last_lines.empty();
  const std::string hint = state == RunState::running ? "ddlrun top " + word + "   # how its ranks stand"
                           : has_words                ? "ddlrun diagnose " + word + "   # its last lines"
                                                      : "ddlrun report " + word + "   # how it ended";
  throw Error(ErrorKind::request,
              {"launch kept no output of this run: that needs --tee or --rank-output files", directory,
               hint + "; for the next run: ddlrun launch --tee"});
}

// Files of the ranks that have nothing in them yet.
void report_empty_files(System& system, const std::string& run, RunState state, const RunRecord& record) {
  const std::string word = quote_shell(printable(run, 200));
  if (state == RunState::running || state == RunState::elsewhere)
    system.err(fmt::format(
        "ddlrun: the ranks of run {0} have written nothing yet; ddlrun logs -f {0} follows\n", word));
  else if (record.end)
    system.err(fmt::format("ddlrun: the ranks of run {} wrote nothing; it ended with status {}\n", word,
                           record.end->exit_status));
  else
    system.err(fmt::format("ddlrun: the ranks of run {} wrote nothing; its end is unknown\n", word));
}

std::vector<std::string> rank_files(const std::string& directory, std::uint64_t ranks) {
  std::vector<std::string> files;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (const auto stream : {launch::RankStream::out, launch::RankStream::err})
      files.push_back(launch::rank_file(directory, rank, stream));
  return files;
}

LogPrinter rank_logs(const std::string& directory, std::uint64_t ranks) {
  LogPrinter logs;
  for (const std::string& file : rank_files(directory, ranks)) logs.add(file);
  return logs;
}

// Prints what the files of `logs` get until then. `again`: the command that waits on.
RunWait wait_for_end(System& system, const std::string& directory, RunRecord record, LogPrinter logs,
                     std::string_view again) {
  const std::string word = quote_shell(printable(record.id, 80));
  while (true) {
    const RunState state = launch::find_run_state(system, record);
    logs.print_new(system);
    if (state == RunState::ended || state == RunState::unseen) break;
    if (const int signal = system.clock.pause(look_every); signal != 0) {
      logs.end_line(system);
      system.err(
          fmt::format("ddlrun: run {0} left alone, it goes on; ddlrun {1} {0} follows\n", word, again));
      return {128 + signal, true};
    }
    record = launch::read_run(system, directory, false);
  }
  logs.end_line(system);
  if (!record.end)
    throw Error(ErrorKind::request, {"the run has no end in its record, and does not run here any more",
                                     directory, "ddlrun diagnose " + word});
  const int status = record.end->exit_status;
  const std::string end = fmt::format("ddlrun: run {} has ended with status {}\n", word, status);
  if (status == 0 || record.end->is_saved())
    system.err(end);
  else
    system.show(end);
  return {record.end->exit_status, false};
}

// Of the job directory itself, or of one task of an array: its log, and what PBS caught.
std::vector<std::string> logs_in(System& system, const std::string& job_dir, const std::string& task) {
  const std::string end = task.empty() ? ".log" : "." + task + ".log";
  std::vector<std::string> logs;
  for (const char* name : {"/output", "/scheduler"})
    if (system.files.exists(job_dir + name + end)) logs.push_back(job_dir + name + end);
  return logs;
}

// A job script that somebody handed in by hand makes "run.ID" in its job directory, beside its log. ddlrun's
// list of jobs has no such job, and its scheduler may not be asked from here.
std::vector<std::string> job_logs_of(System& system, const std::string& run_dir) {
  constexpr std::string_view lead = "run.";
  const std::string_view name = base_name(run_dir);
  if (!name.starts_with(lead)) return {};
  const std::string task = schedulers::parts_of(std::string(name.substr(lead.size()))).task;
  return logs_in(system, directory_of(run_dir), task.substr(0, task.find('.')));  // "3.requeue1"
}

LogPrinter untitled(const std::vector<std::string>& files) {
  LogPrinter logs;
  for (const std::string& file : files) logs.add(file, LogPrinter::Title::none);
  return logs;
}

// Of a job's directory: of an array, the log of each task.
std::vector<std::string> logs_of_job_directory(System& system, const std::string& directory) {
  if (auto logs = logs_in(system, directory, ""); !logs.empty() || system.kernel == nullptr) return logs;
  std::vector<std::string> logs;
  for (const std::string& name : system.kernel->list_directory(directory))
    if (name.starts_with("output.") && name.ends_with(".log")) logs.push_back(directory + "/" + name);
  std::ranges::sort(logs);
  return logs;
}

// "" where none of its runs has begun.
std::string newest_run_in(System& system, const std::string& job_dir) {
  std::string newest;
  std::int64_t newest_start = 0;
  for (const std::string& name : system.kernel->list_directory(job_dir)) {
    const std::string directory = job_dir + "/" + name;
    if (!name.starts_with("run.") || !system.files.exists(directory + "/run.json")) continue;
    const auto start = static_cast<std::int64_t>(launch::read_run(system, directory, false).start_us);
    if (!newest.empty() && start < newest_start) continue;
    newest = directory;
    newest_start = start;
  }
  return newest;
}

}  // namespace

bool names_job_directory(System& system, const std::string& word) {
  const bool is_path = word.find('/') != std::string::npos;
  if (!is_path || system.files.exists(word + "/run.json")) return false;
  return !logs_of_job_directory(system, word).empty();
}

int print_job_directory(System& system, const std::string& directory, bool follow) {
  const auto files = logs_of_job_directory(system, directory);
  LogPrinter logs;
  for (const std::string& file : files)
    logs.add(file, files.size() > 1 ? LogPrinter::Title::path : LogPrinter::Title::none);
  const std::string run =
      follow && system.kernel != nullptr ? newest_run_in(system, directory) : std::string();
  if (!run.empty())
    return wait_for_end(system, run, launch::read_run(system, run, false), std::move(logs), "logs -f").status;
  logs.print_new(system);
  logs.end_line(system);
  if (follow)
    throw Error(ErrorKind::request,
                {"no run of ddlrun launch has begun in this job's directory, so its end is not seen",
                 directory, "ddlrun logs " + quote_shell(printable(directory, 200))});
  return 0;
}

void print_run_output(System& system, const std::string& run) {
  const std::string directory = launch::find_run_directory(system, run);
  const RunRecord record = launch::read_run(system, directory, false);
  LogPrinter logs = rank_logs(directory, record.rank_count);
  logs.print_new(system);
  logs.end_line(system);
  if (logs.any_printed()) return;
  const RunState state = launch::find_run_state(system, record);
  if (!keeps_output(record)) {
    LogPrinter of_job = untitled(job_logs_of(system, directory));
    of_job.print_new(system);
    of_job.end_line(system);
    if (of_job.seen()) return;
  }
  if (!keeps_output(record)) refuse_without_output(directory, run, state, record);
  report_empty_files(system, run, state, record);
}

int follow_run_output(System& system, const std::string& run) {
  const std::string directory = launch::find_run_directory(system, run);
  RunRecord record = launch::read_run(system, directory, false);
  const auto of_job = keeps_output(record) ? std::vector<std::string>() : job_logs_of(system, directory);
  if (!keeps_output(record) && of_job.empty())
    refuse_without_output(directory, run, launch::find_run_state(system, record), record);
  LogPrinter logs = of_job.empty() ? rank_logs(directory, record.rank_count) : untitled(of_job);
  return wait_for_end(system, directory, std::move(record), std::move(logs), "logs -f").status;
}

RunWait wait_for_run(System& system, const std::string& run) {
  const std::string directory = launch::find_run_directory(system, run);
  return wait_for_end(system, directory, launch::read_run(system, directory, false), LogPrinter(), "wait");
}

std::vector<std::string> JobRankFiles::find_new(System& system) {
  std::vector<std::string> files;
  for (const std::string& directory : list_run_directories(system, job_)) {
    if (known_.contains(directory)) continue;
    try {
      const RunRecord record = launch::read_run(system, directory, false);
      known_.insert(directory);
      // With --tee the job's log has it too.
      if (record.output.find("files") == std::string::npos) continue;
      for (std::string& file : rank_files(directory, record.rank_count)) files.push_back(std::move(file));
    } catch (const Error&) {
      continue;  // not written yet, or damaged
    }
  }
  return files;
}

}  // namespace ddlrun::cli
