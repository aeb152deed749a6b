// SPDX-License-Identifier: MIT
// LIM: settings of the kernel, the control group and systemd, and memory.
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::doctor {

namespace {

bool has_gpus(const HostReport& host) { return host.facts.number("devices.nvidia").value_or(0) > 0; }

// A kernel setting now and after the next boot.
Remedy sysctl(std::string_view setting) {
  return {{fmt::format("sysctl -w {}", setting),
           fmt::format("echo {} > /etc/sysctl.d/90-ddlrun-{}.conf", quote_shell(setting),
                       setting.substr(0, setting.find('=')))},
          true,
          false,
          ""};
}

CheckResult evaluate_file_max(const CheckInput& input, const HostReport& host) {
  const auto most = host.facts.number("kernel.file_max"), open = host.facts.number("kernel.files_open");
  if (!most || !open) return skip_missing(host.facts, "kernel.file_max");
  const std::uint64_t needed = ranks_here(input.job, host.host).ranks * (128 + 2ull * input.job.ranks) + 4096;
  const std::uint64_t room = *most - std::min(*most, *open);
  const std::string seen = fmt::format("fs.file-max {}, {} open", *most, *open);
  if (room >= needed) return pass(fmt::format("fs.file-max {}", *most));
  return warn(seen, fmt::format("room for {}", needed),
              "all processes of the host together: \"Too many open files in system\"",
              sysctl("fs.file-max=2097152"));
}

CheckResult evaluate_remove_ipc(const CheckInput& input, const HostReport& host) {
  const auto setting = host.facts.text("logind.remove_ipc");
  if (!setting) return skip_missing(host.facts, "logind.remove_ipc");
  if (*setting == "no") return pass("RemoveIPC=no");
  if (host.facts.is("logind.runs", "no")) return pass("no logind here");
  if (host.facts.is("logind.lingers", "yes")) return pass("RemoveIPC=yes, but this user lingers");
  if (host.facts.number("user.uid").value_or(0) < 1000)
    return pass("RemoveIPC=yes, which spares system users");
  const bool by_batch = input.job.allocation_source.starts_with("SLURM") ||
                        input.job.allocation_source.starts_with("PBS") || host.reach.via == Via::srun ||
                        host.reach.via == Via::pbsdsh;
  if (!by_batch) return pass("RemoveIPC=yes; the job's own ssh sessions keep it away");
  if (!has_gpus(host)) return pass("RemoveIPC=yes: log out of this host only after the job");
  const std::string user(host.facts.text("user.name").value_or("$USER"));
  return warn(
      "RemoveIPC=yes", "no, or a user that lingers",
      "when you log out of this host, systemd deletes your shared memory there, of a running batch job too",
      {{"loginctl enable-linger " + quote_shell(user)},
       true,
       false,
       "or RemoveIPC=no in /etc/systemd/logind.conf"});
}

CheckResult evaluate_huge_pages(const CheckInput& input, const HostReport& host) {
  const auto value = [&](const char* name) {
    const auto found = input.job.environment.find(name);
    return found == input.job.environment.end() ? std::string() : found->second;
  };
  const bool asked = !value("HUGETLB_MORECORE").empty() ||
                     value("GLIBC_TUNABLES").find("glibc.malloc.hugetlb=2") != std::string::npos ||
                     value("LD_PRELOAD").find("libhugetlbfs") != std::string::npos;
  if (!asked) return skip("the job does not ask for huge pages");
  const auto free = host.facts.number("mem.huge_pages_free"), all = host.facts.number("mem.huge_pages");
  if (!free || !all) return skip_missing(host.facts, "mem.huge_pages_free");
  const std::string seen = fmt::format("{} of {} huge pages free", *free, *all);
  const std::uint64_t needed = ranks_here(input.job, host.host).ranks;
  if (*free >= needed) return pass(seen);
  CheckResult result =
      warn(seen, fmt::format("at least {}, one a rank", needed),
           "memory that the job requests as huge pages is refused or falls back to small ones",
           sysctl(fmt::format("vm.nr_hugepages={}", *all - *free + std::max<std::uint64_t>(512, needed))));
  if (*free == 0) result.verdict = Verdict::fail;
  return result;
}

CheckResult evaluate_transparent_pages(const CheckInput&, const HostReport& host) {
  const auto enabled = host.facts.text("kernel.thp.enabled"), defrag = host.facts.text("kernel.thp.defrag");
  if (!enabled || !defrag) return skip_missing(host.facts, "kernel.thp.enabled");
  const std::string seen = fmt::format("transparent huge pages {}, defrag {}", *enabled, *defrag);
  if (*defrag != "always" || *enabled == "never") return pass(seen);
  return warn(seen, "defrag madvise or defer+madvise",
              "a process may stand still while the kernel moves memory for it",
              {{"echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag"},
               true,
               false,
               "until the next boot"});
}

CheckResult evaluate_numa_balancing(const CheckInput&, const HostReport& host) {
  const auto value = host.facts.number("kernel.numa_balancing");
  if (!value) return pass("the kernel does not balance NUMA memory");
  const std::uint64_t nodes = host.facts.number("kernel.numa_nodes").value_or(1);
  const std::string seen =
      fmt::format("kernel.numa_balancing {}, {} NUMA node{}", *value, nodes, nodes == 1 ? "" : "s");
  if (*value == 0 || nodes < 2 || !has_gpus(host)) return pass(seen);
  return warn(
      seen, "0",
      "the kernel unmaps pages to see who uses them; ranks that are pinned, and GPU drivers, lose time",
      sysctl("kernel.numa_balancing=0"));
}

CheckResult evaluate_ptrace(const CheckInput& input, const HostReport& host) {
  const auto scope = host.facts.number("kernel.ptrace_scope");
  if (!scope) return pass("no Yama: processes of one user may read each other");
  const std::string seen = fmt::format("kernel.yama.ptrace_scope {}", *scope);
  const RanksHere here = ranks_here(input.job, host.host);
  if (*scope < 2 || !here.reported || here.ranks < 2) return pass(seen);
  return warn(seen, "0 or 1",
              "ranks of one host cannot copy from each other's memory (CMA); each message is copied twice",
              sysctl("kernel.yama.ptrace_scope=1"));
}

CheckResult evaluate_swap(const CheckInput&, const HostReport& host) {
  const auto total = host.facts.number("mem.total_bytes"),
             available = host.facts.number("mem.available_bytes");
  const auto swap = host.facts.number("mem.swap_bytes"), free = host.facts.number("mem.swap_free_bytes");
  if (!total || !available || !swap || !free || *total == 0)
    return skip_missing(host.facts, "mem.total_bytes");
  const std::uint64_t used = *swap - std::min(*swap, *free);
  if (*swap == 0) return pass("no swap");
  const std::string seen = fmt::format("{} of {} swap used, {} of {} memory available", render_bytes(used),
                                       render_bytes(*swap), render_bytes(*available), render_bytes(*total));
  if (used * 10 <= *total) return pass("at most a tenth of the memory is swapped out");
  CheckResult result =
      warn(seen, fmt::format("at most {} in use", render_bytes(*total / 10)),
           "a rank that waits for swapped memory makes all others wait",
           {{"ps -eo pid,user,rss,comm --sort=-rss | head", "swapoff -a && swapon -a"},
            true,
            false,
            "end what the first line shows, if it is not needed; swapoff needs that much free memory"});
  if (*available * 10 < *total) result.verdict = Verdict::fail;
  return result;
}

}  // namespace

CheckResult evaluate_cores(const CheckInput& input, const HostReport& host) {
  const auto cores = host.facts.number("cpu.usable_cores"), threads = host.facts.number("cpu.usable_threads");
  if (!cores || !threads) return skip_missing(host.facts, "cpu.usable");
  const auto quota = host.facts.number("cgroup.cpu.percent");
  const RanksHere here = ranks_here(input.job, host.host);
  std::string seen = fmt::format("{} core{} usable", *cores, *cores == 1 ? "" : "s");
  if (*threads != *cores) seen += fmt::format(" ({} hardware threads)", *threads);
  if (quota) seen += fmt::format(", control group allows {:.1f}", static_cast<double>(*quota) / 100);
  if (!here.reported) return pass(seen);
  const bool shares = input.job.shares_cores && here.ranks > *cores;
  if (shares) seen += fmt::format(", shared by {} ranks (--oversubscribe)", here.ranks);
  const std::uint64_t needed = shares ? *cores : here.ranks * here.cores_per_rank;
  CheckResult result;
  result.observed = seen;
  result.expected =
      fmt::format("{} for {} rank{} of {} core{}", needed, here.ranks, here.ranks == 1 ? "" : "s",
                  here.cores_per_rank, here.cores_per_rank == 1 ? "" : "s");
  const std::uint64_t fitting = std::max<std::uint64_t>(1, *cores / here.cores_per_rank);
  if (*cores < needed) {
    result.verdict = Verdict::fail;
    result.why =
        "mpirun says \"not enough slots\" or binds ranks to cores that are not there; ranks that share a "
        "core wait for each other";
    result.remedy = {
        {fmt::format("ddlrun topo {}", quote_shell(host.host))},
        false,
        true,
        fmt::format("plan {} rank{} here, or fewer cores a rank; in a batch job ask for {} cores a host "
                    "(--cpus-per-task, ncpus=){}",
                    fitting, fitting == 1 ? "" : "s", needed, sharing_hint(host, here.ranks))};
    return result;
  }
  if (!quota || *quota >= needed * 100) return pass(seen);
  result.verdict = Verdict::warn;
  result.why = "the kernel stops the ranks for a part of every period when their share is used up";
  result.remedy = {{"cat /sys/fs/cgroup/cpu.max"},
                   false,
                   false,
                   fmt::format("ask for {} processors (docker run --cpus={}, CPUQuota={}% of the unit)",
                               needed, needed, needed * 100)};
  return result;
}

std::span<const Check> kernel_checks() {
  static const std::array<Check, 8> table{{
      {"LIM-04", "open files of the host", Level::quick, Place::host,
       "All processes of a host share fs.file-max; beyond it opening fails for everybody.",
       "/proc/sys/fs/file-max and file-nr. L = ranks here, W = ranks of the job. pass: room for "
       "L*(128+2*W)+4096. warn: less.",
       "sysctl -w fs.file-max=2097152.",
       [](const CheckInput& input) { return evaluate_hosts(input, "LIM-04", evaluate_file_max, "kernel"); }},
      {"LIM-08", "RemoveIPC", Level::quick, Place::host,
       "systemd deletes a user's shared memory when the last login session ends, and that of a batch job "
       "with it.",
       "RemoveIPC in logind.conf and its directories, whether logind runs, and whether the user lingers. "
       "warn: "
       "yes, in a batch job, a user above 1000 who does not linger, NVIDIA devices. pass: all else.",
       "loginctl enable-linger USER, or RemoveIPC=no.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "LIM-08", evaluate_remove_ipc, "kernel");
       }},
      {"LIM-09", "cores for the ranks", Level::quick, Place::host,
       "A batch system, a container or taskset may leave fewer cores than the plan needs.",
       "sched_getaffinity (what cpusets leave), the siblings of each thread, cpu.max of our control "
       "groups. pass: cores >= ranks here x cores per rank, or more ranks than cores with --oversubscribe. "
       "fail: "
       "fewer. warn: enough cores, but a quota below that.",
       "Ask for the cores (--cpus-per-task, ncpus=), or plan fewer ranks.",
       [](const CheckInput& input) { return evaluate_hosts(input, "LIM-09", evaluate_cores, "cpu"); }},
      {"LIM-10", "huge pages", Level::quick, Place::host,
       "A job that requests huge pages fails or slows down without them.",
       "HugePages_Free in /proc/meminfo, only if the job's HUGETLB_MORECORE, GLIBC_TUNABLES or LD_PRELOAD "
       "requests them. pass: one a rank or more. warn: fewer. fail: none.",
       "sysctl -w vm.nr_hugepages=N.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "LIM-10", evaluate_huge_pages, "kernel");
       }},
      {"LIM-11", "transparent huge pages", Level::quick, Place::host,
       "With defrag=always any page fault may wait until the kernel has moved memory together.",
       "/sys/kernel/mm/transparent_hugepage. warn: defrag always while enabled. pass: all else.",
       "echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "LIM-11", evaluate_transparent_pages, "kernel");
       }},
      {"LIM-12", "NUMA balancing", Level::quick, Place::host,
       "The kernel samples which memory is used from where by unmapping it; pinned ranks gain nothing from "
       "that.",
       "/proc/sys/kernel/numa_balancing and the number of NUMA nodes. warn: on, two nodes or more, NVIDIA "
       "devices. pass: all else.",
       "sysctl -w kernel.numa_balancing=0.",
       [](const CheckInput& input) {
         return evaluate_hosts(input, "LIM-12", evaluate_numa_balancing, "kernel");
       }},
      {"LIM-13", "reading a neighbour's memory", Level::quick, Place::host,
       "MPI copies large messages within a host directly between processes where the kernel lets it.",
       "/proc/sys/kernel/yama/ptrace_scope. warn: 2 or 3 with two ranks or more here. pass: all else.",
       "sysctl -w kernel.yama.ptrace_scope=1.",
       [](const CheckInput& input) { return evaluate_hosts(input, "LIM-13", evaluate_ptrace, "kernel"); }},
      {"LIM-14", "swap", Level::quick, Place::host,
       "A rank that waits for swapped memory makes all others wait.",
       "/proc/meminfo. pass: used swap at most a tenth of the memory. warn: more. fail: more, and less "
       "than a tenth of the memory available.",
       "End what fills the memory; swapoff -a && swapon -a.",
       [](const CheckInput& input) { return evaluate_hosts(input, "LIM-14", evaluate_swap, "kernel"); }},
  }};
  return table;
}

}  // namespace ddlrun::doctor
