// SPDX-License-Identifier: MIT
#include "base/os/posix_host_info.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace ddlrun {

namespace {

struct LimitName {
  std::string_view name;
  __rlimit_resource_t resource;
};
constexpr std::array<LimitName, 6> limit_names{{{"memlock", RLIMIT_MEMLOCK},
                                                {"nofile", RLIMIT_NOFILE},
                                                {"nproc", RLIMIT_NPROC},
                                                {"stack", RLIMIT_STACK},
                                                {"core", RLIMIT_CORE},
                                                {"as", RLIMIT_AS}}};

std::uint64_t limit_value(rlim_t value) { return value == RLIM_INFINITY ? Limit::unlimited : value; }

FileInfo::Kind kind_of_mode(mode_t mode) {
  if (S_ISREG(mode)) return FileInfo::Kind::file;
  if (S_ISDIR(mode)) return FileInfo::Kind::directory;
  if (S_ISLNK(mode)) return FileInfo::Kind::link;
  if (S_ISCHR(mode) || S_ISBLK(mode)) return FileInfo::Kind::device;
  return FileInfo::Kind::other;
}

// Some file systems leave d_type open; then the entry itself is asked.
FileInfo::Kind kind_of_entry(int directory, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return FileInfo::Kind::file;
    case DT_DIR:
      return FileInfo::Kind::directory;
    case DT_LNK:
      return FileInfo::Kind::link;
    case DT_CHR:
    case DT_BLK:
      return FileInfo::Kind::device;
    case DT_UNKNOWN:
      break;
    default:
      return FileInfo::Kind::other;
  }
  struct stat seen {};
  if (::fstatat(directory, entry.d_name, &seen, AT_SYMLINK_NOFOLLOW) != 0) return FileInfo::Kind::other;
  return kind_of_mode(seen.st_mode);
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

std::optional<Limit> PosixHostInfo::limit(std::string_view name) {
  for (const LimitName& known : limit_names) {
    rlimit seen{};
    if (known.name != name || ::getrlimit(known.resource, &seen) != 0) continue;
    return Limit{limit_value(seen.rlim_cur), limit_value(seen.rlim_max)};
  }
  return std::nullopt;
}

std::optional<FileInfo> PosixHostInfo::file_info(const std::string& path, bool follow_links) {
  struct stat seen {};
  if (::fstatat(AT_FDCWD, path.c_str(), &seen, follow_links ? 0 : AT_SYMLINK_NOFOLLOW) != 0)
    return std::nullopt;
  FileInfo info;
  info.kind = kind_of_mode(seen.st_mode);
  info.mode = seen.st_mode & 07777;
  info.uid = seen.st_uid;
  info.gid = seen.st_gid;
  info.size_bytes = static_cast<std::uint64_t>(seen.st_size);
  info.modified_seconds = seen.st_mtim.tv_sec;
  info.device = seen.st_dev;
  info.inode = seen.st_ino;
  return info;
}

bool PosixHostInfo::visit_directory(const std::string& path, const DirectoryVisitor& visit) {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir(path.c_str()));
  if (!directory) return false;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (!visit(name, kind_of_entry(::dirfd(directory.get()), *entry))) break;
  }
  return true;
}

std::vector<std::string> PosixHostInfo::list_directory(const std::string& path) {
  std::vector<std::string> names;
  visit_directory(path, [&](std::string_view name, FileInfo::Kind) {
    names.emplace_back(name);
    return true;
  });
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> PosixHostInfo::read_link(const std::string& path) {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t n = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (n < 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(n));
}

std::optional<std::string> PosixHostInfo::read_part(const std::string& path, std::uint64_t offset,
                                                    std::size_t bytes) {
  // O_NONBLOCK: a pipe or a device under that name must not hold us.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  struct stat seen {};
  if (::fstat(file, &seen) == 0 && S_ISREG(seen.st_mode) && seen.st_size > 0) {  // files of /proc have size 0
    const auto size = static_cast<std::uint64_t>(seen.st_size);
    bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, size - std::min(size, offset)));
  }
  std::string part(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t n = ::pread(file, part.data() + got, bytes - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && got == 0) {
      ::close(file);
      return std::nullopt;
    }
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  ::close(file);
  part.resize(got);
  return part;
}

std::optional<DiskSpace> PosixHostInfo::disk_space(const std::string& path) {
  struct statvfs seen {};
  struct statfs type {};
  if (::statvfs(path.c_str(), &seen) != 0 || ::statfs(path.c_str(), &type) != 0) return std::nullopt;
  DiskSpace space;
  space.total_bytes = std::uint64_t{seen.f_blocks} * seen.f_frsize;
  space.free_bytes = std::uint64_t{seen.f_bavail} * seen.f_frsize;
  space.inodes = seen.f_files;
  space.free_inodes = seen.f_favail;
  space.type = static_cast<std::uint32_t>(type.f_type);  // magic numbers are 32 bits; some are sign-extended
  space.read_only = (seen.f_flag & ST_RDONLY) != 0;
  return space;
}

bool PosixHostInfo::may_access(const std::string& path, Access access) {
  const int mode = access == Access::read ? R_OK : access == Access::write ? W_OK : X_OK;
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

ClockState PosixHostInfo::clock_state() {
  timex state{};
  const int code = ::adjtimex(&state);  // modes = 0: nothing is changed, no right is needed
  ClockState result;
  result.synchronised = code >= 0 && code != TIME_ERROR && (state.status & STA_UNSYNC) == 0;
  result.estimated_error_seconds = static_cast<double>(state.esterror) / 1e6;
  return result;
}

Identity PosixHostInfo::identity() {
  Identity who;
  who.uid = ::geteuid();
  who.gid = ::getegid();
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, count)));
  const int got = groups.empty() ? 0 : ::getgroups(count, groups.data());
  who.groups.assign(groups.begin(), groups.begin() + std::max(0, got));
  std::sort(who.groups.begin(), who.groups.end());
  std::vector<char> buffer(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(who.uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
    who.user = found->pw_name;
    who.home = found->pw_dir;
  }
  return who;
}

KernelName PosixHostInfo::kernel_name() {
  utsname seen{};
  if (::uname(&seen) != 0) return {};
  return {seen.sysname, seen.release, seen.machine, fmt::format("glibc {}", ::gnu_get_libc_version())};
}

std::vector<int> PosixHostInfo::usable_cpus() {
  for (std::size_t most = 1024; most <= (1u << 20); most *= 4) {  // EINVAL: the kernel's mask is larger
    std::vector<unsigned long> words(most / (8 * sizeof(unsigned long)));
    auto* const mask = reinterpret_cast<cpu_set_t*>(words.data());
    const std::size_t bytes = words.size() * sizeof(unsigned long);
    if (::sched_getaffinity(0, bytes, mask) != 0) continue;
    std::vector<int> cpus;
    for (std::size_t cpu = 0; cpu < most; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, mask)) cpus.push_back(static_cast<int>(cpu));
    }
    return cpus;
  }
  return {};
}

std::uint64_t PosixHostInfo::process_id() { return static_cast<std::uint64_t>(::getpid()); }

}  // namespace ddlrun
