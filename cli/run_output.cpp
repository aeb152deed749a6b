// SPDX-License-Identifier: MIT
#include "cli/run_output.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "cli/run_ids.hpp"
#include "launch/history/run_store.hpp"
#include "launch/monitor/rank_files.hpp"
#include "schedulers/client/job_log.hpp"

#include <fmt/format.h>

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

}  // namespace

void print_run_output(System& system, const std::string& run) {
  const std::string directory = launch::find_run_directory(system, run);
  const RunRecord record = launch::read_run(system, directory, false);
  LogPrinter logs = rank_logs(directory, record.rank_count);
  logs.print_new(system);
  logs.end_line(system);
  if (logs.any_printed()) return;
  const RunState state = launch::find_run_state(system, record);
  if (!keeps_output(record)) refuse_without_output(directory, run, state, record);
  report_empty_files(system, run, state, record);
}

int follow_run_output(System& system, const std::string& run) {
  const std::string directory = launch::find_run_directory(system, run);
  RunRecord record = launch::read_run(system, directory, false);
  if (!keeps_output(record))
    refuse_without_output(directory, run, launch::find_run_state(system, record), record);
  LogPrinter logs = rank_logs(directory, record.rank_count);
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
