// SPDX-License-Identifier: MIT
#include "schedulers/client/scheduler_access.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace ddlrun::schedulers {

namespace {

constexpr std::chrono::seconds command_timeout{60}, list_timeout{10};
constexpr std::array<std::pair<SchedulerKind, std::string_view>, 4> kinds{{{SchedulerKind::slurm, "slurm"},
                                                                           {SchedulerKind::pbs, "pbs"},
                                                                           {SchedulerKind::torque, "torque"},
                                                                           {SchedulerKind::local, "local"}}};

std::optional<SchedulerKind> kind_of(const std::string& name) {
  for (const auto& [kind, word] : kinds) {
    if (word == name) return kind;
  }
  return std::nullopt;
}

CommandRunner runner_within(System& system, std::chrono::seconds timeout) {
  return [&system, timeout](const Command& command) {
    ProcessLimits limits;
    limits.timeout = timeout;
    return system.processes.run(command, limits);
  };
}

}  // namespace

CommandRunner scheduler_runner(System& system) { return runner_within(system, command_timeout); }

CommandRunner ask_once(System& system) {
  // Shared: a CommandRunner is a copy.
  auto answers = std::make_shared<std::map<Command, ProcessResult>>();
  return [answers, ask = runner_within(system, list_timeout)](const Command& command) {
    const auto known = answers->find(command);
    return known != answers->end() ? known->second : answers->emplace(command, ask(command)).first->second;
  };
}

std::string_view name_of(SchedulerKind kind) {
  for (const auto& [known, word] : kinds) {
    if (known == kind) return word;
  }
  return "local";
}

SchedulerKind parse_scheduler(const std::string& name) {
  const auto kind = kind_of(name);
  if (kind) return *kind;
  throw Error(ErrorKind::usage, {fmt::format("'{}' is no scheduler", printable(name, 60)), "",
                                 "one of slurm, pbs, torque, local"});
}

SchedulerKind find_scheduler(System& system) {
  const CommandRunner ask = runner_within(system, list_timeout);
  const auto found_in_path = [&](const std::string& tool) { return !find_program(system, tool).empty(); };
  const auto kind = detect_scheduler(found_in_path, system.environment.variables, ask);
  if (kind) return *kind;
  throw Error(ErrorKind::request,
              {"there is no scheduler on this machine: neither sbatch nor qsub is in PATH",
               system.environment.host_name,
               "--local to run here; --slurm or --pbs with --dry-run to see the script"});
}

}  // namespace ddlrun::schedulers
