// SPDX-License-Identifier: MIT
// Gatherer "cgroup": the narrowest bound on the way from our control group to the root, version 1 or 2.
//   cgroup.cpu.percent      processor time allowed, 100 = one core; absent: no quota
//   cgroup.memory.bytes     absent: no bound (values above 2^60 mean none)
//   cgroup.memory.used      of the group that has that bound
//   cgroup.pids.max, cgroup.pids.used   processes and threads; of the group with the least room
//   cgroup.cpuset           "0-3", what the kernel leaves us; absent where no cpuset controller is
// Sources: /proc/self/cgroup, /sys/fs/cgroup.
#include "base/text/text.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ddlrun::doctor {

namespace {

struct Group {
  std::string mount;  // "/sys/fs/cgroup/pids" or, with version 2, "/sys/fs/cgroup"
  std::string path;   // "/system.slice/ssh.service"
  bool is_second = false;
};

// The group of one controller; "5:memory:/a", "0::/b".
std::optional<Group> find_group(const SysrootFiles& files, std::string_view table,
                                std::string_view controller) {
  std::optional<Group> second;
  for (const std::string_view line : split(table, '\n')) {
    const std::size_t first = line.find(':'), last = line.find(':', first + 1);
    if (first == std::string_view::npos || last == std::string_view::npos) continue;
    const std::string_view names = line.substr(first + 1, last - first - 1), path = line.substr(last + 1);
    if (names.empty()) {
      const bool is_hybrid = files.exists("/sys/fs/cgroup/unified/cgroup.controllers");
      second = Group{is_hybrid ? "/sys/fs/cgroup/unified" : "/sys/fs/cgroup", std::string(path), true};
    }
    const auto listed = split(names, ',');
    if (std::find(listed.begin(), listed.end(), controller) != listed.end())
      return Group{fmt::format("/sys/fs/cgroup/{}", controller), std::string(path), false};
  }
  return second;
}

// The group's directory and those above it, the root last; at most 32.
std::vector<std::string> dirs_of_group(const Group& group) {
  std::vector<std::string> dirs;
  std::string path = group.path == "/" ? "" : group.path;
  while (!path.empty() && dirs.size() < 31) {
    dirs.push_back(group.mount + path);
    path = path.substr(0, path.rfind('/'));
  }
  dirs.push_back(group.mount);
  return dirs;
}

void gather_cpu_quota(const SysrootFiles& files, const Group& group, Facts& facts) {
  std::optional<std::uint64_t> percent;
  for (const std::string& dir : dirs_of_group(group)) {
    std::optional<std::uint64_t> quota, period;
    if (group.is_second) {
      const auto line = files.line(dir + "/cpu.max");
      const auto words = line ? split(*line, ' ') : std::vector<std::string_view>();
      if (words.size() == 2) quota = parse_unsigned(words[0]), period = parse_unsigned(words[1]);
    } else {
      quota = files.number(dir + "/cpu.cfs_quota_us");  // -1 where there is none
      period = files.number(dir + "/cpu.cfs_period_us");
    }
    if (!quota || !period || *period == 0) continue;
    percent = std::min(percent.value_or(UINT64_MAX), *quota * 100 / *period);
  }
  if (percent) facts.set("cgroup.cpu.percent", *percent);
}

void gather_memory_bound(const SysrootFiles& files, const Group& group, Facts& facts) {
  std::optional<std::uint64_t> least;
  for (const std::string& dir : dirs_of_group(group)) {
    const auto bound = files.number(dir + (group.is_second ? "/memory.max" : "/memory.limit_in_bytes"));
    if (!bound || *bound >= std::uint64_t{1} << 60 || *bound >= least.value_or(UINT64_MAX)) continue;
    least = bound;
    facts.set("cgroup.memory.bytes", *bound);
    const auto used = files.number(dir + (group.is_second ? "/memory.current" : "/memory.usage_in_bytes"));
    if (used) facts.set("cgroup.memory.used", *used);
  }
}

void gather_pids_bound(const SysrootFiles& files, const Group& group, Facts& facts) {
  std::uint64_t least_room = UINT64_MAX;
  for (const std::string& dir : dirs_of_group(group)) {
    const auto most = files.number(dir + "/pids.max");  // "max" where there is none
    if (!most) continue;
    const std::uint64_t used = files.number(dir + "/pids.current").value_or(0);
    const std::uint64_t room = *most - std::min(*most, used);
    if (room >= least_room) continue;
    least_room = room;
    facts.set("cgroup.pids.max", *most);
    facts.set("cgroup.pids.used", used);
  }
}

void gather_cpuset(const SysrootFiles& files, const Group& group, Facts& facts) {
  const std::string_view name = group.is_second ? "/cpuset.cpus.effective" : "/cpuset.effective_cpus";
  for (const std::string& dir : dirs_of_group(group)) {
    const auto line = files.line(dir + std::string(name));
    if (!line || line->empty()) continue;
    facts.set("cgroup.cpuset", line->substr(0, 1024));
    return;
  }
}

}  // namespace

void gather_cgroup(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const auto table = files.read("/proc/self/cgroup");
  if (!table) return;
  if (const auto group = find_group(files, *table, "cpu")) gather_cpu_quota(files, *group, facts);
  if (const auto group = find_group(files, *table, "memory")) gather_memory_bound(files, *group, facts);
  if (const auto group = find_group(files, *table, "pids")) gather_pids_bound(files, *group, facts);
  if (const auto group = find_group(files, *table, "cpuset")) gather_cpuset(files, *group, facts);
}

}  // namespace ddlrun::doctor
