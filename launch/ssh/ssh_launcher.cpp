// SPDX-License-Identifier: MIT
#include "launch/ssh/ssh_launcher.hpp"

#include "base/os/self_executable.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/remote/reach.hpp"
#include "launch/monitor/stop_signals.hpp"
#include "launch/rank/output_frame.hpp"
#include "launch/rank/shell_variables.hpp"
#include "launch/ssh/host_command.hpp"
#include "topology/sources/job_machines.hpp"
#include "topology/sources/unreached_hint.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::size_t max_starting = 32;
constexpr int max_attempts = 4;
constexpr std::chrono::seconds start_patience{30};             // from ssh's start until the host is prepared
constexpr std::chrono::seconds cut_patience{10};               // after the grace, for hosts to end
constexpr std::chrono::milliseconds launcher_tick{50};         // while something is due
constexpr std::chrono::milliseconds launcher_idle_wait{5000};  // else
constexpr std::size_t max_launcher_output = 1u << 20;          // for our stdout; then the hosts wait
constexpr std::size_t max_stderr_bytes = 4096;

Message as_message(const std::string& text, const std::string& host) {
  const auto lines = split(text, '\n');
  const auto line = [&](std::size_t i) {
    return i < lines.size() ? printable(lines[i], 300) : std::string();
  };
  return {fmt::format("{}: {}", host, line(0)), line(1), line(2).empty() ? "ddlrun doctor " + host : line(2)};
}

}  // namespace

SshLauncher::SshLauncher(System& system, ChildPool& children, SshLaunchSpec document)
    : system_(system),
      children_(children),
      spec_(std::move(document)),
      job_(spec_.rank_map),
      foreign_marks_(
          {spec_.program.status_token, spec_.program.placement_token, spec_.program.output_token}) {
  build_id_ = read_own_binary().build_id;
  host_spec_text_ =
      render_ssh_host_spec({spec_.rank_map, spec_.program,
                            select_passed(system.environment.variables, spec_.exported), spec_.grace_ms});
  for (std::uint32_t node = 0; node < spec_.rank_map.hosts.size(); ++node) {
    HostConnection& connection = connections_.emplace_back();
    connection.node = node;
    connection.here = topology::is_this_host(system.environment, host_of(connection).name);
  }
  const std::size_t descriptors = connections_.size() * 4 + 64;
  if (!children_.allow_descriptors(descriptors)) {
    throw Error(ErrorKind::request, {fmt::format("{} hosts need {} open files, fewer are allowed",
                                                 connections_.size(), descriptors),
                                     "ulimit -Hn", "a higher limit in /etc/security/limits.conf"});
  }
}

SshLauncher::HostConnection* SshLauncher::of_child(std::size_t child) {
  const auto found = connection_of_child_.find(child);
  return found == connection_of_child_.end() ? nullptr : &connections_[found->second];
}

void SshLauncher::send(HostConnection& connection, SshMessageType word, std::uint32_t number,
                       std::string bytes) {
  children_.write_stdin(connection.child, render_ssh_message({word, number, 0, std::move(bytes)}));
}

void SshLauncher::send_to_all(SshMessageType word, std::uint32_t number) {
  for (HostConnection& connection : connections_) {
    if (connection.state == HostConnection::prepared) send(connection, word, number);
  }
}

void SshLauncher::start_more() {
  const auto now = children_.now();
  for (HostConnection& connection : connections_) {
    if (starting_ >= max_starting) return;
    if (connection.state == HostConnection::waiting && now >= connection.due) start_daemon(connection);
  }
}

void SshLauncher::start_daemon(HostConnection& connection) {
  const std::string& own = system_.environment.executable;
  ChildSpec child;
  child.command =
      connection.here ? Command{own, "ssh-daemon"} : plan_host_command(spec_, host_of(connection), own);
  child.has_stdin = true;
  connection.state = HostConnection::starting;
  connection.due = children_.now() + start_patience;
  connection.handshake = {};
  connection.reader = {};
  connection.stderr_text.clear();
  connection.shook_hands = false;
  ++connection.attempts;
  ++starting_;
  connection.child = children_.start(child);
  connection_of_child_[connection.child] = connection.node;
}

