// SPDX-License-Identifier: MIT
#include "base/os/posix_system.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>

namespace ddlrun {

// Blocked for good, so that none is lost between two pauses; children get an empty mask of their own.
int SystemClock::pause(std::chrono::milliseconds duration) {
  sigset_t awaited;
  ::sigemptyset(&awaited);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) continue;  // nohup
    ::sigaddset(&awaited, signal);
  }
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  const auto end = std::chrono::steady_clock::now() + duration;
  while (true) {
    const auto left = std::max(
        std::chrono::nanoseconds(0),
        std::chrono::duration_cast<std::chrono::nanoseconds>(end - std::chrono::steady_clock::now()));
    const timespec time{static_cast<time_t>(left.count() / 1'000'000'000),
                        static_cast<long>(left.count() % 1'000'000'000)};
    const int signal = ::sigtimedwait(&awaited, nullptr, &time);
    if (signal > 0) return signal;
    if (errno != EINTR) return 0;
  }
}

}  // namespace ddlrun
