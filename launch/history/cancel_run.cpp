// SPDX-License-Identifier: MIT
#include "launch/history/cancel_run.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/history/run_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

namespace ddlrun::launch {

namespace {

constexpr auto longest_end = std::chrono::seconds(30);

[[noreturn]] void refuse_distant_run(const RunRecord& run, const std::string& word) {
  const std::string host = printable(run.host, 80);
  // The shell here and the shell there read the word.
  const std::string there =
      "ssh -- " + quote_shell(run.host) + " " + quote_shell("ddlrun cancel " + quote_shell(word));
  throw Error(
      ErrorKind::request,
      {"the run is on host " + host + ", where its ddlrun has the ranks", printable(word, 80),
       run.job.empty() ? there : "ddlrun cancel " + quote_shell(run.job) + "   # its job; or " + there});
}

std::string wait_for_end(System& system, const std::string& directory, std::uint64_t pid) {
  const auto give_up = system.clock.steady() + longest_end;
  while (system.clock.steady() < give_up) {
    const RunRecord run = read_run(system, directory, false);
    if (find_run_state(system, run) != RunState::running)
      return run.end ? fmt::format("is ended (exit status {})", run.end->exit_status) : "is ended";
    if (system.clock.pause(std::chrono::milliseconds(200)) != 0) break;
  }
  throw Error(ErrorKind::request,
              {fmt::format("ddlrun (process {}) has the TERM, but still runs", pid), directory,
               fmt::format("kill -9 {}   # its guardian ends the ranks", pid)});
}

}  // namespace

bool names_run(const std::string& word) {
  // No job's id has it: a local one begins with a PID, of seven digits at most.
  constexpr std::string_view form = "00000000-0";
  if (word.find('/') != std::string::npos) return true;
  return word.size() >= form.size() &&
         std::equal(form.begin(), form.end(), word.begin(), [](char expected, char found) {
           return expected == '0' ? found >= '0' && found <= '9' : expected == found;
         });
}

std::string find_other_running(System& system, const std::string& word) {
  constexpr std::size_t most_looked_at = 200;
  std::size_t looked_at = 0;
  for (const ListedRun& listed : list_runs(system)) {
    if (++looked_at > most_looked_at) break;
    if (listed.id == word || listed.directory == word) continue;
    try {
      if (find_run_state(system, read_run(system, listed.directory, false)) == RunState::running)
        return listed.id;
    } catch (const Error&) {
      continue;  // a damaged record runs nothing
    }
  }
  return {};
}

Cancellation cancel_run(System& system, const std::string& word) {
  const std::string directory = find_run_directory(system, word);
  const RunRecord run = read_run(system, directory, false);
  switch (find_run_state(system, run)) {
    case RunState::ended:
      return {true, fmt::format("is over already: exit status {}", run.end->exit_status)};
    case RunState::unseen:
      return {true, "is over already: its ddlrun no longer runs"};
    case RunState::running:
      break;
    default:
      refuse_distant_run(run, word);
  }
  // Gone in this instant, or of another user.
  if (!system.processes.send_signal(run.process.pid, run.process.started_ticks, SIGTERM) &&
      find_run_state(system, run) == RunState::running)
    throw Error(ErrorKind::request,
                {fmt::format("ddlrun (process {}) belongs to another user", run.process.pid), directory,
                 "the user who started it can cancel it"});
  return {false, wait_for_end(system, directory, run.process.pid)};
}

}  // namespace ddlrun::launch
