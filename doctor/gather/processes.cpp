// SPDX-License-Identifier: MIT
// Gatherer "processes": who else computes here.
//   process.hogs     list of "PID UID PERCENT COMMAND", busiest first, at most 8: processes that are older
//   than
//                    60 s and had half a core or more on average since they began; not we and our parents.
//                    Only looked for at level full, or where the load average is half of the usable threads.
// Gatherer "stuck" (level full): what cannot be ended.
//   process.zombies  number
//   process.stuck    list of "PID COMMAND", at most 8: in state D at both ends of two seconds, without having
//                    run in between (threads of the kernel itself left out)
// Source: /proc/PID/stat.
#include "base/text/text.hpp"
#include "doctor/gather/process_stat.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t most_processes = 20'000;
constexpr std::uint64_t ticks_per_second = 100;  // USER_HZ, which is 100 on every Linux
constexpr std::uint64_t kernel_threads = 2;      // the parent of them all

std::vector<ProcessStat> read_processes(const GatherContext& context) {
  std::vector<std::uint64_t> pids;
  context.kernel.visit_directory(SysrootFiles(context).at("/proc"),
                                 [&](std::string_view name, FileInfo::Kind) {
                                   if (const auto pid = parse_unsigned(name)) pids.push_back(*pid);
                                   return pids.size() < most_processes;
                                 });
  std::vector<ProcessStat> processes;
  for (const std::uint64_t pid : pids) {
    auto stat = read_process_stat(context, pid);
    const bool is_kernel = stat && (stat->pid == kernel_threads || stat->parent == kernel_threads);
    if (stat && !is_kernel) processes.push_back(std::move(*stat));
  }
  return processes;
}

// Hundredths of a second since boot.
std::optional<std::uint64_t> uptime_ticks(const GatherContext& context) {
  const auto line = SysrootFiles(context).line("/proc/uptime");
  if (!line) return std::nullopt;
  const auto seconds = parse_unsigned(std::string_view(*line).substr(0, line->find('.')), 1u << 30);
  return seconds ? std::optional(*seconds * ticks_per_second) : std::nullopt;
}

bool is_loaded(const GatherContext& context) {
  const auto line = SysrootFiles(context).line("/proc/loadavg");
  if (!line) return false;
  const auto whole = parse_unsigned(std::string_view(*line).substr(0, line->find('.')), 1u << 20);
  return whole && 2 * (*whole + 1) > context.kernel.usable_cpus().size();
}

struct Hog {
  std::uint64_t percent;
  ProcessStat stat;
};

std::vector<Hog> find_hogs(const GatherContext& context, std::uint64_t now) {
  std::set<std::uint64_t> own{context.kernel.process_id()};
  for (const ProcessStat& ancestor : read_ancestors(context)) own.insert(ancestor.pid);
  std::vector<Hog> hogs;
  for (ProcessStat& stat : read_processes(context)) {
    if (own.count(stat.pid) > 0 || stat.state == 'Z' || now < stat.started_ticks) continue;
    const std::uint64_t age = now - stat.started_ticks;
    if (age <= 60 * ticks_per_second) continue;
    const std::uint64_t percent = stat.busy_ticks * 100 / age;
    if (percent >= 50) hogs.push_back({percent, std::move(stat)});
  }
  std::stable_sort(hogs.begin(), hogs.end(),
                   [](const Hog& a, const Hog& b) { return a.percent > b.percent; });
  return hogs;
}

struct Waiting {
  std::uint64_t zombies = 0;
  std::set<std::string> processes;  // in state D, with the count that would have changed had they run
};

Waiting find_waiting(const GatherContext& context) {
  Waiting waiting;
  for (const ProcessStat& stat : read_processes(context)) {
    if (stat.state == 'Z') ++waiting.zombies;
    if (stat.state != 'D') continue;
    const auto status = SysrootFiles(context).read(fmt::format("/proc/{}/status", stat.pid));
    const std::size_t switches = status ? status->find("\nvoluntary_ctxt_switches:") : std::string::npos;
    if (switches == std::string::npos) continue;
    const std::string count = status->substr(switches + 25, status->find('\n', switches + 1) - switches - 25);
    waiting.processes.insert(fmt::format("{} {} {}", stat.pid, printable(stat.command, 16), trim(count)));
  }
  return waiting;
}

}  // namespace

void gather_processes(const GatherContext& context, Facts& facts) {
  const auto now = uptime_ticks(context);
  if (!now) return facts.set_unknown("process.hogs", "/proc/uptime is not readable");
  if (context.request.level == Level::quick && !is_loaded(context)) return facts.set_list("process.hogs", {});
  std::vector<std::string> lines;
  for (const Hog& hog : find_hogs(context, *now)) {
    const auto dir =
        context.kernel.file_info(SysrootFiles(context).at(fmt::format("/proc/{}", hog.stat.pid)), true);
    lines.push_back(fmt::format("{} {} {} {}", hog.stat.pid, dir ? dir->uid : 0, hog.percent,
                                printable(hog.stat.command, 16)));
    if (lines.size() == 8) break;
  }
  facts.set_list("process.hogs", lines);
}

void gather_stuck(const GatherContext& context, Facts& facts) {
  const Waiting before = find_waiting(context);
  facts.set("process.zombies", before.zombies);
  std::vector<std::string> stuck;
  if (!before.processes.empty()) {
    context.system.processes.run({"sleep", "2"}, {std::chrono::seconds(4), 0, 0, 1024});
    for (const std::string& line : find_waiting(context).processes) {
      if (before.processes.count(line) > 0 && stuck.size() < 8)
        stuck.push_back(line.substr(0, line.rfind(' ')));
    }
  }
  facts.set_list("process.stuck", stuck);
}

}  // namespace ddlrun::doctor
