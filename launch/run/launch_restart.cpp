// SPDX-License-Identifier: MIT
#include "launch/run/launch_restart.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/signal_name.hpp"
#include "base/text/text.hpp"
#include "launch/monitor/restart.hpp"
#include "launch/plan/job_framework.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace ddlrun::cli {

namespace {

using launch::RestartDecision;
using launch::RestartPolicy;

constexpr unsigned most_restarts = 1000;
constexpr unsigned longest_wait = 7 * 24 * 3600;
constexpr std::chrono::seconds between_looks{5};

unsigned restart_number(const char* option, const std::string& text, unsigned most) {
  const auto number = parse_unsigned(text, most);
  if (number) return static_cast<unsigned>(*number);
  throw Error(ErrorKind::usage, {fmt::format("'{}' is no number from 0 to {}", printable(text, 40), most),
                                 option, fmt::format("{} 3", option)});
}

RestartPolicy restart_policy(const LaunchOptions& options) {
  RestartPolicy policy;
  policy.most = restart_number("--max-restarts", options.max_restarts, most_restarts);
  policy.lost = launch::parse_lost_hosts(options.on_lost_host);
  policy.dims_were_given = !options.dims.empty() || !options.accelerators.empty() ||
                           !options.host_ranks.empty() || !options.framework.workers.empty() ||
                           !options.rankfile.empty();
  if (policy.lost == launch::LostHosts::leave_out && !options.rankfile.empty()) {
    throw Error(ErrorKind::usage,
                {"a rankfile names its hosts: none can be left out", "--on-host-failure shrink",
                 "--on-host-failure wait, or DIMS instead of --rankfile"});
  }
  if (policy.most == 0 && (options.on_lost_host != "auto" || !options.restart_arguments.empty())) {
    throw Error(ErrorKind::usage, {"what to do at a restart is said, but there is to be none",
                                   "--on-host-failure, --restart-arg", "--max-restarts 3"});
  }
  return policy;
}

bool is_back(System& system, const std::string& host) {
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(15);
  return system.processes
      .run({"ssh", "-x", "-o", "BatchMode=yes", "-o", "ForwardAgent=no", "-o", "ConnectTimeout=5", "--", host,
            "true"},
           limits)
      .ok();
}

// True once all of them answer; false when time is up or a signal came (`signal`).
bool wait_for_hosts(System& system, std::vector<std::string> hosts, unsigned seconds, int& signal) {
  const auto until = system.clock.now() + std::chrono::seconds(seconds);
  system.err(
      fmt::format("ddlrun: waiting for {}, at most {} s (--host-timeout)\n", fold_host_list(hosts), seconds));
  while (true) {
    std::erase_if(hosts, [&](const std::string& host) { return is_back(system, host); });
    if (hosts.empty()) return true;
    if (system.clock.now() >= until) break;
    signal = system.clock.pause(between_looks);
    if (signal != 0) return false;
  }
  system.err(
      render_error("ddlrun", {fmt::format("{} did not come back within {} s", fold_host_list(hosts), seconds),
                              "", "--on-host-failure shrink, or a longer --host-timeout"}));
  return false;
}

// Also with -q: it is part of why the job ended.
void tell_no_restart(System& system, const RestartDecision& decision) {
  const std::string what = "not started again: " + decision.why;
  if (!decision.hint.empty()) return system.err(render_error("ddlrun", {what, "", decision.hint}));
  (system.program_err ? system.program_err : system.err)("ddlrun: " + what + "\n");
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The counts of the hosts that are left, where -H gave each its own.
void leave_out_counts(const std::vector<std::string>& before, const std::vector<std::string>& left,
                      std::vector<std::uint32_t>& counts) {
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (has_word(left, before[i])) kept.push_back(counts[i]);
  }
  counts = std::move(kept);
}

// What the next start is asked: the same, on the hosts that are left, going on from what was saved.
void prepare_next(const AttemptResult& done, const RestartDecision& decision, LaunchOptions& options) {
  ++options.restarts;
  if (options.rankfile.empty()) {
    leave_out_counts(done.hosts, decision.hosts, options.host_ranks);
    options.hosts = fmt::format("{}", fmt::join(decision.hosts, ","));
    options.hostfile.clear();
    options.dims = decision.dims ? topology::render_dims(*decision.dims) : "";
    options.accelerators = options.nodes = options.racks = options.aisles = "";
    options.framework.wants_result = options.framework.wants_result || !options.framework.np.empty();
    options.framework.np.clear();
  }
  if (options.restarts == 1) {
    options.first_program = options.program;
    options.program.insert(options.program.end(), options.restart_arguments.begin(),
                           options.restart_arguments.end());
    const bool saves = done.is_trainer && has_word(options.program, "--checkpoint");
    if (saves && !has_word(options.program, "--resume")) options.program.emplace_back("--resume");
  }
  if (!options.run_folder.empty())
    options.run_folder = fmt::format("{}.{}", options.run_folder, options.restarts);
  options.restart_of = base_name(done.folder);
}

}  // namespace

void add_restart_number(const LaunchOptions& options, launch::Exports& exports) {
  if (options.restarts == 0) return;
  const std::string name = "DDLRUN_RESTART";
  exports.set_by_user.erase(name);
  exports.set_by_us[name] = fmt::format("{}", options.restarts);
  add_export(exports, name, fmt::format("{}: so many starts went before", options.restarts));
}

int run_with_restarts(System& system, LaunchOptions options, const Attempt& attempt) {
  const RestartPolicy policy = restart_policy(options);
  const unsigned host_wait = restart_number("--host-timeout", options.host_wait, longest_wait);
  while (true) {
    const AttemptResult done = attempt(system, options);
    if (policy.most == 0 || done.folder.empty() || done.end.status == 0) return done.end.status;
    const RestartDecision decision =
        launch::plan_restart(policy, {done.end.status, done.end.stop_signal, done.hosts, done.dims,
                                      done.end.lost_hosts, options.restarts});
    if (!decision.again) {
      tell_no_restart(system, decision);
      return done.end.status;
    }
    system.err(fmt::format("ddlrun: starting again: {}\n", decision.why));
    int signal = 0;
    if (!decision.wait_for.empty() && !wait_for_hosts(system, decision.wait_for, host_wait, signal)) {
      if (signal == 0) return exit_code(ErrorKind::unreachable);
      RestartDecision stopped;
      stopped.why = "it was told to stop by " + describe_signal(signal);
      tell_no_restart(system, stopped);
      return 128 + signal;
    }
    prepare_next(done, decision, options);
  }
}

}  // namespace ddlrun::cli