// Each host gets its spec at once and starts when all hosts are prepared: a job whose hosts are not
// all there starts nowhere.
void SshLauncher::shook_hands(HostConnection& connection) {
  connection.shook_hands = true;
  if (connection.handshake.build_id() != build_id_) {
    return fail_host(connection, ErrorKind::request,
                     {fmt::format("{} has another build of ddlrun", host_of(connection).name),
                      system_.environment.executable, install_hint(host_of(connection).name)});
  }
  pass_noise(connection.handshake.noise());
  send(connection, SshMessageType::spec, connection.node, host_spec_text_);
  take_messages(connection, connection.handshake.rest());
}

std::string SshLauncher::install_hint(const std::string& host) const {
  return fmt::format("the same file by the same path on all hosts: a shared directory, or scp {0} {1}:{0}",
                     quote_shell(system_.environment.executable), host);
}

void SshLauncher::take_bytes(HostConnection& connection, std::string_view bytes) {
  if (connection.state == HostConnection::over) return;
  if (connection.shook_hands) return take_messages(connection, bytes);
  const auto state = connection.handshake.feed(bytes);
  if (state == HandshakeReader::found) return shook_hands(connection);
  if (state == HandshakeReader::failed) {
    fail_host(connection, ErrorKind::unreachable,
              {fmt::format("{} prints without end before ddlrun starts", host_of(connection).name),
               "its shell's start-up files",
               fmt::format("ssh {} true   # must print nothing", host_of(connection).name)});
  }
}

void SshLauncher::take_messages(HostConnection& connection, std::string_view bytes) {
  try {
    connection.reader.feed(bytes, [&](SshMessage&& message) { take(connection, std::move(message)); });
  } catch (const Error& error) {
    connection.stderr_text = error.message().what + ": " + error.message().where;
    children_.signal(connection.child, SIGKILL);
  }
}

// A host sends output and ends of its own ranks only, and takes input only where rank 0 runs: else it would
// decide for another host.
void SshLauncher::check_sender(const HostConnection& connection, const SshMessage& message) const {
  const bool is_of_rank = message.word == SshMessageType::out || message.word == SshMessageType::err ||
                          message.word == SshMessageType::ended;
  const bool takes_input = message.word == SshMessageType::ack;
  const std::uint32_t rank = takes_input ? 0 : message.number;
  if ((!is_of_rank && !takes_input) || std::ranges::count(host_of(connection).ranks, rank) > 0) return;
  const std::string& host = host_of(connection).name;
  throw Error(ErrorKind::unreachable, {fmt::format("{} sent a message of rank {}", host, rank),
                                       "that rank runs elsewhere", "ddlrun doctor " + host});
}

void SshLauncher::take(HostConnection& connection, SshMessage&& message) {
  check_sender(connection, message);
  switch (message.word) {
    case SshMessageType::prepared:
      if (connection.state != HostConnection::starting) return;
      connection.state = HostConnection::prepared;
      --starting_;
      if (status_ || signal_ != 0) send(connection, SshMessageType::stop);
      return;
    case SshMessageType::refused:
      // Later it would hide that the host's ranks have no end, and the job would be a success.
      if (connection.state != HostConnection::starting) return;
      return fail_host(connection, ErrorKind::request, as_message(message.bytes, host_of(connection).name));
    case SshMessageType::out:
      return children_.write_output(STDOUT_FILENO, message.bytes);
    case SshMessageType::err:
      return forward_stderr(message);
    case SshMessageType::ended:
      report_bad_end(message);
      return apply(job_.rank_ended(message.number, message.value));
    case SshMessageType::ack:
      children_.reads_input = true;
      return;
    default:
      return;
  }
}

// Output in frames has the rank already.
void SshLauncher::forward_stderr(const SshMessage& message) {
  const RankProgram& program = spec_.program;
  std::string bytes = foreign_marks_.clean(message.bytes, message.number);
  if (!program.status_token.empty() && program.output_token.empty())
    bytes = mark_stderr_lines(program.status_token, message.number, bytes);
  children_.write_output(STDERR_FILENO, bytes);
}

// Of a host's shell, or of ssh: text of no rank, without what would control the terminal.
void SshLauncher::pass_noise(std::string_view bytes) {
  children_.write_output(STDERR_FILENO, printable_lines(foreign_marks_.clean(bytes, std::nullopt)));
}

// Also for a rank whose supervisor was killed, or could not start. launch counts the first report of a rank.
void SshLauncher::report_bad_end(const SshMessage& message) {
  const RankProgram& program = spec_.program;
  if (message.value == 0 || program.status_token.empty()) return;
  const std::string line =
      render_status_line(program.status_token, job_.report_of(message.number, message.value));
  children_.write_output(STDERR_FILENO, program.output_token.empty() ? line : pad_to_frame(line));
}

