// SPDX-License-Identifier: MIT
// The real kernel door: system calls and the C library, nothing that another program must answer.
#pragma once

#include "base/os/host_info.hpp"
#include "base/os/posix_sockets.hpp"

namespace ddlrun {

class PosixHostInfo : public HostInfo {
 public:
  std::optional<Limit> limit(std::string_view name) override;
  std::optional<FileInfo> file_info(const std::string& path, bool follow_links) override;
  std::vector<std::string> list_directory(const std::string& path) override;
  bool visit_directory(const std::string& path, const DirectoryVisitor& visit) override;
  std::optional<std::string> read_link(const std::string& path) override;
  std::optional<std::string> read_part(const std::string& path, std::uint64_t offset,
                                       std::size_t bytes) override;
  std::optional<DiskSpace> disk_space(const std::string& path) override;
  bool may_access(const std::string& path, Access access) override;
  NameLookup find_addresses(const std::string& name) override;
  std::vector<NameLookup> find_all_addresses(std::span<const std::string> names) override;
  std::vector<NetworkInterface> interfaces() override;
  ClockState clock_state() override;
  Identity identity() override;
  KernelName kernel_name() override;
  std::vector<int> usable_cpus() override;
  std::uint64_t process_id() override;
  NetworkAccess* network() override { return &network_; }

 private:
  PosixNetworkAccess network_;
};

}  // namespace ddlrun
