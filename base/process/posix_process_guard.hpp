// SPDX-License-Identifier: MIT
// A program and all that it starts, kept by a guardian: a process of ours between us and the program that
// ends whatever is left when the program has ended, or we have. Linux only.
#pragma once

#include "base/os/system.hpp"
#include "base/process/posix_output_forwarder.hpp"
#include "base/process/posix_spawn.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <vector>

namespace ddlrun {

// Something that is looked at again and again, first after `first`.
struct GuardianWatch {
  std::function<void(pid_t program)> look;
  std::chrono::milliseconds every{1000}, first{1000};
};

struct GuardianOptions {
  bool capture_err = false;  // Guarded::err is our end of the program's stderr
  EnvVars extra;             // added to the program's environment
  // The program has a process group of its own, so that the keys of the terminal, and timeout(1), signal us
  // alone; it still gets what is typed.
  bool own_group = false;
  // The program alone gets TERM first, and so long to clear away what it made, then KILL; 0: TERM with the
  // rest.
  std::chrono::milliseconds program_grace{0};
  // From TERM to KILL: for all when we let go, and for what is left when the program has ended by itself.
  std::chrono::milliseconds grace{2000};
  std::chrono::milliseconds leftover_grace{500};
  // In the guardian, while the program runs; it has our stderr, if that is not captured.
  std::vector<GuardianWatch> watches;
  // Not empty: the guardian takes what the program says on stdout and stderr and passes it on to our stderr,
  // so marked. It goes on with that if we are killed.
  RelayMark mark;
  bool marks_only_err = false;  // the program keeps our stdout
  // In the guardian, before we learn of the end; in us if the guardian was killed. `forwarded_signal` is
  // SIGKILL if not only the program was killed.
  std::function<void(const ProcessResult& end)> on_end;
  // In the guardian, when all have ended; in us if the guardian was killed.
  std::function<void(int program)> after_all;
};

// The death of this process closes `alive`, which the guard detects.
struct Guarded {
  pid_t guardian = -1;
  pid_t program = -1;
  Fd alive;
  Fd reports;  // readable when there is an end to be read
  Fd err;      // non-blocking
  std::string start_error;
  int start_errno = 0;  // ECHILD: the guardian was killed before it had reported the start
};

// Makes us a subreaper too: if the guardian is killed, what it kept comes to us. Signals should be blocked
// before, and stay so in the guardian; the program gets them unblocked.
Guarded start_guarded(const Command& command, const GuardianOptions& options);

// The program and all that it started are to end now; the report follows.
void terminate_guarded(Guarded& guarded);

// Waits for the report. If the guard was killed: ends all remaining processes and reports signal 9.
ProcessResult take_end(Guarded& guarded, const GuardianOptions& options);

}  // namespace ddlrun