void SshLauncher::fail_host(HostConnection& connection, ErrorKind kind, Message problem) {
  if (connection.state == HostConnection::starting) --starting_;
  connection.state = HostConnection::over;
  connection.problem_kind = kind;
  connection.problem = std::move(problem);
  children_.close_input(connection.child);
  children_.signal(connection.child, SIGTERM);
}

// Connections that sshd drops because there are too many at once.
bool SshLauncher::retry_connection(HostConnection& connection, const ProcessResult& end) {
  const bool dropped =
      doctor::classify_problem(connection.stderr_text, end.exit_status, false) == "kex-reset";
  if (!dropped || connection.here || connection.attempts >= max_attempts || status_ || signal_ != 0)
    return false;
  connection.state = HostConnection::waiting;
  connection.due = children_.now() + std::chrono::milliseconds(250) * (1 << connection.attempts) +
                   std::chrono::milliseconds(connection.node * 37 % 250);
  return true;
}

void SshLauncher::daemon_exited(HostConnection& connection, const ProcessResult& end) {
  const bool was_starting = connection.state == HostConnection::starting;
  if (connection.state == HostConnection::over) return;
  connection.state = HostConnection::over;
  const std::string stderr_text =
      end.start_error.empty() ? last_printable_line(connection.stderr_text) : end.start_error;
  if (started_) return apply(job_.host_lost(connection.node, stderr_text));
  if (was_starting) --starting_;
  if (was_starting && retry_connection(connection, end)) return;
  if (status_ || signal_ != 0) return;
  const std::string& host = host_of(connection).name;
  const bool no_ddlrun = end.exit_status == 127 || end.exit_status == 126 || end.exit_status == 2;
  connection.problem_kind = no_ddlrun ? ErrorKind::request : ErrorKind::unreachable;
  connection.problem = {
      no_ddlrun ? fmt::format("{} has no ddlrun that can start ranks: {}", host, stderr_text)
                : fmt::format("{} cannot be reached: {}", host,
                              stderr_text.empty() ? fmt::format("status {}", end.exit_status) : stderr_text),
      no_ddlrun ? system_.environment.executable : "ssh " + host,
      no_ddlrun ? install_hint(host)
                : fmt::format("{}; ssh -o BatchMode=yes {} true",
                              topology::unreached_hint(system_, host, stderr_text), host)};
}

void SshLauncher::report_problems() {
  problems_reported_ = true;
  for (const HostConnection& connection : connections_) {
    if (connection.problem.what.empty()) continue;
    if (!status_ || connection.problem_kind == ErrorKind::request)
      status_ = exit_code(connection.problem_kind);
    children_.write_output(STDERR_FILENO, render_error("ddlrun", connection.problem));
  }
  children_.write_output(STDERR_FILENO, "ddlrun: nothing was started\n");
  stop(true);
}

void SshLauncher::start_when_prepared() {
  if (started_ || problems_reported_ || signal_ != 0) return;
  bool problem = false;
  for (const HostConnection& connection : connections_) {
    if (connection.state == HostConnection::waiting || connection.state == HostConnection::starting) return;
    problem = problem || !connection.problem.what.empty();
  }
  if (problem) return report_problems();
  started_ = true;
  send_to_all(SshMessageType::start);
  children_.reads_input = !system_.environment.stdin_is_terminal;
}

void SshLauncher::apply(const SshJobState::Actions& actions) {
  // With status lines `launch` reports the first failure; about hosts this process has more facts.
  const bool is_reported = !spec_.program.status_token.empty() && job_.first_failure();
  for (const std::string& message : actions.messages) {
    if (!is_reported) children_.write_output(STDERR_FILENO, fmt::format("ddlrun: {}\n", message));
  }
  for (const std::uint32_t rank : actions.end) send_to_all(SshMessageType::end, rank);
  if (actions.stop) stop(false);
}

void SshLauncher::stop(bool at_once) {
  send_to_all(SshMessageType::stop, at_once ? 1 : 0);
  const auto grace = at_once ? std::chrono::milliseconds(0) : std::chrono::milliseconds(spec_.grace_ms);
  const auto cut = children_.now() + grace + cut_patience;
  cut_at_ = cut_at_ ? std::min(*cut_at_, cut) : cut;
  stop_at_.reset();
}

