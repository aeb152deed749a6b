// SPDX-License-Identifier: MIT
// Gatherer "kernel": settings of the kernel and of systemd's logind, and memory.
//   kernel.file_max, kernel.files_open     open files of the whole machine (/proc/sys/fs)
//   kernel.thp.enabled, kernel.thp.defrag  the chosen word: "always", "madvise", "never"...
//   kernel.numa_balancing                  "0", "1"; absent where the kernel lacks it
//   kernel.numa_nodes                      how many memory nodes are online
//   kernel.ptrace_scope                    0..3; absent without Yama
//   kernel.core_pattern                    at most 256 bytes
//   mem.total_bytes, mem.available_bytes, mem.swap_bytes, mem.swap_free_bytes
//   mem.huge_pages, mem.huge_pages_free    of the default size
//   logind.remove_ipc                      "yes", "no": the last RemoveIPC= that counts, yes where none is
//   logind.runs, logind.lingers            "yes", "no"; lingers: of this user
#include "base/text/text.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::doctor {

namespace {

// "always [madvise] never" -> "madvise"
std::string chosen_word(const std::string& line) {
  const std::size_t open = line.find('['), close = line.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return line.substr(open + 1, close - open - 1);
}

void set_chosen(const SysrootFiles& files, std::string_view path, std::string_view fact, Facts& facts) {
  const auto line = files.line(path);
  if (!line) return facts.set_unknown(fact, "the kernel does not offer it");
  facts.set(fact, chosen_word(*line));
}

void gather_memory(const SysrootFiles& files, Facts& facts) {
  struct Row {
    std::string_view label, fact;
    std::uint64_t unit;
  };
  constexpr std::array<Row, 6> rows{{{"MemTotal:", "mem.total_bytes", 1024},
                                     {"MemAvailable:", "mem.available_bytes", 1024},
                                     {"SwapTotal:", "mem.swap_bytes", 1024},
                                     {"SwapFree:", "mem.swap_free_bytes", 1024},
                                     {"HugePages_Total:", "mem.huge_pages", 1},
                                     {"HugePages_Free:", "mem.huge_pages_free", 1}}};
  const auto text = files.read("/proc/meminfo");
  if (!text) return facts.set_unknown("mem.total_bytes", "/proc/meminfo is not readable");
  for (const std::string_view line : split(*text, '\n')) {
    for (const Row& row : rows) {
      if (!line.starts_with(row.label)) continue;
      const std::string_view value = trim(line.substr(row.label.size()));
      const auto number = parse_unsigned(value.substr(0, value.find(' ')), UINT64_MAX / 1024);
      if (number) facts.set(row.fact, *number * row.unit);
    }
  }
}

void gather_settings(const SysrootFiles& files, Facts& facts) {
  if (const auto line = files.line("/proc/sys/fs/file-max")) facts.set("kernel.file_max", *line);
  if (const auto line = files.line("/proc/sys/fs/file-nr")) {  // "1952	0	2466170"
    facts.set("kernel.files_open", line->substr(0, line->find_first_of(" \t")));
  }
  set_chosen(files, "/sys/kernel/mm/transparent_hugepage/enabled", "kernel.thp.enabled", facts);
  set_chosen(files, "/sys/kernel/mm/transparent_hugepage/defrag", "kernel.thp.defrag", facts);
  set_line(facts, "kernel.numa_balancing", files.line("/proc/sys/kernel/numa_balancing"));
  set_line(facts, "kernel.ptrace_scope", files.line("/proc/sys/kernel/yama/ptrace_scope"));
  if (const auto line = files.line("/proc/sys/kernel/core_pattern"))
    facts.set("kernel.core_pattern", line->substr(0, 256));
  if (const auto line = files.line("/sys/devices/system/node/online")) {
    if (const auto nodes = parse_ranges(*line, 4096)) facts.set("kernel.numa_nodes", nodes->size());
  }
}

void gather_logind(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  facts.set("logind.runs", files.exists("/run/systemd/seats") ? "yes" : "no");
  std::vector<std::string> paths{"/etc/systemd/logind.conf"};
  for (const std::string_view dir : {"/usr/lib/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"}) {
    for (const std::string& name : files.list(dir)) {
      if (name.ends_with(".conf")) paths.push_back(std::string(dir) + "/" + name);
    }
  }
  std::string_view value = "yes";  // systemd's own default
  for (const std::string& path : paths) {
    const std::string text = files.read(path).value_or("");
    for (const std::string_view line : split(text, '\n')) {
      if (!trim(line).starts_with("RemoveIPC=")) continue;
      const std::string_view word = trim(trim(line).substr(10));
      value = word == "no" || word == "false" || word == "0" || word == "off" ? "no" : "yes";
    }
  }
  facts.set("logind.remove_ipc", value);
  const std::string user = context.kernel.identity().user;
  const bool lingers = !user.empty() && files.exists("/var/lib/systemd/linger/" + user);
  facts.set("logind.lingers", lingers ? "yes" : "no");
}

}  // namespace

void gather_kernel(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  gather_memory(files, facts);
  gather_settings(files, facts);
  gather_logind(context, facts);
}

}  // namespace ddlrun::doctor
