// SPDX-License-Identifier: MIT
#include "launch/monitor/daemon_loss.hpp"

#include "base/text/host_list.hpp"
#include "base/text/text.hpp"

#include <optional>
#include <utility>

namespace ddlrun::launch {

namespace {

struct Clue {
  std::string_view before, after;  // around a host's name, on a line of its own
};

constexpr Clue host_clues[] = {
    {"Connection to ", " closed by remote host."},  // ssh
    {"Timeout, server ", " not responding."},       // ssh, by ServerAliveInterval
};

constexpr std::string_view sentences[] = {
    "ORTE was unable to reliably start one or more daemons.",
    "ORTE has lost communication with a remote daemon.",
    "PRTE has lost communication with a remote daemon.",
};

std::string between(std::string_view line, const Clue& clue) {
  if (!line.starts_with(clue.before) || !line.ends_with(clue.after)) return {};
  const std::size_t length = line.size() - clue.before.size() - clue.after.size();
  const std::string name(line.substr(clue.before.size(), length));
  return is_host_name(name) ? name : std::string();
}

// "  Remote daemon: [[19145,0],2] on node h3"; of Open MPI 5 "  Remote daemon: [prterun-h1-84@0,2] on node
// h3"
std::string remote_daemon(std::string_view line) {
  constexpr std::string_view lead = "Remote daemon: [", node = " on node ";
  const std::size_t at = line.find(node);
  if (!line.starts_with(lead) || at == std::string_view::npos) return {};
  const std::string name(line.substr(at + node.size()));
  return is_host_name(name) ? name : std::string();
}

// "mpirun noticed that process rank 0 with PID 4711 on node h3 exited on signal 9 (Killed)."; PRRTE 3.0.13
// begins a new line before "signal".
std::string reporting_daemon(std::string_view line) {
  constexpr std::string_view lead = " noticed that process rank ", node = " on node ", end = " exited on";
  const std::size_t begin = line.find(node), last = line.find(end);
  if (line.find(lead) == std::string_view::npos || begin == std::string_view::npos ||
      last == std::string_view::npos || last < begin + node.size())
    return {};
  const std::string name(line.substr(begin + node.size(), last - begin - node.size()));
  return is_host_name(name) ? name : std::string();
}

// The host in "srun: error: h3: task 2: Killed", or "".
std::string host_of_task(std::string_view line) {
  constexpr std::string_view lead = "srun: error: ";
  const std::size_t colon = line.find(": task ");
  if (!line.starts_with(lead) || colon == std::string_view::npos || colon < lead.size()) return {};
  const std::string name(line.substr(lead.size(), colon - lead.size()));
  return is_host_name(name) ? name : std::string();
}

// "[proxy:0:3@h4] HYD_pmcd_pmip_control_cmd_cb (pm/pmiserv/pmip_cb.c:899): assert (!closed) failed": mpiexec
// ends the job for a process that ended by itself; its banner, on stdout, has the host.
bool is_ended_proxy(std::string_view line) {
  return line.starts_with("[proxy:") && line.find("control_cmd_cb (") != std::string_view::npos &&
         line.ends_with("assert (!closed) failed");
}

// "[mpiexec@h1] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed": a proxy of MPICH 4.0.2 or
// 5.0.2 is gone.
bool is_lost_proxy(std::string_view line) {
  return line.starts_with("[mpiexec@") && line.find("] control_cb (") != std::string_view::npos &&
         line.ends_with("assert (!closed) failed");
}

// Whether the line is ssh's reason for not reaching a host, and the host.
std::optional<std::string> refused_host(std::string_view line) {
  std::string_view host;
  if (const std::size_t at = line.find(": Permission denied ("); at != std::string_view::npos) {
    host = line.substr(0, at);
    host.remove_prefix(host.find('@') + 1);  // npos + 1 is 0
  } else if (line.starts_with("ssh: connect to host ")) {
    host = line.substr(21);
    host = host.substr(0, host.find(' '));
  } else if (line.starts_with("ssh: Could not resolve hostname ")) {
    host = line.substr(32);
    host = host.substr(0, host.find(':'));
  } else if (line != "Host key verification failed.") {
    return std::nullopt;
  }
  return is_host_name(std::string(host)) ? std::string(host) : std::string();
}

}  // namespace

void DaemonLossDetector::take_line(std::string_view line) {
  line = trim(line);
  for (const std::string_view sentence : sentences) lost_.said = lost_.said || line == sentence;
  lost_.said = lost_.said || is_lost_proxy(line);
  // MPICH 4.2.1: "[mpiexec@h1] ui_cmd_cb (mpiexec/pmiserv_pmci.c:51): Launch proxy failed."
  lost_.unreached =
      lost_.unreached || (line.starts_with("[mpiexec@") && line.ends_with(": Launch proxy failed."));
  no_daemon_ = no_daemon_ || line.ends_with("RTE was unable to reliably start one or more daemons.");
  if (const auto host = refused_host(line); host && lost_.refusal.empty()) {
    lost_.refusal = line;
    lost_.refused = *host;
  }
  lost_.unreached = lost_.unreached || (no_daemon_ && !lost_.refusal.empty());
  if (lost_.reporter.empty()) lost_.reporter = reporting_daemon(line);
  lost_.killed = lost_.killed || is_ended_proxy(line);
  if (std::string task = host_of_task(line); !task.empty() && !task_ended_) {
    task_ended_ = true;  // srun ends the other tasks itself
    lost_.killed = line.ends_with(": Killed");
    if (lost_.killed) lost_.reporter = std::move(task);
  }
  std::string host = remote_daemon(line);
  for (const Clue& clue : host_clues) {
    if (host.empty() && line.size() > clue.before.size() + clue.after.size()) host = between(line, clue);
  }
  if (!host.empty() && lost_.host.empty()) lost_.host = host;
}

}  // namespace ddlrun::launch
