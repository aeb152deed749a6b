// SPDX-License-Identifier: MIT
// A kernel that answers from tables; what a table lacks does not exist.
#pragma once

#include "base/os/host_info.hpp"
#include "base/os/network.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::tests {

struct FakeHostInfo : HostInfo {
  std::map<std::string, Limit, std::less<>> limits;
  std::map<std::string, FileInfo> infos;     // by path; a link's own entry
  std::map<std::string, std::string> links;  // path -> target, as read_link gives it
  std::map<std::string, DiskSpace> disks;
  std::set<std::pair<std::string, Access>> denied;  // everything else that exists may be done
  std::map<std::string, NameLookup> names;
  std::vector<NetworkInterface> networks;
  ClockState clock;
  Identity who;
  KernelName kernel;
  std::vector<int> cpus;
  std::uint64_t pid = 4711;
  NetworkAccess* sockets = nullptr;

  // The entry at `path`, made with all directories above it where it is new.
  FileInfo& add(const std::string& path, FileInfo::Kind kind = FileInfo::Kind::file) {
    const auto slash = path.rfind('/');
    if (slash != std::string::npos && slash > 0 && infos.count(path.substr(0, slash)) == 0) {
      add(path.substr(0, slash), FileInfo::Kind::directory).mode = 0755;
    }
    FileInfo& info = infos[path];
    info.kind = kind;
    if (info.inode == 0) info.inode = infos.size();
    return info;
  }
  FileInfo& add_directory(const std::string& path) {
    FileInfo& info = add(path, FileInfo::Kind::directory);
    info.mode = 0755;
    return info;
  }
  void add_link(const std::string& path, const std::string& target) {
    add(path, FileInfo::Kind::link);
    links[path] = target;
  }

  std::optional<Limit> limit(std::string_view name) override {
    const auto found = limits.find(name);
    return found == limits.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<FileInfo> file_info(const std::string& path, bool follow_links) override {
    auto found = infos.find(path);
    for (int depth = 0; follow_links && found != infos.end() && links.count(found->first) > 0; ++depth) {
      if (depth == 8) return std::nullopt;
      const std::string& target = links.at(found->first);
      const std::string directory = found->first.substr(0, found->first.rfind('/') + 1);
      found = infos.find(target.starts_with('/') ? target : directory + target);
    }
    return found == infos.end() ? std::nullopt : std::optional(found->second);
  }
  bool visit_directory(const std::string& path, const DirectoryVisitor& visit) override {
    const auto directory = file_info(path, true);
    if (!directory || directory->kind != FileInfo::Kind::directory || denied.count({path, Access::read}) > 0)
      return false;
    for (auto at = infos.lower_bound(path + "/"); at != infos.end(); ++at) {
      if (!at->first.starts_with(path + "/")) break;
      const std::string name = at->first.substr(path.size() + 1);
      if (name.find('/') == std::string::npos && !visit(name, at->second.kind)) break;
    }
    return true;
  }
  std::vector<std::string> list_directory(const std::string& path) override {
    std::vector<std::string> entries;
    visit_directory(path, [&](std::string_view name, FileInfo::Kind) {
      entries.emplace_back(name);
      return true;
    });
    std::sort(entries.begin(), entries.end());
    return entries;
  }
  std::optional<std::string> read_link(const std::string& path) override {
    const auto found = links.find(path);
    return found == links.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<DiskSpace> disk_space(const std::string& path) override {
    const auto found = disks.find(path);
    return found == disks.end() ? std::nullopt : std::optional(found->second);
  }
  bool may_access(const std::string& path, Access access) override {
    return infos.count(path) > 0 && denied.count({path, access}) == 0;
  }
  NameLookup find_addresses(const std::string& name) override {
    const auto found = names.find(name);
    return found == names.end() ? NameLookup{{}, "", "Name or service not known"} : found->second;
  }
  std::vector<NetworkInterface> interfaces() override { return networks; }
  ClockState clock_state() override { return clock; }
  Identity identity() override { return who; }
  KernelName kernel_name() override { return kernel; }
  std::vector<int> usable_cpus() override { return cpus; }
  std::uint64_t process_id() override { return pid; }
  NetworkAccess* network() override { return sockets; }
};

}  // namespace ddlrun::tests
