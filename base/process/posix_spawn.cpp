// SPDX-License-Identifier: MIT
#include "base/process/posix_spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

extern char** environ;

namespace ddlrun {

namespace {

// What the child needs between fork and exec, made before the fork: nothing may allocate there.
struct Prepared {
  std::vector<char*> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp;
};

Prepared prepare(const Command& command, const EnvVars& extra) {
  Prepared prepared;
  for (const std::string& word : command) prepared.argv.push_back(const_cast<char*>(word.c_str()));
  prepared.argv.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (extra.count(std::string(text.substr(0, text.find('=')))) == 0) {
      prepared.environment.emplace_back(text);
    }
  }
  for (const auto& [name, value] : extra) prepared.environment.push_back(name + "=" + value);
  for (std::string& entry : prepared.environment) prepared.envp.push_back(entry.data());
  prepared.envp.push_back(nullptr);
  return prepared;
}

void limit_resource(__rlimit_resource_t resource, rlim_t value) {
  const rlimit limit{value, value};
  ::setrlimit(resource, &limit);
}

// The child's ends; -1 = inherited.
struct Ends {
  int in = -1, out = -1, err = -1;
};

void take_ends(const Ends& ends) {
  if (ends.in >= 0) ::dup2(ends.in, STDIN_FILENO);
  if (ends.out >= 0) ::dup2(ends.out, STDOUT_FILENO);
  if (ends.err >= 0) ::dup2(ends.err, STDERR_FILENO);
}

// Between vfork and exec the child has our memory: a handler of ours must not run in it.
void reset_handlers() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    const bool known = ::sigaction(number, nullptr, &action) == 0;
    if (!known || action.sa_handler == SIG_IGN || action.sa_handler == SIG_DFL) continue;
    ::signal(number, SIG_DFL);
  }
}

class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

[[noreturn]] void become(const Prepared& prepared, const SpawnOptions& options, pid_t parent,
                         const Ends& ends, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);  // the parent died before the death signal was set
  if (options.own_group) ::setpgid(0, 0);
  reset_handlers();
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (options.empty_stdin && ends.in < 0) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
  }
  take_ends(ends);
  if (options.limits.memory_bytes > 0) limit_resource(RLIMIT_AS, options.limits.memory_bytes);
  if (options.limits.cpu_seconds > 0) limit_resource(RLIMIT_CPU, options.limits.cpu_seconds);
  if (options.prepare && !options.prepare()) ::_exit(126);
  ::execvpe(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
  const int code = errno;
  [[maybe_unused]] const ssize_t n = ::write(failure, &code, sizeof code);
  ::_exit(127);
}

void adopt(Child& child, pid_t pid, Fd in, Fd out, Fd err) {
  child.pid = pid;
  child.pidfd = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  child.in = std::move(in);
  child.out = std::move(out);
  child.err = std::move(err);
  for (const Fd* fd : {&child.in, &child.out, &child.err}) {
    if (fd->open()) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  }
}

}  // namespace

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {Fd(ends[0]), Fd(ends[1])};
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int Fd::release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void drain(Fd& fd, const std::function<void(std::string_view bytes)>& take, std::size_t most) {
  std::array<char, 1 << 16> buffer;
  std::size_t taken = 0;
  while (fd.open() && taken < most) {
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) return fd.reset();
    take({buffer.data(), static_cast<std::size_t>(n)});
    taken += static_cast<std::size_t>(n);
  }
}

Child spawn_child(const Command& command, const SpawnOptions& options) {
  Child child;
  if (command.empty()) {
    child.start_errno = EINVAL;
    child.start_error = "an empty command";
    return child;
  }
  const Prepared prepared = prepare(command, options.extra);
  Pipe in = options.pipe_stdin ? make_pipe() : Pipe{};
  Pipe out = options.out == Stream::pipe ? make_pipe() : Pipe{};
  Pipe err = options.err == Stream::pipe ? make_pipe() : Pipe{};
  Pipe failure = make_pipe();
  const pid_t parent = ::getpid();
  std::optional<BlockedSignals> blocked{std::in_place};
  // fork copies the page tables: a start would cost more with each host whose answer is already in memory.
  const pid_t pid = options.prepare ? ::fork() : ::vfork();
  if (pid < 0) {
    child.start_errno = errno;
    child.start_error = std::strerror(errno);
    return child;
  }
  if (pid == 0) {
    const int out_end = options.given_out >= 0 ? options.given_out : out.write.get();
    const int err_end = options.given_err >= 0 ? options.given_err : err.write.get();
    const int in_end = options.given_in >= 0 ? options.given_in : in.read.get();
    become(prepared, options, parent, {in_end, out_end, err_end}, failure.write.get());
  }
  blocked.reset();
  in.read.reset();
  out.write.reset();
  err.write.reset();
  failure.write.reset();
  int code = 0;
  ssize_t n = 0;
  do {  // returns at once: the pipe closes at exec
    n = ::read(failure.read.get(), &code, sizeof code);
  } while (n < 0 && errno == EINTR);
  if (n == sizeof code) {
    ::waitpid(pid, nullptr, 0);
    child.start_error = std::strerror(code);
    child.start_errno = code;
    return child;
  }
  adopt(child, pid, std::move(in.write), std::move(out.read), std::move(err.read));
  return child;
}

Child fork_child(const std::function<int()>& body) {
  Child child;
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    child.start_errno = errno;
    child.start_error = std::strerror(errno);
    return child;
  }
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    ::setpgid(0, 0);
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    take_ends({null, out.write.get(), err.write.get()});
    ::_exit(body());
  }
  adopt(child, pid, {}, std::move(out.read), std::move(err.read));
  return child;
}

void reap_child(pid_t pid, ProcessResult& result) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    result.signal = WTERMSIG(status);
    result.exit_status = 128 + result.signal;
  } else {
    result.exit_status = WEXITSTATUS(status);
  }
}

}  // namespace ddlrun
