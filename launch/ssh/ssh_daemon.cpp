// SPDX-License-Identifier: MIT
#include "launch/ssh/ssh_daemon.hpp"

#include "base/os/posix_system.hpp"
#include "base/os/self_executable.hpp"
#include "base/os/tcp_retries.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/rank/apply_rank_setup.hpp"
#include "launch/ssh/ssh_job_state.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {
using std::chrono::milliseconds;

constexpr std::size_t max_daemon_output = 1u << 20;  // then the ranks wait for the launcher
constexpr milliseconds unfinished_err{200};     // programs do not buffer stderr: such a line must be shown
constexpr milliseconds daemon_tick{50};         // while something is due
constexpr milliseconds daemon_idle_wait{5000};  // else: the cores are the ranks'
constexpr std::chrono::seconds heartbeat_period{5};
constexpr int max_failed_probes = 6;  // as ssh's ServerAlive at the other end
constexpr milliseconds leftover_grace{500};

// In the child that becomes the rank; false ends it.
bool apply_setup(const RankStart& start) {
  const auto err = [](const std::string& text) { write_diagnostics(text); };
  for (const std::string& remark : start.setup.remarks)
    err(fmt::format("ddlrun: {}: {}\n", start.place, remark));
  try {
    apply_rank_setup(start.setup, start.place);
    return true;
  } catch (const Error& error) {
    err(render_error("ddlrun", error.message()));
    return false;
  }
}

}  // namespace

void SshDaemon::send(SshMessageType word, std::uint32_t number, std::uint32_t value, std::string bytes) {
  children_.write_output(STDOUT_FILENO, render_ssh_message({word, number, value, std::move(bytes)}));
}

SshDaemon::Rank* SshDaemon::of_child(std::size_t child) {
  const auto found = ranks_.find(child);
  return found == ranks_.end() ? nullptr : &found->second;
}

void SshDaemon::prepare(const std::string& document, std::uint32_t node) {
  try {
    host_ = parse_ssh_host_spec(document);
    node_ = node;
    if (node >= host_->rank_map.hosts.size()) {
      throw Error(ErrorKind::internal, {fmt::format("host {} of {}", node, host_->rank_map.hosts.size()), "",
                                        "the same ddlrun on all hosts: ddlrun --version"});
    }
    const std::string& directory = host_->rank_map.workdir;
    if (!directory.empty() && !system_.files.exists(directory)) {
      throw Error(ErrorKind::request, {"the working directory is not on this host", printable(directory),
                                       "a directory that all hosts share, or the same one on each"});
    }
    send(SshMessageType::prepared);
  } catch (const Error& error) {
    const Message& message = error.message();
    send(SshMessageType::refused, 0, static_cast<std::uint32_t>(exit_code(error.kind())),
         fmt::format("{}\n{}\n{}", message.what, message.where, message.hint));
    over_ = true;
  }
}

void SshDaemon::start_ranks() {
  if (!host_ || started_) return;
  started_ = true;
  for (const std::uint32_t rank : host_->rank_map.hosts[node_].ranks) start_rank(rank);
}

void SshDaemon::start_rank(std::uint32_t number) {
  const auto place = find_rank(host_->rank_map, number);
  const RankStart start = plan_rank_start(*host_, *place, system_.environment.executable,
                                          [this](const std::string& pci) { return read_gpu(system_, pci); });
  ChildSpec child;
  child.command = start.command;
  child.extra = start.variables;
  child.has_stdin = number == 0;
  child.prepare = [&start] { return apply_setup(start); };
  Rank rank;
  rank.rank = number;
  rank.child = children_.start(child);
  if (number == 0) input_child_ = rank.child;
  ranks_.emplace(rank.child, std::move(rank));
}

void SshDaemon::take(SshMessage&& message) {
  switch (message.word) {
    case SshMessageType::spec:
      return prepare(message.bytes, message.number);
    case SshMessageType::start:
      return start_ranks();
    case SshMessageType::input:
      if (!input_child_) return;
      if (message.bytes.empty()) return children_.close_input(*input_child_);
      children_.write_stdin(*input_child_, message.bytes);
      ack_is_due_ = true;
      return;
    case SshMessageType::signal:
      for (const auto& [child, rank] : ranks_) children_.signal(child, static_cast<int>(message.number));
      return;
    case SshMessageType::end:
      for (auto& [child, rank] : ranks_) {
        if (rank.rank == message.number) end_rank(rank, grace());
      }
      return;
    case SshMessageType::stop:
      return stop(message.number == 0 ? grace() : milliseconds(0));
    default:
      return;
  }
}

void SshDaemon::end_rank(Rank& rank, milliseconds grace) {
  if (rank.ended) return;
  const auto kill_at = children_.now() + grace;
  if (!rank.kill_at) {
    children_.signal(rank.child, SIGTERM);
    children_.signal(rank.child, SIGCONT);  // a stopped process gets it too
  }
  rank.kill_at = std::min(rank.kill_at.value_or(kill_at), kill_at);
}

