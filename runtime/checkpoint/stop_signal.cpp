// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/stop_signal.hpp"

#include <atomic>
#include <csignal>

namespace ddlrun::runtime {
namespace {

// A handler has no other place to write to.
std::atomic<int> noted_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not block");

void note_signal(int number) { noted_signal = number; }

void handle_stop(int number, int flags) {
  struct sigaction action {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART | flags;
  sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals() {
  noted_signal = 0;
  handle_stop(SIGUSR1, 0);
  // The second signal has its default action.
  handle_stop(SIGTERM, static_cast<int>(SA_RESETHAND));
  // A shell's background job does not listen to keys.
  if (!is_ignored(SIGINT)) handle_stop(SIGINT, static_cast<int>(SA_RESETHAND));
}

StopSignals::~StopSignals() {
  std::signal(SIGUSR1, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  if (!is_ignored(SIGINT)) std::signal(SIGINT, SIG_DFL);
}

bool StopSignals::wanted() { return noted_signal != 0; }

std::string StopSignals::name() {
  switch (noted_signal) {
    case SIGUSR1:
      return "USR1";
    case SIGTERM:
      return "TERM";
    case SIGINT:
      return "INT";
    default:
      return "another rank's signal";
  }
}

}  // namespace ddlrun::runtime
