// SPDX-License-Identifier: MIT
#include "doctor/remote/reach.hpp"

#include "base/text/error.hpp"
#include "base/text/host_list.hpp"
#include "base/text/text.hpp"
#include "doctor/remote/agent_protocol.hpp"
#include "doctor/remote/pbs.hpp"
#include "doctor/remote/relay.hpp"
#include "doctor/remote/target.hpp"
#include "topology/sources/slurm_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace ddlrun::doctor {

namespace {

using std::chrono::duration;
using std::chrono::milliseconds;

constexpr std::size_t max_stderr_bytes = 2048;

void check_names(std::span<const ProbeRequest> requests) {
  for (const ProbeRequest& request : requests) {
    if (request.is_driver_host || is_host_name(request.host)) continue;
    throw Error(ErrorKind::usage, {fmt::format("'{}' is not a host name", printable(request.host, 60)), "",
                                   "letters, digits, '-', '.' and '_': node01"});
  }
}

// All files of the agent one after another, read once and shared by every connection.
std::shared_ptr<const std::string> pack(FileSystem& files, const AgentBinary& agent,
                                        std::vector<std::string>& sizes) {
  auto packed = std::make_shared<std::string>();
  for (const OwnFile& file : agent.files) {
    const std::string bytes = files.read(file.path, 256u << 20);
    sizes.push_back(file.name);
    sizes.push_back(std::to_string(bytes.size()));
    *packed += bytes;
  }
  return packed;
}

// The sessions of one round of requests.
class Round {
 public:
  Round(System& system, const AgentBinary& agent, const ReachOptions& options)
      : files_(system.files), agent_(agent), options_(options), targets_(system, options) {
    if (options.via == Via::pbsdsh) pbs_.emplace(system, agent);
  }

  ExpectSession plan(const ProbeRequest& request, const RelayRequest& relay = {}) {
    const auto line = std::make_shared<const std::string>(render_probe_request_json(request, relay) + "\n");
    ExpectSession conversation;
    conversation.replies.push_back({ready_line(agent_.id), line, true});
    if (request.is_driver_host) {
      conversation.command = {agent_.path, "agent", "--id", agent_.id};
      return conversation;
    }
    if (pbs_) return pbs_->plan(request);
    pack_once();
    conversation.command = plan_reach_command(options_, request.host, agent_script(), arguments_);
    conversation.target = targets_.of(request.host);
    conversation.replies.push_back({std::string("ddlrun-agent wanted"), packed_, false});
    return conversation;
  }
  void resolve(std::span<const ProbeRequest> requests, std::span<const std::size_t> asked) {
    std::vector<std::string> hosts;
    for (const std::size_t at : asked) {
      if (!requests[at].is_driver_host) hosts.push_back(requests[at].host);
    }
    targets_.resolve(hosts);
  }
  void collect(const ProbeRequest& request, ProcessResult& result) {
    if (pbs_ && !request.is_driver_host) pbs_->collect(request, result);
  }

 private:
  // Some 10 MB, which only a connection needs.
  void pack_once() {
    if (packed_) return;
    arguments_ = {agent_.path, agent_.id, agent_.loader};
    packed_ = pack(files_, agent_, arguments_);
  }

