// SPDX-License-Identifier: MIT
#include "launch/ssh/start_head.hpp"

#include "base/os/own_binary.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "doctor/remote/reach.hpp"
#include "launch/ssh/host_command.hpp"
#include "topology/sources/job_machines.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

namespace ddlrun::cli {

namespace {

using launch::WireMessage;
using launch::WireWord;

constexpr std::size_t most_starting = 32;
constexpr int most_attempts = 4;
constexpr std::chrono::seconds start_patience{30};    // from ssh's start until the host is prepared
constexpr std::chrono::seconds cut_patience{10};      // after the grace, for hosts to end
constexpr std::chrono::milliseconds head_tick{50};    // while something is due
constexpr std::chrono::milliseconds head_rest{5000};  // else
constexpr std::size_t most_waiting = 1u << 20;        // for our stdout; then the hosts wait
constexpr std::size_t most_said = 4096;

std::string last_line(std::string_view text) {
  std::string last;
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) last = printable(trim(line), 200);
  }
  return last;
}

Message as_message(const std::string& told, const std::string& host) {
  const auto lines = split(told, '\n');
  const auto line = [&](std::size_t i) {
    return i < lines.size() ? printable(lines[i], 300) : std::string();
  };
  return {fmt::format("{}: {}", host, line(0)), line(1), line(2).empty() ? "ddlrun doctor " + host : line(2)};
}

}  // namespace

StartHead::StartHead(System& system, launch::StartDocument document)
    : system_(system), document_(std::move(document)), job_(document_.sheet) {
  build_id_ = read_own_binary().build_id;
  launch::HostDocument told{document_.sheet, document_.program, {}, document_.grace_ms};
  for (const std::string& name : document_.exported) {
    const auto found = system.environment.variables.find(name);
    if (found != system.environment.variables.end()) told.values.insert(*found);
  }
  told_ = launch::render_host_document(told);
  for (std::uint32_t node = 0; node < document_.sheet.hosts.size(); ++node) {
    Hand& hand = hands_.emplace_back();
    hand.node = node;
    hand.here = is_this_host(system.environment, host_of(hand).name);
    if (host_of(hand).ranks.empty()) hand.state = Hand::over;
  }
  const std::size_t descriptors = hands_.size() * 4 + 64;
  if (!allow_descriptors(descriptors)) {
    throw Error(ErrorKind::request,
                {fmt::format("{} hosts need {} open files, fewer are allowed", hands_.size(), descriptors),
                 "ulimit -Hn", "a higher limit in /etc/security/limits.conf; or mpirun"});
  }
}

StartHead::Hand* StartHead::of_member(std::size_t member) {
  const auto found = hand_of_member_.find(member);
  return found == hand_of_member_.end() ? nullptr : &hands_[found->second];
}

void StartHead::say(Hand& hand, WireWord word, std::uint32_t number, std::string bytes) {
  crew_.say(hand.member, launch::render_wire({word, number, 0, std::move(bytes)}));
}

void StartHead::say_to_all(WireWord word, std::uint32_t number) {
  for (Hand& hand : hands_) {
    if (hand.state == Hand::prepared) say(hand, word, number);
  }
}

void StartHead::start_more() {
  const auto now = Steady::now();
  for (Hand& hand : hands_) {
    if (starting_ >= most_starting) return;
    if (hand.state == Hand::waiting && now >= hand.due) start_hand(hand);
  }
}

void StartHead::start_hand(Hand& hand) {
  const std::string& own = system_.environment.executable;
  CrewMember member;
  member.command =
      hand.here ? Command{own, "start-ranks"} : launch::plan_host_command(document_, host_of(hand), own);
  member.spoken_to = true;
  hand.state = Hand::starting;
  hand.due = Steady::now() + start_patience;
  hand.greeting = {};
  hand.reader = {};
  hand.said.clear();
  hand.greeted = false;
  ++hand.attempts;
  ++starting_;
  hand.member = crew_.start(member);
  hand_of_member_[hand.member] = hand.node;
}

// Each host is told at once what it will start, and starts when all are prepared: a job whose hosts are not
// all there starts nowhere.
void StartHead::greeted(Hand& hand) {
  hand.greeted = true;
  if (hand.greeting.build_id() != build_id_) {
    return give_up(hand, ErrorKind::request,
                   {fmt::format("{} has another build of ddlrun", host_of(hand).name),
                    system_.environment.executable, how_to_bring()});
  }
  if (!hand.greeting.noise().empty()) crew_.tell(STDERR_FILENO, hand.greeting.noise());
  say(hand, WireWord::document, hand.node, told_);
  take_words(hand, hand.greeting.rest());
}

std::string StartHead::how_to_bring() const {
  return fmt::format("the same file by the same path on all hosts: a shared folder, or scp {0} HOST:{0}",
                     quote_shell(system_.environment.executable));
}

