// SPDX-License-Identifier: MIT
#include "base/os/path_owner.hpp"
#include "base/os/posix_system.hpp"
#include "base/os/replaced_path.hpp"
#include "base/os/standard_output.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "base/text/write_remedy.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <utility>

namespace ddlrun {

namespace {

// Closes on every way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void refuse_file(std::string_view action, const std::string& path, int code) {
  const bool reads = action == "read";
  const std::string hint = code == ENOENT   ? "ls -l " + quote_shell(directory_of(path))
                           : code == EISDIR ? "a file in it: ls " + quote_shell(path)
                           : reads          ? "check the permissions; ls -ld " + quote_shell(path)
                                            : write_remedy(code, path);
  throw Error(ErrorKind::request,
              {fmt::format("cannot {} {}: {}", action, path, std::strerror(code)), path, hint});
}

// 0, or an errno.
int write_bytes(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(descriptor, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // somebody else made the terminal or pipe non-blocking
      pollfd writable{descriptor, POLLOUT, 0};
      ::poll(&writable, 1, -1);
      continue;
    }
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

// A device, a pipe, or where stdout goes: nothing that can be replaced.
bool write_through(const std::string& path, const ReplacedPath& target, std::string_view bytes) {
  const struct stat& status = target.status();
  if (S_ISDIR(status.st_mode)) refuse_file("write", path, EISDIR);
  const int stream = find_own_stream(status);
  if (stream < 0 && S_ISREG(status.st_mode)) return false;
  Descriptor d{stream >= 0 ? ::fcntl(stream, F_DUPFD_CLOEXEC, 0) : target.open_for_writing()};
  if (d.fd < 0) refuse_file("write", path, errno);
  if (const int code = write_bytes(d.fd, bytes); code != 0) refuse_file("write", path, code);
  if (::close(std::exchange(d.fd, -1)) != 0) refuse_file("write", path, errno);
  return true;
}

// 0, or an errno. A file that only its owner could read stays so.
int write_whole(int descriptor, const ReplacedPath& replaced, std::string_view bytes) {
  if (replaced.keeps_mode() && ::fchmod(descriptor, replaced.status().st_mode & 0777) != 0) return errno;
  if (const int code = write_bytes(descriptor, bytes); code != 0) return code;
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

// Takes FILE.tmp.PID, or FILE.tmp.PID.N beside what a killed process with this number has left; "": errno.
std::string take_temporary_name(const std::string& path,
                                const std::function<bool(const std::string& name)>& take) {
  constexpr int most_names = 100;
  const std::string first = fmt::format("{}.tmp.{}", path, ::getpid());
  std::string name = first;
  for (int i = 1; !take(name); ++i) {
    if (errno != EEXIST || i == most_names) return {};
    name = fmt::format("{}.{}", first, i);
  }
  return name;
}

bool rename_or_remove(const std::string& temporary, const std::string& path) {
  if (::rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int code = errno;
  ::unlink(temporary.c_str());
  errno = code;
  return false;
}

// By a file that has no name until it is whole: a process that is killed meanwhile leaves nothing behind.
// False where the file system has no such files, for one NFS.
bool write_nameless(const ReplacedPath& replaced, std::string_view bytes) {
  const std::string& path = replaced.path();
  const Descriptor d{::open(directory_of(path).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644)};
  if (d.fd < 0 || write_whole(d.fd, replaced, bytes) != 0) return false;
  const std::string own = fmt::format("/proc/self/fd/{}", d.fd);
  const auto link = [&](const std::string& name) {
    return ::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (!replaced.exists() && link(path)) return true;
  const std::string temporary = take_temporary_name(path, link);
  return !temporary.empty() && rename_or_remove(temporary, path);
}

void write_named(const ReplacedPath& replaced, std::string_view bytes) {
  const std::string& path = replaced.path();
  Descriptor d{-1};
  const std::string temporary = take_temporary_name(path, [&](const std::string& name) {
    d.fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    return d.fd >= 0;
  });
  if (temporary.empty()) refuse_file("write", path, errno);
  if (const int code = write_whole(d.fd, replaced, bytes); code != 0) {
    ::unlink(temporary.c_str());
    refuse_file("write", path, code);
  }
  if (!rename_or_remove(temporary, path)) refuse_file("write", path, errno);
}

// With the directories above it that are missing, each for its user only whatever the umask is. 0, or an
// errno.
int make_private(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return 0;
  if (errno == ENOENT) {
    const std::string above = directory_of(path);
    if (above == path) return ENOENT;
    if (const int code = make_private(above); code != 0) return code;
    if (::mkdir(path.c_str(), 0700) == 0) return 0;
  }
  const int code = errno;
  struct stat there {};
  if (::stat(path.c_str(), &there) != 0) return code;
  return S_ISDIR(there.st_mode) ? 0 : ENOTDIR;
}

void sync_directory(const std::string& directory) {
  const Descriptor d{::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (d.fd >= 0) ::fsync(d.fd);
}

}  // namespace

void write_all(int descriptor, std::string_view bytes) {
  const int code = write_bytes(descriptor, bytes);
  if (code == 0) return;
  const std::string place = descriptor == STDOUT_FILENO   ? "standard output"
                            : descriptor == STDERR_FILENO ? "standard error"
                                                          : fmt::format("descriptor {}", descriptor);
  throw Error(ErrorKind::request, unwritten_output(code, place));
}

void write_diagnostics(std::string_view bytes) noexcept {
  // SIGPIPE stays blocked while we write, and one of ours is taken back: a handler of the program's sees
  // none.
  sigset_t pipe, before, pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::sigpending(&pending);
  const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  int code = write_bytes(STDERR_FILENO, bytes);
  const timespec none{};
  while (code == EPIPE && !was_pending && ::sigtimedwait(&pipe, nullptr, &none) < 0 && errno == EINTR) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void prepare_process() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one: those below it are open.
    const int opened = ::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_WRONLY);
    if (opened != fd && opened >= 0) ::close(opened);
  }
  // A handler, for an ignored signal would stay ignored in the programs that this process starts.
  struct sigaction beyond_limit {};
  if (::sigaction(SIGXFSZ, nullptr, &beyond_limit) != 0 || beyond_limit.sa_handler != SIG_DFL) return;
  beyond_limit.sa_handler = [](int) {};
  beyond_limit.sa_flags = SA_RESTART;
  ::sigaction(SIGXFSZ, &beyond_limit, nullptr);
}

std::string PosixFiles::read(const std::string& path, std::uint64_t max_bytes) {
  const Descriptor d{path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (d.fd < 0) refuse_file("read", path, errno);
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (true) {
    const ssize_t n = ::read(d.fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse_file("read", path, errno);
    if (n == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(n));
    if (bytes.size() > max_bytes) {
      throw Error(ErrorKind::request, {fmt::format("{} is larger than {} bytes", path, max_bytes), path,
                                       "check that this is the file you meant: file " + quote_shell(path)});
    }
  }
}

void PosixFiles::read_blocks(const std::string& path,
                             const std::function<void(std::string_view block)>& sink) {
  const Descriptor d{path == "-" ? ::dup(0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (d.fd < 0) refuse_file("read", path, errno);
  std::vector<char> buffer(1 << 18);
  while (true) {
    const ssize_t n = ::read(d.fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse_file("read", path, errno);
    if (n == 0) return;
    sink({buffer.data(), static_cast<std::size_t>(n)});
  }
}

std::optional<FilePart> PosixFiles::read_from(const std::string& path, std::uint64_t offset,
                                              std::uint64_t max_bytes) {
  const Descriptor d{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (d.fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat status {};
  if (d.fd < 0 || ::fstat(d.fd, &status) != 0) refuse_file("read", path, errno);
  FilePart part;
  part.size = static_cast<std::uint64_t>(status.st_size);
  if (part.size <= offset) return part;
  part.bytes.resize(std::min(part.size - offset, max_bytes));
  std::size_t filled = 0;
  while (filled < part.bytes.size()) {
    const ssize_t n = ::pread(d.fd, part.bytes.data() + filled, part.bytes.size() - filled,
                              static_cast<off_t>(offset + filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse_file("read", path, errno);
    if (n == 0) break;  // cut off meanwhile
    filled += static_cast<std::size_t>(n);
  }
  part.bytes.resize(filled);
  return part;
}

bool PosixFiles::exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::string PosixFiles::foreign_owner(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) == 0 && status.st_uid != ::geteuid() && status.st_uid != 0)
    return fmt::format("it belongs to user {}", status.st_uid);
  return find_replaceable_step(directory);
}

std::string PosixFiles::foreign_writer(const std::string& file) { return find_foreign_writer(file); }

void PosixFiles::write(const std::string& given, std::string_view bytes) {
  const ReplacedPath replaced(given);
  if (replaced.error() != 0) refuse_file("write", given, replaced.error());
  if (replaced.exists() && write_through(given, replaced, bytes)) return;
  if (!write_nameless(replaced, bytes)) write_named(replaced, bytes);
  sync_directory(directory_of(replaced.path()));
}

void PosixFiles::rewrite(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new";
  Descriptor d{::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)};
  if (d.fd < 0) refuse_file("write", path, errno);
  int code = write_bytes(d.fd, bytes);
  if (::close(std::exchange(d.fd, -1)) != 0 && code == 0) code = errno;  // NFS reports a full disk here
  if (code == 0 && rename_or_remove(beside, path)) return;
  if (code != 0) ::unlink(beside.c_str());
  refuse_file("write", path, code != 0 ? code : errno);
}

void PosixFiles::append(const std::string& path, std::string_view bytes) {
  const Descriptor d{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0600)};
  if (d.fd < 0) refuse_file("append to", path, errno);
  while (!bytes.empty()) {
    const ssize_t n = ::write(d.fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse_file("append to", path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

void PosixFiles::sync(const std::string& path) {
  const Descriptor d{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (d.fd < 0 && errno == ENOENT) return;
  if (d.fd < 0 || (::fsync(d.fd) != 0 && errno != EINVAL)) refuse_file("sync", path, errno);
}

void PosixFiles::remove(const std::string& path) {
  if (::remove(path.c_str()) != 0 && errno != ENOENT) {
    const std::string why = std::strerror(errno);
    throw Error(ErrorKind::request, {fmt::format("cannot remove {}: {}", printable(path), why), path,
                                     "ls -ld " + quote_shell(path)});
  }
}

std::string PosixFiles::make_directory(const std::string& prefix) {
  std::string name = prefix + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) refuse_file("make a directory", prefix, errno);
  return name;
}

void PosixFiles::make_directories(const std::string& path) {
  if (const int code = make_private(path); code != 0) refuse_file("make the directory", path, code);
}

bool PosixFiles::make_new_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return true;
  if (errno == EEXIST) return false;
  refuse_file("make the directory", path, errno);
}

}  // namespace ddlrun
