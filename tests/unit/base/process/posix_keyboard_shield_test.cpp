// SPDX-License-Identifier: MIT
// A guarded program at a terminal: a real pseudo-terminal with keys.
#include "base/process/posix_keyboard_shield.hpp"

#include "base/os/posix_system.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>

using namespace ddlrun;

namespace {

// A child of ours that runs a script, guarded, as the leader of a session with a terminal.
class AtTerminal {
 public:
  AtTerminal(const std::string& script, const RunHooks& hooks) {
    pid_ = ::forkpty(&keys_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    ::signal(SIGINT, SIG_DFL);
    PosixProcesses processes;
    ::_exit(processes.run_guarded({"/bin/sh", "-c", script}, {}, hooks).exit_status);
  }
  ~AtTerminal() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    ::close(keys_);
  }
  AtTerminal(const AtTerminal&) = delete;
  AtTerminal& operator=(const AtTerminal&) = delete;

  void type(const std::string& keys) const { CHECK(::write(keys_, keys.data(), keys.size()) > 0); }
  bool shows(const std::string& text) {
    std::array<char, 512> buffer;
    for (int turn = 0; turn < 100 && seen_.find(text) == std::string::npos; ++turn) {
      pollfd screen{keys_, POLLIN, 0};
      if (::poll(&screen, 1, 100) <= 0) continue;
      const ssize_t n = ::read(keys_, buffer.data(), buffer.size());
      if (n <= 0) break;
      seen_.append(buffer.data(), static_cast<std::size_t>(n));
    }
    return seen_.find(text) != std::string::npos;
  }
  int status() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int keys_ = -1;
  std::string seen_;
};

}  // namespace

TEST_SUITE_BEGIN("base/process/posix_keyboard_shield");

TEST_CASE("Ctrl-C at the terminal reaches the program as what the hook makes of it, and once") {
  RunHooks hooks;
  hooks.on_signal = [](int signal, bool delivered) {
    return signal == SIGINT && !delivered ? SIGUSR1 : SIGTERM;
  };
  AtTerminal run(
      "trap 'echo interrupted; exit 3' INT; trap 'echo user; exit 5' USR1; echo ready; "
      "while :; do sleep 0.05; done",
      hooks);
  REQUIRE(run.shows("ready"));
  run.type("\x03");
  CHECK(run.shows("user"));
  CHECK(run.status() == 5);
}

TEST_CASE("what is typed reaches the program, to the end of the input") {
  AtTerminal run("echo ready; read line; echo \"got $line\"; cat > /dev/null; echo end; exit 4", {});
  REQUIRE(run.shows("ready"));
  run.type("some words\n");
  CHECK(run.shows("got some words"));
  run.type("\x04");
  CHECK(run.shows("end"));
  CHECK(run.status() == 4);
}

TEST_SUITE_END();