void StartHead::take_bytes(Hand& hand, std::string_view bytes) {
  if (hand.state == Hand::over) return;
  if (hand.greeted) return take_words(hand, bytes);
  const auto state = hand.greeting.feed(bytes);
  if (state == launch::GreetingFinder::found) return greeted(hand);
  if (state == launch::GreetingFinder::hopeless) {
    give_up(hand, ErrorKind::unreachable,
            {fmt::format("{} prints without end before ddlrun starts", host_of(hand).name),
             "its shell's start-up files",
             fmt::format("ssh {} true   # must print nothing", host_of(hand).name)});
  }
}

void StartHead::take_words(Hand& hand, std::string_view bytes) {
  try {
    hand.reader.feed(bytes, [&](WireMessage&& message) { take(hand, std::move(message)); });
  } catch (const Error& error) {
    hand.said = error.message().what + ": " + error.message().where;
    crew_.signal(hand.member, SIGKILL);
  }
}

void StartHead::take(Hand& hand, WireMessage&& message) {
  switch (message.word) {
    case WireWord::prepared:
      if (hand.state != Hand::starting) return;
      hand.state = Hand::prepared;
      --starting_;
      if (status_ || signal_ != 0) say(hand, WireWord::stop);
      return;
    case WireWord::refused:
      return give_up(hand, ErrorKind::request, as_message(message.bytes, host_of(hand).name));
    case WireWord::out:
      return crew_.tell(STDOUT_FILENO, message.bytes);
    case WireWord::err:
      return crew_.tell(STDERR_FILENO, message.bytes);
    case WireWord::ended:
      return follow(job_.rank_ended(message.number, message.value));
    case WireWord::took:
      crew_.hears_input = true;
      return;
    default:
      return;
  }
}

void StartHead::give_up(Hand& hand, ErrorKind kind, Message problem) {
  if (hand.state == Hand::starting) --starting_;
  hand.state = Hand::over;
  hand.problem_kind = kind;
  hand.problem = std::move(problem);
  crew_.close_input(hand.member);
  crew_.signal(hand.member, SIGTERM);
}

// Connections that sshd drops because there are too many at once.
bool StartHead::try_again(Hand& hand, const ProcessResult& end) {
  const bool dropped = doctor::classify_problem(hand.said, end.exit_status, false) == "kex-reset";
  if (!dropped || hand.here || hand.attempts >= most_attempts || status_ || signal_ != 0) return false;
  hand.state = Hand::waiting;
  hand.due = Steady::now() + std::chrono::milliseconds(250) * (1 << hand.attempts) +
             std::chrono::milliseconds(hand.node * 37 % 250);
  return true;
}

void StartHead::hand_ended(Hand& hand, const ProcessResult& end) {
  const bool was_starting = hand.state == Hand::starting;
  if (hand.state == Hand::over) return;
  hand.state = Hand::over;
  const std::string said = end.start_error.empty() ? last_line(hand.said) : end.start_error;
  if (going_) return follow(job_.host_lost(hand.node, said));
  if (was_starting) --starting_;
  if (was_starting && try_again(hand, end)) return;
  if (status_ || signal_ != 0) return;
  const std::string& host = host_of(hand).name;
  const bool no_ddlrun = end.exit_status == 127 || end.exit_status == 126 || end.exit_status == 2;
  hand.problem_kind = no_ddlrun ? ErrorKind::request : ErrorKind::unreachable;
  hand.problem = {
      no_ddlrun ? fmt::format("{} has no ddlrun that can start ranks: {}", host, said)
                : fmt::format("{} cannot be reached: {}", host,
                              said.empty() ? fmt::format("status {}", end.exit_status) : said),
      no_ddlrun ? system_.environment.executable : "ssh " + host,
      no_ddlrun ? how_to_bring() : fmt::format("ssh -o BatchMode=yes {0} true; ddlrun doctor {0}", host)};
}

void StartHead::tell_problems() {
  problems_told_ = true;
  for (const Hand& hand : hands_) {
    if (hand.problem.what.empty()) continue;
    if (!status_ || hand.problem_kind == ErrorKind::request) status_ = exit_code(hand.problem_kind);
    crew_.tell(STDERR_FILENO, render_error("ddlrun", hand.problem));
  }
  crew_.tell(STDERR_FILENO, "ddlrun: nothing was started\n");
  stop(true);
}

void StartHead::go_or_give_up() {
  if (going_ || problems_told_ || signal_ != 0) return;
  bool problem = false;
  for (const Hand& hand : hands_) {
    if (hand.state == Hand::waiting || hand.state == Hand::starting) return;
    problem = problem || !hand.problem.what.empty();
  }
  if (problem) return tell_problems();
  going_ = true;
  say_to_all(WireWord::go);
  crew_.hears_input = !system_.environment.stdin_is_terminal;
}