void SshDaemon::stop(milliseconds grace) {
  stopping_ = true;
  stop_over_ = std::min(stop_over_, children_.now() + grace + leftover_grace);
  if (!started_) over_ = true;
  for (auto& [child, rank] : ranks_) end_rank(rank, grace);
}

void SshDaemon::stop_without_launcher() {
  children_.reads_input = false;
  stop(grace());
}

void SshDaemon::forward_output(std::size_t child, bool is_err, std::string_view bytes) {
  Rank* rank = of_child(child);
  if (rank == nullptr) return;
  std::string lines = (is_err ? rank->err : rank->out).take(bytes);
  if (is_err) rank->last_err = children_.now();
  if (!lines.empty())
    send(is_err ? SshMessageType::err : SshMessageType::out, rank->rank, 0, std::move(lines));
}

void SshDaemon::rank_ended(std::size_t child, const ProcessResult& end) {
  Rank* rank = of_child(child);
  if (rank == nullptr) return;
  rank->ended = true;
  if (!end.start_error.empty()) {
    send(SshMessageType::err, rank->rank, 0,
         fmt::format("ddlrun: error: cannot start rank {}: {}\n", rank->rank, end.start_error));
  }
  if (rank->out.holds_some()) send(SshMessageType::out, rank->rank, 0, rank->out.take_rest());
  if (rank->err.holds_some()) send(SshMessageType::err, rank->rank, 0, rank->err.take_rest());
  send(SshMessageType::ended, rank->rank, exit_value(end.exit_status, end.signal));
  if (input_child_ == child) input_child_.reset();
}

void SshDaemon::check_deadlines() {
  const auto now = children_.now();
  for (auto& [child, rank] : ranks_) {
    if (rank.err.holds_some() && now - rank.last_err >= unfinished_err) {
      send(SshMessageType::err, rank.rank, 0, rank.err.take_rest());
    }
    if (rank.kill_at && !rank.ended && now >= *rank.kill_at) children_.signal(child, SIGKILL);
  }
  if (ack_is_due_ && (!input_child_ || children_.pending_in(*input_child_) == 0)) {
    ack_is_due_ = false;
    send(SshMessageType::ack);
  }
  probe_connection(now);
  // Of ranks that were killed the output is taken in any case: it is bounded, and their end stands behind it.
  children_.reads_members = children_.pending_out() < max_daemon_output || (stopping_ && now >= stop_over_);
}

// Sends a heartbeat now and then, so that TCP has something to repeat if the other end is lost. A busy
// network repeats too, but not at each of many looks.
void SshDaemon::probe_connection(ChildPool::Clock::time_point now) {
  if (now - last_probe_ < heartbeat_period) return;
  last_probe_ = now;
  const bool in_vain = read_tcp_retries(system_.environment.get("SSH_CONNECTION")) > 0;
  failed_probes_ = in_vain ? failed_probes_ + 1 : 0;
  if (children_.pending_out() == 0) send(SshMessageType::heartbeat);
  if (!stopping_ && failed_probes_ >= max_failed_probes) stop_without_launcher();
}

milliseconds SshDaemon::wait_limit() const {
  const bool due = stopping_ || ack_is_due_ || !children_.reads_members ||
                   std::ranges::any_of(ranks_, [](const auto& entry) {
                     return !entry.second.ended && (entry.second.kill_at || entry.second.err.holds_some());
                   });
  return due ? daemon_tick : daemon_idle_wait;
}

ChildCallbacks SshDaemon::callbacks() {
  ChildCallbacks callbacks;
  callbacks.out = [this](std::size_t child, std::string_view bytes) { forward_output(child, false, bytes); };
  callbacks.err = [this](std::size_t child, std::string_view bytes) { forward_output(child, true, bytes); };
  callbacks.ended = [this](std::size_t child, const ProcessResult& end) { rank_ended(child, end); };
  callbacks.input = [this](std::string_view bytes) {
    if (bytes.empty()) return stop_without_launcher();
    reader_.feed(bytes, [this](SshMessage&& message) { take(std::move(message)); });
  };
  callbacks.signal = [this](int signal) {
    if (signal != SIGUSR1 && signal != SIGUSR2) return stop(grace());
    for (const auto& [child, rank] : ranks_) children_.signal(child, signal);
  };
  return callbacks;
}

int SshDaemon::run() {
  children_.write_output(STDOUT_FILENO, handshake_line(read_own_binary().build_id));
  children_.reads_input = true;
  const ChildCallbacks callbacks = this->callbacks();
  while (!over_ && !(started_ && children_.alive() == 0)) {
    try {
      children_.wait(wait_limit(), callbacks);
    } catch (const Error&) {  // the bytes are not a message of the launcher
      status_ = 70;
      stop_without_launcher();
    }
    check_deadlines();
    if (children_.output_closed() && !stopping_) stop_without_launcher();
  }
  children_.end_leftovers(leftover_grace);
  const auto patience = children_.now() + std::chrono::seconds(30);
  while (children_.pending_out() > 0 && !children_.output_closed() && children_.now() < patience)
    children_.wait(daemon_tick, callbacks);
  return status_;
}

}  // namespace ddlrun::launch
