// SPDX-License-Identifier: MIT
// Gatherer "limits": what a process gets that is started here by the path that the agent came by.
//   limit.NAME.soft, .hard   memlock, stack, core, as in bytes; nofile, nproc in counts; or "unlimited"
//   limit.daemon             the service that started us: "sshd", "slurmd", "pbs_mom"...; not known: none
//   limit.daemon.pid, .unit (systemd), .pid_file (one that holds this pid), .NAME.soft, .hard
//   limit.container          "yes" where files of a container runtime lie in the root
//   shm.total_bytes, shm.free_bytes                       of /dev/shm
//   devices.rdma, devices.nvidia                          how many there are in /sys/class/infiniband, /dev
//   start.path, start.tmpdir, start.library_path          PATH, TMPDIR, LD_LIBRARY_PATH as given to us
// Sources: getrlimit, /proc/PID/{stat,limits,cgroup}, statvfs, the environment.
#include "base/text/text.hpp"
#include "doctor/gather/process_stat.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::doctor {

namespace {

constexpr std::array<std::string_view, 6> limit_names{"memlock", "nofile", "nproc", "stack", "core", "as"};

struct Daemon {
  std::string_view command, name;
};
// The topmost ancestor of one of these names is where limits are inherited from.
constexpr std::array<Daemon, 9> daemons{{{"sshd", "sshd"},
                                         {"sshd-session", "sshd"},
                                         {"slurmd", "slurmd"},
                                         {"slurmstepd", "slurmd"},
                                         {"pbs_mom", "pbs_mom"},
                                         {"orted", "orted"},
                                         {"prted", "prted"},
                                         {"hydra_pmi_proxy", "hydra"},
                                         {"hydra_bstrap_pr", "hydra"}}};

struct KernelLimit {
  std::string_view name, label;
};
constexpr std::array<KernelLimit, 4> kernel_limits{{{"memlock", "Max locked memory"},
                                                    {"nofile", "Max open files"},
                                                    {"nproc", "Max processes"},
                                                    {"stack", "Max stack size"}}};

std::string limit_text(std::uint64_t value) {
  return value == Limit::unlimited ? "unlimited" : std::to_string(value);
}

void gather_own_limits(const GatherContext& context, Facts& facts) {
  for (const std::string_view name : limit_names) {
    const auto limit = context.kernel.limit(name);
    const std::string fact = fmt::format("limit.{}", name);
    if (!limit) {
      facts.set_unknown(fact + ".soft", "getrlimit failed");
      continue;
    }
    facts.set(fact + ".soft", limit_text(limit->soft));
    facts.set(fact + ".hard", limit_text(limit->hard));
  }
}

// "Max locked memory         65536                8388608              bytes"
void set_daemon_limits(std::string_view table, Facts& facts) {
  for (const std::string_view line : split(table, '\n')) {
    for (const KernelLimit& known : kernel_limits) {
      if (!line.starts_with(known.label)) continue;
      std::vector<std::string_view> words = split(line.substr(known.label.size()), ' ');
      std::erase(words, std::string_view());
      if (words.size() < 2) continue;
      facts.set(fmt::format("limit.daemon.{}.soft", known.name), words[0]);
      facts.set(fmt::format("limit.daemon.{}.hard", known.name), words[1]);
    }
  }
}

// "0::/system.slice/ssh.service" or "1:name=systemd:/system.slice/sshd.service" -> "ssh.service"
std::string find_unit(std::string_view cgroups) {
  for (const std::string_view line : split(cgroups, '\n')) {
    for (const std::string_view part : split(line, '/')) {
      if (part.ends_with(".service")) return std::string(part);
    }
  }
  return {};
}

void gather_daemon(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  std::string_view name;
  std::uint64_t pid = 0;
  for (const ProcessStat& ancestor : read_ancestors(context)) {
    const auto known = std::find_if(daemons.begin(), daemons.end(),
                                    [&](const Daemon& one) { return one.command == ancestor.command; });
    if (known == daemons.end()) continue;
    name = known->name;
    pid = ancestor.pid;
  }
  if (name.empty()) return;
  facts.set("limit.daemon", name);
  facts.set("limit.daemon.pid", pid);
  const std::string process = fmt::format("/proc/{}", pid);
  if (const auto table = files.read(process + "/limits")) set_daemon_limits(*table, facts);
  if (const auto cgroups = files.read(process + "/cgroup")) {
    const std::string unit = find_unit(*cgroups);
    if (!unit.empty()) facts.set("limit.daemon.unit", unit);
  }
  const std::string pid_file = fmt::format("/run/{}.pid", name);
  if (files.number(pid_file) == pid) facts.set("limit.daemon.pid_file", pid_file);
}

void gather_device_counts(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  facts.set("devices.rdma", files.list("/sys/class/infiniband").size());
  std::uint64_t gpus = 0;
  for (const std::string& name : files.list("/dev")) {
    if (name.starts_with("nvidia") && parse_unsigned(std::string_view(name).substr(6))) ++gpus;
  }
  facts.set("devices.nvidia", gpus);
}

void set_start(const GatherContext& context, Facts& facts, std::string_view fact,
               const std::string& variable) {
  const std::string value = context.system.environment.get(variable);
  if (value.size() > 4096) {
    facts.set_unknown(fact, fmt::format("{} has {} bytes, more than 4096", variable, value.size()));
  } else {
    facts.set(fact, value);
  }
}

}  // namespace

void gather_limits(const GatherContext& context, Facts& facts) {
  gather_own_limits(context, facts);
  gather_daemon(context, facts);
  const SysrootFiles files(context);
  if (files.exists("/.dockerenv") || files.exists("/run/.containerenv")) facts.set("limit.container", "yes");
  if (const auto space = context.kernel.disk_space(files.at("/dev/shm"))) {
    facts.set("shm.total_bytes", space->total_bytes);
    facts.set("shm.free_bytes", space->free_bytes);
  } else {
    facts.set_unknown("shm.total_bytes", "there is no /dev/shm");
  }
  gather_device_counts(context, facts);
  set_start(context, facts, "start.path", "PATH");
  set_start(context, facts, "start.tmpdir", "TMPDIR");
  set_start(context, facts, "start.library_path", "LD_LIBRARY_PATH");
}

}  // namespace ddlrun::doctor