void StartHead::follow(const launch::StartJob::Orders& orders) {
  // Where ranks tell how they fare, `launch` says who failed first; of a host it knows less than we do.
  const bool is_told = !document_.program.watch_token.empty() && job_.first_failure();
  for (const std::string& message : orders.messages) {
    if (!is_told) crew_.tell(STDERR_FILENO, fmt::format("ddlrun: {}\n", message));
  }
  for (const std::uint32_t rank : orders.end) say_to_all(WireWord::end, rank);
  if (orders.stop) stop(false);
}

void StartHead::stop(bool at_once) {
  say_to_all(WireWord::stop, at_once ? 1 : 0);
  const auto grace = at_once ? std::chrono::milliseconds(0) : std::chrono::milliseconds(document_.grace_ms);
  const auto cut = Steady::now() + grace + cut_patience;
  cut_at_ = cut_at_ ? std::min(*cut_at_, cut) : cut;
  stop_at_.reset();
}

void StartHead::take_signal(int signal) {
  const bool ends = signal != SIGUSR1 && signal != SIGUSR2;
  // What is sent to a whole group comes to us by two ways.
  if (ends && signal == signal_ && Steady::now() - signalled_ < std::chrono::seconds(1)) return;
  if (going_) say_to_all(WireWord::signal, static_cast<std::uint32_t>(signal));
  if (!ends) return;
  const bool again = signal_ != 0;
  signal_ = signal;
  signalled_ = Steady::now();
  if (!going_ || again) {
    for (Hand& hand : hands_) {
      if (hand.state == Hand::waiting) hand.state = Hand::over;
    }
    return stop(true);
  }
  job_.told_to_stop();
  stop_at_ = Steady::now() + std::chrono::milliseconds(document_.grace_ms);
}

void StartHead::take_input(std::string_view bytes) {
  crew_.hears_input = false;  // until it was taken
  for (Hand& hand : hands_) {
    const auto& ranks = host_of(hand).ranks;
    const bool holds_0 = !ranks.empty() && ranks.front() == 0;
    if (holds_0 && hand.state == Hand::prepared) say(hand, WireWord::input, 0, std::string(bytes));
  }
}

void StartHead::look_at_time() {
  const auto now = Steady::now();
  if (stop_at_ && now >= *stop_at_) stop(false);
  for (Hand& hand : hands_) {
    if (hand.state == Hand::starting && now >= hand.due) {
      give_up(hand, ErrorKind::unreachable,
              {fmt::format("{} is not ready within {} s", host_of(hand).name, start_patience.count()),
               last_line(hand.said), fmt::format("ddlrun doctor {}", host_of(hand).name)});
    }
    if (cut_at_ && now >= *cut_at_) crew_.signal(hand.member, SIGKILL);
  }
  if (!going_ && signal_ != 0) {
    for (Hand& hand : hands_) {
      if (hand.state == Hand::starting) crew_.signal(hand.member, SIGTERM);
    }
  }
  crew_.hears_members = crew_.untold() < most_waiting || (cut_at_ && now >= *cut_at_);
}

std::chrono::milliseconds StartHead::patience() const {
  return going_ && !stop_at_ && !cut_at_ && crew_.hears_members ? head_rest : head_tick;
}

CrewEars StartHead::ears() {
  CrewEars ears;
  ears.out = [this](std::size_t member, std::string_view bytes) {
    if (Hand* hand = of_member(member)) take_bytes(*hand, bytes);
  };
  ears.err = [this](std::size_t member, std::string_view bytes) {
    Hand* hand = of_member(member);
    if (hand == nullptr) return;
    hand->said += bytes;
    if (hand->said.size() > most_said) hand->said.erase(0, hand->said.size() - most_said);
    if (hand->state == Hand::prepared) crew_.tell(STDERR_FILENO, bytes);
  };
  ears.ended = [this](std::size_t member, const ProcessResult& end) {
    if (Hand* hand = of_member(member)) hand_ended(*hand, end);
    hand_of_member_.erase(member);
  };
  ears.input = [this](std::string_view bytes) { take_input(bytes); };
  ears.signal = [this](int signal) { take_signal(signal); };
  return ears;
}

int StartHead::run() {
  const CrewEars ears = this->ears();
  const auto waits = [this] {
    return std::ranges::any_of(hands_, [](const Hand& hand) { return hand.state == Hand::waiting; });
  };
  while (crew_.alive() > 0 || waits() || (!going_ && !problems_told_ && signal_ == 0)) {
    start_more();
    go_or_give_up();
    crew_.wait(patience(), ears);
    look_at_time();
    if (!crew_.told_nobody() || status_) continue;
    status_ = 128 + SIGPIPE;  // nobody reads on: as any program in a pipe
    job_.told_to_stop();
    stop(false);
  }
  while (crew_.untold() > 0 && !crew_.told_nobody()) crew_.wait(head_tick, ears);
  if (status_) return *status_;
  if (!going_ && signal_ != 0) return 128 + signal_;
  return job_.status();
}

}  // namespace ddlrun::cli