  FileSystem& files_;
  const AgentBinary& agent_;
  const ReachOptions& options_;
  Targets targets_;
  std::optional<PbsExchange> pbs_;
  std::shared_ptr<const std::string> packed_;
  std::vector<std::string> arguments_;
};

// What came on stdout before the agent's first word.
void note_noise(std::string_view out, Reach& reach) {
  std::size_t at = 0;
  while (at < out.size()) {
    if (out.substr(at).starts_with("ddlrun-agent ")) break;
    const std::size_t end = out.find('\n', at);
    at = end == std::string_view::npos ? out.size() : end + 1;
  }
  reach.noise_bytes = at;
  reach.noise_start = printable(trim(out.substr(0, std::min(at, out.find('\n')))), 120);
}

// The agent read our clock-less request at `asked`, after it printed `ready`: our own clock stood at `sent`
// in between, so the middle is off by at most half of that time.
void note_clock(const ProbeResponse& response, const ProcessResult& result, Reach& reach) {
  for (const ExchangeTime& reply : result.replied) {
    if (!reply.after.starts_with("ddlrun-agent ready")) continue;
    const auto sent =
        std::chrono::duration_cast<std::chrono::microseconds>(reply.at.time_since_epoch()).count();
    const auto ready = static_cast<double>(response.ready_us - sent);
    const auto asked = static_cast<double>(response.asked_us - sent);
    reach.clock_offset_seconds = (ready + asked) / 2e6;
    reach.clock_error_seconds = (asked - ready) / 2e6;
  }
}

std::string last_words(const ProcessResult& result, milliseconds limit) {
  if (!result.start_error.empty()) return result.start_error;
  std::string last;
  for (const std::string_view line : split(result.err, '\n')) {
    if (!trim(line).empty()) last = printable(trim(line), 200);
  }
  if (result.timed_out) {
    const std::string silence =
        fmt::format("no answer within {} s", duration_cast<std::chrono::seconds>(limit).count());
    return last.empty() ? silence : fmt::format("{}; {}", silence, last);
  }
  return last.empty() ? fmt::format("it ended with status {} and printed nothing", result.exit_status) : last;
}

std::string_view answer_in(std::string_view out) {
  const std::string marker = std::string(response_line) + "\n";
  const std::size_t at = out.find(marker);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = out.substr(at + marker.size());
  return rest.substr(0, rest.find('\n'));
}

HostReport report_of(const ProbeRequest& request, const ProcessResult& result, const ReachOptions& options) {
  HostReport report;
  report.host = request.host;
  Reach& reach = report.reach;
  reach.via = request.is_driver_host ? Via::local : options.via;
  reach.stderr_text = printable(trim(result.err), max_stderr_bytes);
  note_noise(result.out, reach);
  if (!result.replied.empty()) {
    reach.connect_seconds = duration<double>(result.replied.front().since_start).count();
  }
  const std::string_view line = answer_in(result.out);
  if (line.empty()) {
    reach.problem = last_words(result, options.limit);
    const bool spoke = result.out.find("ddlrun-agent ") != std::string::npos;
    reach.problem_kind = spoke ? "agent" : classify_problem(result.err, result.exit_status, result.timed_out);
    return report;
  }
  try {
    ProbeResponse response = parse_probe_response_json(line, request.host);
    report.facts = std::move(response.facts);
    report.failed_gatherers = std::move(response.failed_gatherers);
    note_clock(response, result, reach);
  } catch (const Error& error) {
    reach.problem = error.message().what;
    reach.problem_kind = "agent";
  }
  return report;
}

constexpr milliseconds relay_grace{5'000};
constexpr std::uint64_t relayed_bytes = 128u << 10;  // of one host, on average
constexpr std::size_t enough_failures = 3;           // a relay that reached no host after so many stops

// The hosts of one call of `reach_hosts`: first through relays, then the rest one by one.
class Asking {
 public:
  Asking(System& system, std::span<const ProbeRequest> requests, const AgentBinary& agent,
         const ReachOptions& options, const ReportSink& sink)
      : system_(system),
        requests_(requests),
        agent_(agent),
        options_(options),
        sink_(sink),
        round_(system, agent, options),
        done_(requests.size()) {}

  ReachSummary run() {
    ask_through_relays();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      if (!done_[i]) open.push_back(i);
    }
    if (!through_relays_) {
      ask_directly(std::move(open));
    } else if (!options_.is_relay) {
      summary_.missing = open.size();
      ask_directly(std::move(open));
    }
    return std::move(summary_);
  }

 private:
  void take(std::size_t host, HostReport&& report) {
    done_[host] = true;
    sink_(host, std::move(report));
  }

  void ask_through_relays() {
    std::vector<std::size_t> local, remote;
    for (std::size_t i = 0; i < requests_.size(); ++i)
      (requests_[i].is_driver_host ? local : remote).push_back(i);
    const FanOut fan_out{options_.window, options_.flat_most};
    const std::vector<Branch> plan = plan_branches(remote.size(), fan_out);
    if (plan.empty()) return;
    through_relays_ = true;
    std::vector<std::span<const std::size_t>> branches;
    for (const std::size_t& host : local) branches.emplace_back(&host, 1);
    for (const Branch& branch : plan)
      branches.push_back(std::span(remote).subspan(branch.first, branch.count));
    std::vector<std::size_t> firsts;
    for (const auto branch : branches) firsts.push_back(branch.front());
    round_.resolve(requests_, firsts);
    std::vector<ExpectSession> sessions;
    for (const auto branch : branches)
      sessions.push_back(
          round_.plan(requests_[branch.front()], plan_relay(requests_, branch, agent_, options_)));
    const std::size_t most_behind = plan.front().count - 1;
    ProcessLimits limits;
    limits.timeout = options_.limit * static_cast<int>(1 + count_rounds(most_behind, fan_out));
    limits.silence = options_.limit + relay_grace * static_cast<int>(1 + count_relays(most_behind, fan_out));
    limits.output_bytes = max_response_bytes + (64u << 10) + relayed_bytes * most_behind;
    const auto window = static_cast<unsigned>(sessions.size());
    system_.processes.run_sessions(
        sessions, limits, {window, options_.per_target},
        [&](std::size_t at, ProcessResult&& result) { take_branch(branches[at], result); });
  }

  void take_branch(std::span<const std::size_t> branch, const ProcessResult& result) {
    HostReport report = report_of(requests_[branch.front()], result, options_);
    const auto count = [&](std::size_t host, HostReport&& relayed) {
      ++summary_.relayed;
      take(host, std::move(relayed));
    };
    std::string why = report.reach.problem;
    if (why.empty()) {
      why = take_relayed_reports(result.out, requests_, branch, report, count);
      take(branch.front(), std::move(report));
    }
    if (summary_.why_missing.empty() && !why.empty())
      summary_.why_missing = fmt::format("{}: {}", requests_[branch.front()].host, why);
  }

  void ask_directly(std::vector<std::size_t> open) {
    round_.resolve(requests_, open);
    ProcessLimits limits;
    limits.timeout = options_.limit;
    limits.output_bytes = max_response_bytes + (64u << 10);
    std::size_t answered = 0, failed = 0;
    SessionWindow window{options_.window, options_.per_target};
    if (options_.is_relay) window.enough = [&] { return answered == 0 && failed >= enough_failures; };
    for (int attempt = 1; !open.empty(); ++attempt) {
      std::vector<ExpectSession> sessions;
      for (const std::size_t index : open) sessions.push_back(round_.plan(requests_[index]));
      std::vector<std::size_t> again;
      system_.processes.run_sessions(sessions, limits, window, [&](std::size_t at, ProcessResult&& result) {
        round_.collect(requests_[open[at]], result);
        HostReport report = report_of(requests_[open[at]], result, options_);
        report.reach.attempts = attempt;
        if (report.reach.problem_kind == "kex-reset" && attempt < options_.attempts) {
          again.push_back(open[at]);
          return;
        }
        ++(report.reach.problem.empty() ? answered : failed);
        take(open[at], std::move(report));
      });
      open = std::move(again);
      window.per_target = std::max(1u, window.per_target / 2);  // sshd has reported too many at once
    }
  }

  System& system_;
  std::span<const ProbeRequest> requests_;
  const AgentBinary& agent_;
  const ReachOptions& options_;
  const ReportSink& sink_;
  Round round_;
  std::vector<char> done_;
  bool through_relays_ = false;
  ReachSummary summary_;
};

}  // namespace

