// SPDX-License-Identifier: MIT
#include "base/process/posix_keyboard_shield.hpp"

#include "base/process/posix_spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace ddlrun {

namespace {

constexpr int pause_ms = 200;

// Our stdout is the pipe. Exits when the program has closed its end, or the terminal is gone.
[[noreturn]] void copy_typed() {
  std::array<char, 4096> buffer;
  while (true) {
    pollfd reader{STDOUT_FILENO, 0, 0};
    if (::poll(&reader, 1, 0) > 0) ::_exit(0);
    const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
    if (foreground < 0) ::_exit(0);   // the terminal is gone
    if (foreground != ::getpgrp()) {  // in the background, where reading would stop us
      ::poll(nullptr, 0, pause_ms);
      continue;
    }
    pollfd typed{STDIN_FILENO, POLLIN, 0};
    if (::poll(&typed, 1, pause_ms) <= 0) continue;
    const ssize_t n = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EIO) && (typed.revents & POLLHUP) == 0) continue;
    if (n <= 0) ::_exit(0);
    for (ssize_t done = 0; done < n;) {
      const ssize_t written =
          ::write(STDOUT_FILENO, buffer.data() + done, static_cast<std::size_t>(n - done));
      if (written < 0 && errno != EINTR) ::_exit(0);
      if (written > 0) done += written;
    }
  }
}

}  // namespace

bool may_have_own_group() {
  const Fd terminal(::open("/dev/tty", O_RDWR | O_CLOEXEC));
  if (!terminal.open()) return true;
  termios modes{};
  // With tostop the kernel stops a background group that writes.
  return ::tcgetattr(terminal.get(), &modes) == 0 && (modes.c_lflag & TOSTOP) == 0;
}

pid_t start_typing(int to) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  ::prctl(PR_SET_NAME, "ddlrun-typed");
  ::dup2(to, STDOUT_FILENO);
  // Nothing else is held open: others wait for the end of these pipes.
  constexpr int most_open = 1024;
  for (int fd = STDERR_FILENO; fd < most_open; ++fd) ::close(fd);
  // What a shell or a key sends to our group is for ddlrun: the program still reads while it saves.
  for (const int key : {SIGINT, SIGQUIT, SIGTTIN, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2}) ::signal(key, SIG_IGN);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  copy_typed();
}

}  // namespace ddlrun
