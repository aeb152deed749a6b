// SPDX-License-Identifier: MIT
#include "launch/run/launch_restart.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "launch/monitor/restart.hpp"
#include "topology/sources/slurm_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace ddlrun::launch {

namespace {

constexpr std::chrono::seconds poll_interval{5};

// A node of a Slurm job that srun does not reach yet is asked over ssh too.
bool is_back(System& system, const std::string& host, topology::HostPath path) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(15);
  const bool has_step = path == topology::HostPath::automatic && topology::has_slurm_path(system, {host});
  if (has_step && system.processes.run(topology::plan_trial_step(system.environment, {host}), limits).ok())
    return true;
  return system.processes
      .run({"ssh", "-x", "-o", "BatchMode=yes", "-o", "ForwardAgent=no", "-o", "ConnectTimeout=5", "--", host,
            "true"},
           limits)
      .ok();
}

// True once all of them answer; false when time is up or a signal came (`signal`).
bool wait_for_hosts(System& system, std::vector<std::string> hosts, std::chrono::seconds limit,
                    topology::HostPath path, int& signal) {
  const auto until = system.clock.steady() + limit;
  system.err(fmt::format("ddlrun: waiting for {}, at most {} s (--host-timeout)\n", fold_host_list(hosts),
                         limit.count()));
  while (true) {
    std::erase_if(hosts, [&](const std::string& host) { return is_back(system, host, path); });
    if (hosts.empty()) return true;
    if (system.clock.steady() >= until) break;
    signal = system.clock.pause(poll_interval);
    if (signal != 0) return false;
  }
  system.err(render_error(
      "ddlrun", {fmt::format("{} did not come back within {} s", fold_host_list(hosts), limit.count()), "",
                 "--on-host-failure shrink, or a longer --host-timeout"}));
  return false;
}

// Also with -q: the reason is part of how the job ended.
void print_no_restart(System& system, const RestartDecision& decision) {
  const std::string what = "not started again: " + decision.why;
  if (!decision.hint.empty()) return system.err(render_error("ddlrun", {what, "", decision.hint}));
  system.show("ddlrun: " + what + "\n");
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The counts of the remaining hosts, where -H gave each its own.
void remove_lost_counts(const std::vector<std::string>& before, const std::vector<std::string>& left,
                        std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (has_word(left, before[i])) kept.push_back(counts[i]);
  }
  counts = std::move(kept);
}

}  // namespace

LaunchSpec next_start(LaunchSpec spec, const AttemptResult& last, const RestartDecision& decision) {
  RestartSpec& restart = spec.restart;
  ++restart.number;
  restart.restart_of = base_name(last.run_dir);
  if (spec.shape.rankfile.empty()) {
    spec = with_dims(std::move(spec), decision.dims);
    remove_lost_counts(last.hosts, decision.hosts, spec.shape.host_ranks);
    spec.shape.hosts = decision.hosts;
    spec.shape.filled_hosts.clear();
  }
  if (restart.number == 1) {
    restart.first_program = spec.program;
    spec.program.insert(spec.program.end(), restart.arguments.begin(), restart.arguments.end());
    const bool saves = last.is_trainer && has_word(spec.program, "--checkpoint");
    if (saves && !has_word(spec.program, "--resume")) spec.program.emplace_back("--resume");
  }
  if (!spec.run_dir.empty()) spec.run_dir = fmt::format("{}.{}", spec.run_dir, restart.number);
  return spec;
}

int run_with_restarts(System& system, LaunchSpec spec, const Attempt& attempt) {
  while (true) {
    const AttemptResult last = attempt(system, spec);
    if (spec.restart.policy.most == 0 || last.run_dir.empty() || last.end.status == 0) return last.end.status;
    const RestartDecision decision =
        plan_restart(spec.restart.policy, {last.end.status, last.end.stop_signal, last.hosts, last.dims,
                                           last.end.lost_hosts, spec.restart.number});
    if (!decision.again) {
      print_no_restart(system, decision);
      return last.end.status;
    }
    system.err(fmt::format("ddlrun: starting again: {}\n", decision.why));
    int signal = 0;
    if (!decision.wait_for.empty() &&
        !wait_for_hosts(system, decision.wait_for, spec.restart.host_timeout, last.path, signal)) {
      if (signal == 0) return exit_code(ErrorKind::unreachable);
      RestartDecision stopped;
      stopped.why = "stopped by " + describe_signal(signal);
      print_no_restart(system, stopped);
      return 128 + signal;
    }
    spec = next_start(std::move(spec), last, decision);
  }
}

}  // namespace ddlrun::launch
