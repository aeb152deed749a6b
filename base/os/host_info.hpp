// SPDX-License-Identifier: MIT
// The interface to what the kernel and the C library know about this host: limits, files' modes, disks,
// names, interfaces, clock, identity. Plain values; a test answers from tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun {

class NetworkAccess;

// RLIM_INFINITY is `unlimited`.
struct Limit {
  std::uint64_t soft = 0, hard = 0;  // bytes or counts, as getrlimit gives them
  static constexpr std::uint64_t unlimited = UINT64_MAX;
};

struct FileInfo {
  enum class Kind { file, directory, link, device, other } kind = Kind::file;
  unsigned mode = 0;  // permission bits, 0755
  std::uint32_t uid = 0, gid = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_seconds = 0;  // since 1970
  std::uint64_t device = 0, inode = 0;
};

struct DiskSpace {
  std::uint64_t total_bytes = 0, free_bytes = 0;  // free: for unprivileged users
  std::uint64_t inodes = 0, free_inodes = 0;      // 0 where the file system has none
  std::uint64_t type = 0;                         // statfs f_type: 0x6969 NFS, 0x01021994 tmpfs
  bool read_only = false;
};

struct NameLookup {
  std::vector<std::string> addresses;  // as text, IPv4 first, each once
  std::string canonical;               // ai_canonname
  std::string problem;                 // gai_strerror where there is none
};

struct NetworkInterface {
  std::string name;
  bool up = false, running = false, loopback = false;
  int mtu = 0;
  std::vector<std::string> addresses;  // "10.1.1.2/24", "fe80::1/64"
};

struct ClockState {
  bool synchronised = false;  // adjtimex without STA_UNSYNC
  double estimated_error_seconds = 0;
};

struct Identity {
  std::uint32_t uid = 0, gid = 0;
  std::vector<std::uint32_t> groups;
  std::string user, home;
};

struct KernelName {
  std::string system, release, machine;  // uname
  std::string libc;                      // "glibc 2.36"
};

enum class Access { read, write, execute };

using DirectoryVisitor = std::function<bool(std::string_view name, FileInfo::Kind kind)>;

class HostInfo {
 public:
  virtual ~HostInfo() = default;
  // "memlock", "nofile", "nproc", "stack", "core", "as"; nothing for another name.
  virtual std::optional<Limit> limit(std::string_view name) = 0;
  virtual std::optional<FileInfo> file_info(const std::string& path, bool follow_links) = 0;
  virtual std::vector<std::string> list_directory(
      const std::string& path) = 0;  // names, sorted; {} if unreadable
  // Each entry as the directory holds them, unsorted, until `visit` answers false; false if it is unreadable.
  virtual bool visit_directory(const std::string& path, const DirectoryVisitor& visit) = 0;
  virtual std::optional<std::string> read_link(const std::string& path) = 0;
  // At most `bytes` of a file from `offset` on; nothing where it cannot be read.
  virtual std::optional<std::string> read_part(const std::string& /*path*/, std::uint64_t /*offset*/,
                                               std::size_t /*bytes*/) {
    return std::nullopt;
  }
  virtual std::optional<DiskSpace> disk_space(const std::string& path) = 0;
  virtual bool may_access(const std::string& path, Access access) = 0;
  virtual NameLookup find_addresses(const std::string& name) = 0;  // getaddrinfo, as ssh and mpirun do
  // The same for many, in their order; where it can, many at once: a slow resolver takes 0.3 s for a name.
  virtual std::vector<NameLookup> find_all_addresses(std::span<const std::string> names) {
    std::vector<NameLookup> all;
    for (const std::string& name : names) all.push_back(find_addresses(name));
    return all;
  }
  virtual std::vector<NetworkInterface> interfaces() = 0;
  virtual ClockState clock_state() = 0;
  virtual Identity identity() = 0;
  virtual KernelName kernel_name() = 0;
  virtual std::vector<int> usable_cpus() = 0;  // sched_getaffinity, ascending
  virtual std::uint64_t process_id() = 0;
  virtual NetworkAccess* network() { return nullptr; }  // ports and probes; nothing where there is none
};

}  // namespace ddlrun