void SshLauncher::take_signal(int signal) {
  const bool ends = signal != SIGUSR1 && signal != SIGUSR2;
  // What is sent to a whole group comes to us by two ways.
  if (ends && signal == signal_ && children_.now() - signalled_ < std::chrono::seconds(1)) return;
  const int to_ranks = signal == SIGINT ? SIGTERM : signal;  // as under the other launchers
  if (started_) send_to_all(SshMessageType::signal, static_cast<std::uint32_t>(to_ranks));
  if (!ends) return;
  const bool again = std::exchange(signal_, signal) != 0;
  signalled_ = children_.now();
  if (!started_ || again) {
    for (HostConnection& connection : connections_) {
      if (connection.state == HostConnection::waiting) connection.state = HostConnection::over;
    }
    return stop(true);
  }
  job_.expect_any_status();
  stop_at_ = children_.now() +
             std::max<std::chrono::milliseconds>(std::chrono::milliseconds(spec_.grace_ms), save_patience);
}

void SshLauncher::take_input(std::string_view bytes) {
  children_.reads_input = false;  // until it was taken
  for (HostConnection& connection : connections_) {
    const bool holds_0 = host_of(connection).ranks.front() == 0;  // a rank map has no host without ranks
    if (holds_0 && connection.state == HostConnection::prepared)
      send(connection, SshMessageType::input, 0, std::string(bytes));
  }
}

void SshLauncher::check_deadlines() {
  const auto now = children_.now();
  if (stop_at_ && now >= *stop_at_) stop(false);
  for (HostConnection& connection : connections_) {
    if (connection.state == HostConnection::starting && now >= connection.due) {
      fail_host(connection, ErrorKind::unreachable,
                {fmt::format("{} is not ready within {} s", host_of(connection).name, start_patience.count()),
                 last_printable_line(connection.stderr_text),
                 fmt::format("ddlrun doctor {}", host_of(connection).name)});
    }
    if (cut_at_ && now >= *cut_at_) children_.signal(connection.child, SIGKILL);
  }
  if (!started_ && signal_ != 0) {
    for (HostConnection& connection : connections_)
      if (connection.state == HostConnection::starting) children_.signal(connection.child, SIGTERM);
  }
  children_.reads_members = children_.pending_out() < max_launcher_output || (cut_at_ && now >= *cut_at_);
}

std::chrono::milliseconds SshLauncher::wait_limit() const {
  return started_ && !stop_at_ && !cut_at_ && children_.reads_members ? launcher_idle_wait : launcher_tick;
}

ChildCallbacks SshLauncher::callbacks() {
  ChildCallbacks callbacks;
  callbacks.out = [this](std::size_t child, std::string_view bytes) {
    if (HostConnection* connection = of_child(child)) take_bytes(*connection, bytes);
  };
  callbacks.err = [this](std::size_t child, std::string_view bytes) {
    HostConnection* connection = of_child(child);
    if (connection == nullptr) return;
    connection->stderr_text += bytes;
    if (connection->stderr_text.size() > max_stderr_bytes)
      connection->stderr_text.erase(0, connection->stderr_text.size() - max_stderr_bytes);
    if (connection->state == HostConnection::prepared) pass_noise(bytes);
  };
  callbacks.ended = [this](std::size_t child, const ProcessResult& end) {
    if (HostConnection* connection = of_child(child)) daemon_exited(*connection, end);
    connection_of_child_.erase(child);
  };
  callbacks.input = [this](std::string_view bytes) { take_input(bytes); };
  callbacks.signal = [this](int signal) { take_signal(signal); };
  return callbacks;
}

int SshLauncher::run() {
  const ChildCallbacks callbacks = this->callbacks();
  const auto waits = [this] {
    return std::ranges::any_of(connections_, [](const HostConnection& connection) {
      return connection.state == HostConnection::waiting;
    });
  };
  while (children_.alive() > 0 || waits() || (!started_ && !problems_reported_ && signal_ == 0)) {
    start_more();
    start_when_prepared();
    children_.wait(wait_limit(), callbacks);
    check_deadlines();
    if (!children_.output_closed() || status_) continue;
    status_ = 128 + SIGPIPE;  // the reader is gone: as any program in a pipe
    job_.expect_any_status();
    stop(false);
  }
  while (children_.pending_out() > 0 && !children_.output_closed()) children_.wait(launcher_tick, callbacks);
  if (status_) return *status_;
  if (!started_ && signal_ != 0) return 128 + signal_;
  return job_.status();
}

}  // namespace ddlrun::launch