ReachSummary reach_hosts(System& system, std::span<const ProbeRequest> requests, const AgentBinary& agent,
                         const ReachOptions& options, const ReportSink& sink) {
  check_names(requests);
  return Asking(system, requests, agent, options, sink).run();
}

Command plan_reach_command(const ReachOptions& options, const std::string& host, const std::string& script,
                           const std::vector<std::string>& arguments) {
  Command shell{"sh", "-c", script};
  shell.insert(shell.end(), arguments.begin(), arguments.end());
  Command command;
  switch (options.via) {
    case Via::ssh: {
      command = {options.ssh, "-T",
                 "-o",        "BatchMode=yes",
                 "-o",        fmt::format("ConnectTimeout={}", options.connect_seconds),
                 "-o",        "ForwardAgent=no",
                 "-o",        "ForwardX11=no",
                 "-o",        "ClearAllForwardings=yes",
                 "-o",        "ServerAliveInterval=5",
                 "-o",        "ServerAliveCountMax=2"};
      command.insert(command.end(), options.ssh_arguments.begin(), options.ssh_arguments.end());
      // ssh hands one text to the shell of the account there, whatever that is.
      command.insert(command.end(), {"--", host, "exec " + render_shell(shell)});
      return command;
    }
    case Via::srun:
      command = topology::plan_step_command(options.step_variables, {host});
      break;
    case Via::mpirun:
      command = {"mpirun", "-n", "1", "--host", host, "--bind-to", "none"};
      break;
    case Via::pbsdsh:  // PbsExchange
    case Via::local:
      break;
  }
  command.insert(command.end(), shell.begin(), shell.end());
  return command;
}

}  // namespace ddlrun::doctor
