// SPDX-License-Identifier: MIT
#include "base/os/posix_system.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

namespace ddlrun {

namespace {

using Steady = std::chrono::steady_clock;

// Another screen, no cursor, no line that goes on in the next one; and back, in the order of their undoing.
constexpr std::string_view enter_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view leave_screen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

// A terminal that is gone takes nothing: its HUP ends the wait.
void write_screen(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (n < 0 && errno == EAGAIN) {
      pollfd writable{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&writable, 1, -1);
      continue;
    }
    if (n < 0 && errno != EINTR) return;
    if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

bool is_capable() {
  const char* const name = std::getenv("TERM");
  const std::string_view term = name == nullptr ? "" : name;
  return !term.empty() && term != "dumb" && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
}

// The signals that wait() returns or handles, without those that nohup and the like have switched off.
sigset_t awaited_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_IGN) ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

struct PosixTerminal::State {
  bool open = false;
  termios before{}, keys{};
  sigset_t masked_before{};
  int signals = -1;

  void enter() {
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
    write_screen(enter_screen);
  }
  void leave() noexcept {
    write_screen(leave_screen);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
  }
  // Until a shell or a user sends CONT.
  void suspend() {
    leave();
    sigset_t stop;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTSTP);
    ::raise(SIGTSTP);
    ::sigprocmask(SIG_UNBLOCK, &stop, nullptr);
    ::sigprocmask(SIG_BLOCK, &stop, nullptr);
    enter();
  }
};

PosixTerminal::PosixTerminal() : state_(std::make_unique<State>()) {}

PosixTerminal::~PosixTerminal() { close(); }

bool PosixTerminal::open() {
  if (state_->open) return true;
  if (!is_capable() || ::tcgetattr(STDIN_FILENO, &state_->before) != 0) return false;
  const sigset_t awaited = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &awaited, &state_->masked_before);
  state_->signals = ::signalfd(-1, &awaited, SFD_CLOEXEC | SFD_NONBLOCK);
  if (state_->signals < 0) {
    ::sigprocmask(SIG_SETMASK, &state_->masked_before, nullptr);
    return false;
  }
  state_->keys = state_->before;
  state_->keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);  // Ctrl-C and Ctrl-Z stay signals
  state_->keys.c_cc[VMIN] = 0;
  state_->keys.c_cc[VTIME] = 0;
  state_->open = true;
  state_->enter();
  return true;
}

void PosixTerminal::close() noexcept {
  if (!state_->open) return;
  state_->open = false;
  state_->leave();
  ::close(state_->signals);
  ::sigprocmask(SIG_SETMASK, &state_->masked_before, nullptr);
}

TerminalSize PosixTerminal::size() {
  winsize found{};
  TerminalSize size;
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &found) == 0 && found.ws_col > 0 && found.ws_row > 0)
    size = {found.ws_col, found.ws_row};
  return size;
}

void PosixTerminal::draw(const std::vector<std::string>& lines) {
  std::string screen = "\x1b[H";
  const std::size_t most = std::min(lines.size(), static_cast<std::size_t>(size().rows));
  for (std::size_t i = 0; i < most; ++i) {
    if (i > 0) screen += "\r\n";
    screen += lines[i];
    screen += "\x1b[K";
  }
  write_screen(screen + "\x1b[J");
}

TerminalEvent PosixTerminal::wait(std::chrono::milliseconds duration) {
  TerminalEvent event;
  const auto end = Steady::now() + duration;
  while (event.keys.empty() && event.signal == 0 && !event.changed) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Steady::now()).count();
    if (left < 0) break;
    std::array<pollfd, 2> polls{{{state_->signals, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    ::poll(polls.data(), polls.size(), static_cast<int>(left) + 1);
    signalfd_siginfo info{};
    while (::read(state_->signals, &info, sizeof info) == sizeof info) {
      const int signal = static_cast<int>(info.ssi_signo);
      event.changed = true;
      if (signal == SIGTSTP) state_->suspend();
      if (signal == SIGCONT) state_->enter();  // also after STOP, for which a shell takes the terminal back
      if (signal != SIGTSTP && signal != SIGCONT && signal != SIGWINCH) event.signal = signal;
    }
    std::array<char, 64> bytes;
    const ssize_t n = polls[1].revents != 0 ? ::read(STDIN_FILENO, bytes.data(), bytes.size()) : 0;
    if (n > 0) event.keys = find_plain_keys({bytes.data(), static_cast<std::size_t>(n)});
    const bool is_gone = (polls[1].revents & (POLLHUP | POLLERR)) != 0 || (n < 0 && errno == EIO);
    if (n <= 0 && is_gone) event.signal = SIGHUP;
  }
  if (event.signal != 0) close();
  return event;
}

std::string find_plain_keys(std::string_view bytes) {
  std::string keys;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto is_final = [&](std::size_t at) { return bytes[at] >= '@' && bytes[at] <= '~'; };
    if (bytes[i] != '\x1b') {
      if (bytes[i] >= ' ' && bytes[i] <= '~') keys += bytes[i];
      continue;
    }
    if (++i == bytes.size()) break;                    // Esc
    if (bytes[i] == 'O' && i + 1 < bytes.size()) ++i;  // F1
    if (bytes[i] == '[')                               // an arrow
      for (++i; i < bytes.size() && !is_final(i);) ++i;
  }
  return keys;
}

}  // namespace ddlrun
