// SPDX-License-Identifier: MIT
// CPU: threads against cores, clocks, and who else computes here.
#include "base/text/text.hpp"
#include "doctor/checks/system.hpp"
#include "doctor/checks/threads_remedy.hpp"
#include "topology/affinity/kmp_affinity.hpp"
#include "topology/affinity/thread_lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

namespace ddlrun::doctor {

namespace {

std::string variable(const Job& job, const char* name) {
  const auto found = job.environment.find(name);
  return found == job.environment.end() ? std::string() : std::string(trim(found->second));
}

CheckResult evaluate_threads(const CheckInput& input, const HostReport& host) {
  const std::string value = variable(input.job, "OMP_NUM_THREADS");
  const auto cores = host.facts.number("cpu.usable_cores"), threads = host.facts.number("cpu.usable_threads");
  if (!cores || !threads) return skip_missing(host.facts, "cpu.usable");
  const RanksHere here = ranks_here(input.job, host.host);
  if (value.empty()) return pass("OMP_NUM_THREADS is not set: as many threads as cores the rank is bound to");
  const std::uint64_t good = std::max<std::uint64_t>(1, *cores / here.ranks);
  const Remedy remedy = threads_remedy(input.job, good);
  const auto outer = parse_unsigned(value.substr(0, value.find(',')), 1u << 20);
  if (!outer || *outer == 0) {
    return {Verdict::warn, fmt::format("OMP_NUM_THREADS={}", printable(value, 40)),
            "a number of threads, 1 or more",
            "the OpenMP runtime ignores it and takes every core for each rank", remedy};
  }
  const std::uint64_t all = *outer * here.ranks;
  const std::string seen = fmt::format("{} x OMP_NUM_THREADS={} = {} on {}", count_of(here.ranks, "rank"),
                                       *outer, count_of(all, "thread"), count_of(*cores, "usable core"));
  if (all <= room_for_threads(input.job, here.ranks, *cores)) return pass(seen);
  CheckResult result;
  result.verdict = all > *threads ? Verdict::fail : Verdict::warn;
  result.observed = seen;
  result.expected =
      fmt::format("at most {}", count_of(room_for_threads(input.job, here.ranks, *cores), "thread"));
  result.why =
      all > *threads
          ? "threads take turns on a core; waiting ones spin and keep the computing ones off it"
          : fmt::format("two threads share a core: {} hardware threads on {} cores", *threads, *cores);
  result.remedy = remedy;
  if (good * here.ranks > *cores && !input.job.shares_cores)
    result.remedy.note =
        fmt::format("and at most {} here{}", count_of(*cores, "rank"), sharing_hint(host, here.ranks));
  return result;
}

Remedy affinity_remedy() {
  return {{"export KMP_AFFINITY=granularity=fine,compact,1,0"},
          false,
          true,
          "or, for every runtime: unset KMP_AFFINITY; export OMP_PROC_BIND=close OMP_PLACES=cores"};
}

// Some host has more hardware threads than cores.
bool has_siblings(const CheckInput& input) {
  return std::any_of(input.hosts.begin(), input.hosts.end(), [](const HostReport& host) {
    return host.facts.number("cpu.usable_threads").value_or(1) >
           host.facts.number("cpu.usable_cores").value_or(1);
  });
}

std::string other_family(const Job& job) {
  for (const char* name : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"}) {
    if (!variable(job, name).empty()) return name;
  }
  return {};
}

// What the OpenMP variables would do on the first host whose cores are known.
std::optional<affinity::AffinityFinding> find_crowding(const CheckInput& input) {
  affinity::ThreadEnvironment job;
  job.variables.insert(input.job.environment.begin(), input.job.environment.end());
  for (const HostReport& host : input.hosts) {
    const auto cores = host.facts.number("cpu.usable_cores"),
               threads = host.facts.number("cpu.usable_threads");
    if (!cores || !threads || *cores < 1 || *threads < *cores) continue;
    job.machine = {1, static_cast<std::uint32_t>(*cores), static_cast<std::uint32_t>(*threads / *cores)};
    job.ranks_per_node = static_cast<std::uint32_t>(ranks_here(input.job, host.host).ranks);
    break;
  }
  for (affinity::AffinityFinding& finding : affinity::check_thread_environment(job)) {
    if (finding.id == "places-share-cores" || finding.id == "mkl-differs") return std::move(finding);
  }
  return std::nullopt;
}

std::vector<Finding> check_affinity(const CheckInput& input) {
  const std::string value = variable(input.job, "KMP_AFFINITY"), other = other_family(input.job);
  const std::string blocktime = variable(input.job, "KMP_BLOCKTIME");
  CheckResult result;
  result.observed = "KMP_AFFINITY=" + printable(value, 80);
  result.remedy = affinity_remedy();
  const affinity::KmpAffinity parsed = affinity::parse_kmp_affinity(value);
  if (!value.empty() && !parsed.problem.empty()) {
    result.verdict = Verdict::fail;
    result.observed += ": " + printable(parsed.problem, 120);
    result.expected = "[modifier,...]type[,permute][,offset]";
    result.why =
        "the runtime goes on with what is left; measured with compact=1, meant as compact,1,0: 60 threads "
        "on 15 of 68 cores, four on each";
    return single_finding("CPU-05", std::move(result));
  }
  if (!blocktime.empty() && blocktime != "infinite" && !parse_unsigned(blocktime, INT32_MAX)) {
    result.verdict = Verdict::warn;
    result.observed = "KMP_BLOCKTIME=" + printable(blocktime, 40);
    result.expected = "milliseconds, or infinite";
    result.why = "the runtime ignores it: threads spin for 200 ms after each loop";
    result.remedy = {{"export KMP_BLOCKTIME=1"}, false, true, ""};
    return single_finding("CPU-05", std::move(result));
  }
  if (const auto crowded = find_crowding(input); crowded && value.empty()) {
    result.verdict = Verdict::warn;
    result.observed = crowded->what;
    result.expected = "a core for each thread, the same number for all libraries";
    result.why = "threads that share a core wait for each other while other cores are idle";
    result.remedy = {{crowded->hint}, false, true, ""};
    return single_finding("CPU-05", std::move(result));
  }
  if (value.empty())
    return single_finding("CPU-05", pass(other.empty() ? "no affinity is set" : other + " only"));
  if (!other.empty()) {
    result.verdict = Verdict::warn;
    result.observed += fmt::format(" and {}={}", other, printable(variable(input.job, other.c_str()), 80));
    result.expected = "one of them";
    result.why =
        "LLVM's and Intel's runtime ignore all but KMP_AFFINITY, GNU's ignores KMP_AFFINITY: the same job "
        "is bound differently by each";
    result.remedy = {{"unset KMP_AFFINITY"}, false, true, "or unset the others"};
    return single_finding("CPU-05", std::move(result));
  }
  if (parsed.type == "compact" && parsed.permute.value_or(0) == 0 && has_siblings(input)) {
    result.verdict = Verdict::warn;
    result.expected = "compact,1,0";
    result.why = "fills the hardware threads of a core first: half of the cores, or more, stay idle";
    return single_finding("CPU-05", std::move(result));
  }
  return single_finding("CPU-05", pass(result.observed));
}

CheckResult evaluate_governor(const CheckInput&, const HostReport& host) {
  const auto governors = host.facts.list("cpu.governors");
  if (governors.empty()) return skip_missing(host.facts, "cpu.governors");
  const std::uint64_t percent = host.facts.number("cpu.capped_percent").value_or(100);
  std::string seen;
  bool is_slow = false;
  for (const std::string_view line : governors) {
    const std::string_view governor = line.substr(0, line.find(' '));
    const bool is_active =
        line.find("_pstate") != std::string_view::npos || line.find("-epp") != std::string_view::npos;
    is_slow = is_slow || (governor == "powersave" && !is_active);
    seen += (seen.empty() ? "governor " : ", ") + printable(line, 60);
  }
  if (percent < 100) seen += fmt::format(", capped at {} % of the highest frequency", percent);
  if (!is_slow && percent >= 95) return pass(seen);
  CheckResult result;
  result.verdict = percent < 70 ? Verdict::fail : Verdict::warn;
  result.observed = seen;
  result.expected = "a governor that raises the clock, up to the highest frequency";
  result.why = "the slowest host sets the pace of every step";
  result.remedy = {
      {"for p in /sys/devices/system/cpu/cpufreq/policy*; do cat $p/cpuinfo_max_freq > $p/scaling_max_freq; "
       "echo performance > $p/scaling_governor; done"},
      true,
      false,
      "until the next boot; a cap may be there for cooling or power"};
  return result;
}

CheckResult evaluate_clocksource(const CheckInput&, const HostReport& host) {
  const auto source = host.facts.text("cpu.clocksource");
  if (!source) return skip("the kernel does not show its clock source");
  const bool is_slow = *source == "hpet" || *source == "acpi_pm" || *source == "jiffies" ||
                       *source == "refined-jiffies" || *source == "pit";
  if (!is_slow) return pass("clock source " + printable(*source, 40));
  const auto available = host.facts.list("cpu.clocksources");
  const bool has_tsc = std::find(available.begin(), available.end(), "tsc") != available.end();
  const std::string path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  CheckResult result;
  result.verdict = Verdict::warn;
  result.observed = "clock source " + std::string(*source);
  result.expected = "tsc, or the hypervisor's";
  result.why =
      "each look at the clock is a system call of a microsecond or more, and libraries look all the time";
  result.remedy = {
      {has_tsc ? "echo tsc > " + path : "dmesg | grep -i -e clocksource -e tsc"},
      true,
      false,
      "for good: clocksource=tsc tsc=reliable on the kernel's command line, if the kernel gave the TSC up "
      "without reason"};
  return result;
}

// "PID UID PERCENT COMMAND"
std::string render_hogs(const std::vector<std::string_view>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < 3; ++i) {
    const auto words = split(lines[i], ' ');
    if (words.size() < 4) continue;
    text += fmt::format("{}{} (pid {}, uid {}, {} %)", text.empty() ? "" : ", ", printable(words[3], 16),
                        words[0], words[1], words[2]);
  }
  if (lines.size() > 3) text += fmt::format(" and {} more", lines.size() - 3);
  return text;
}

// Hardware threads of the host; 0 where they are not known.
std::uint64_t count_online(const Facts& facts) {
  const auto text = facts.text("cpu.online");
  const auto online = text ? parse_ranges(*text, INT_MAX) : std::nullopt;
  return online ? online->size() : 0;
}

CheckResult evaluate_load(const CheckInput& input, const HostReport& host) {
  const auto one = host.facts.number("load.one"), threads = host.facts.number("cpu.usable_threads");
  if (!one || !threads || *threads == 0) return skip_missing(host.facts, "load.one");
  // The load is the whole host's, even where this process may use a part of it.
  const std::uint64_t all = std::max<std::uint64_t>(*threads, count_online(host.facts));
  const auto hogs = host.facts.list("process.hogs");
  // Some load is usual while a job starts, and the average remembers the job before this one.
  const bool runs_now = host.facts.number("load.running").value_or(UINT64_MAX) > all;
  const bool is_hidden = hogs.empty() && runs_now && *one > 2 * all * 100;
  if (hogs.empty() && !is_hidden) return pass("no other program computes here");
  const std::string load = fmt::format("load {:.2f} on {}", static_cast<double>(*one) / 100,
                                       count_of(is_hidden ? all : *threads, "hardware thread"));
  std::uint64_t percent = 0;
  for (const std::string_view line : hogs) {
    const auto words = split(line, ' ');
    percent += words.size() < 4 ? 0 : parse_unsigned(words[2], 1'000'000).value_or(0);
  }
  CheckResult result;
  result.verdict = percent * 2 > *threads * 100 ? Verdict::fail : Verdict::warn;
  result.observed =
      fmt::format("{}; {}", load,
                  is_hidden ? "processes not visible: each below half a core, or of another container"
                            : render_hogs(hogs));
  result.expected = "no other program computes here";
  result.why = "a rank that shares its core makes all ranks wait in every step";
  result.remedy = {{"top -b -n 1 | head -n 17"},
                   false,
                   false,
                   input.job.has_whole_hosts
                       ? "end what is left from old jobs (kill PID); the hosts are this job's alone, so a "
                         "program of another user is one for the administrators"
                       : "end what is left from old jobs (kill PID); if it is another user's, request whole "
                         "hosts (Slurm: --exclusive, PBS: place=excl)"};
  return result;
}

CheckResult evaluate_memory(const CheckInput& input, const HostReport& host) {
  const auto available = host.facts.number("mem.available_bytes"),
             total = host.facts.number("mem.total_bytes");
  if (!available || !total) return skip_missing(host.facts, "mem.total_bytes");
  std::uint64_t room = *available;
  std::string seen = fmt::format("{} of {} memory available", render_bytes(*available), render_bytes(*total));
  std::string bounds = render_bytes(*total) + " of memory";
  if (const auto bound = host.facts.number("cgroup.memory.bytes")) {
    const std::uint64_t used = host.facts.number("cgroup.memory.used").value_or(0);
    room = std::min(room, *bound - std::min(*bound, used));
    seen += fmt::format(", control group allows {}", render_bytes(*bound));
    bounds += fmt::format(", control group allows {}", render_bytes(*bound));
  }
  const RanksHere here = ranks_here(input.job, host.host);
  const std::uint64_t good = here.ranks * 256 * mib, least = here.ranks * 64 * mib;
  if (!here.reported || room >= good) return pass(bounds);
  CheckResult result;
  result.verdict = room < least ? Verdict::fail : Verdict::warn;
  result.observed = seen;
  result.expected = fmt::format("{} for {}", render_bytes(good), count_of(here.ranks, "rank"));
  result.why =
      "the kernel ends the largest process when memory runs out: a rank dies of signal 9 (status 137)";
  result.remedy = {
      {"ps -eo pid,user,rss,comm --sort=-rss | head"},
      false,
      false,
      "end what is left from old jobs, request more memory (--mem, mem=), or plan fewer ranks here"};
  return result;
}

CheckResult evaluate_stuck(const CheckInput&, const HostReport& host) {
  const auto zombies = host.facts.number("process.zombies");
  if (!zombies) return skip_missing(host.facts, "process.zombies");
  const auto stuck = host.facts.list("process.stuck");
  const std::string seen = count_of(*zombies, "zombie");
  if (stuck.empty() && *zombies < 100) return pass("nothing hangs, " + seen);
  CheckResult result;
  result.verdict = Verdict::warn;
  result.observed = seen;
  for (const std::string_view line : stuck) result.observed += ", stuck: pid " + printable(line, 40);
  result.expected = stuck.empty() ? "fewer than 100" : "none that waits for a device for seconds";
  result.why = stuck.empty() ? "something does not collect its children; the table of processes fills up"
                             : "they wait for a disk or a mount that does not answer and cannot be ended";
  result.remedy = {
      {stuck.empty() ? "ps -eo ppid,stat,comm | awk '$2 ~ /^Z/' | sort | uniq -c | sort -rn | head"
                     : "ps -eo pid,stat,wchan:30,comm | awk '$2 ~ /^D/'"},
      false,
      false,
      stuck.empty() ? "end the parent" : "umount -l the mount that hangs, or boot the host anew"};
  return result;
}

}  // namespace

std::span<const Check> cpu_checks() {
  static const std::array<Check, 7> table{{
      {"CPU-04", "OpenMP threads and cores", Level::quick, Place::host,
       "Each rank starts OMP_NUM_THREADS threads. More of them than cores on a host slow every step down, "
       "often by far more than the ratio, since waiting threads spin.",
       "OMP_NUM_THREADS of the job x ranks here, against the cores that a process may use "
       "(sched_getaffinity). pass: at most the cores, or one a rank with --oversubscribe, or not set. warn: "
       "more than the cores, but not than "
       "their hardware threads; not a number. fail: more than the hardware threads.",
       "export OMP_NUM_THREADS = cores / ranks here.",
       [](const CheckInput& input) { return evaluate_hosts(input, "CPU-04", evaluate_threads, "cpu"); }},
      {"CPU-05", "thread affinity", Level::quick, Place::driver_host,
       "KMP_AFFINITY has a grammar of its own, and a runtime drops unknown words silently or "
       "with a warning that is easily missed. compact=1 is the commonest slip: it packs four threads on each "
       "core of a 68-core host.",
       "KMP_AFFINITY, OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY, KMP_BLOCKTIME and MKL_NUM_THREADS of the "
       "job. pass: one "
       "family, well formed. warn: two families; compact without permute where cores have several threads; "
       "a KMP_BLOCKTIME that is not a number, places that put threads on one core while others are idle, "
       "or another MKL_NUM_THREADS. fail: a KMP_AFFINITY that the runtime takes only in part.",
       "KMP_AFFINITY=granularity=fine,compact,1,0, or OMP_PROC_BIND=close OMP_PLACES=cores; never both.",
       check_affinity},
      {"CPU-07", "clock frequency", Level::quick, Place::host,
       "The slowest host sets the pace of every step.",
       "Governor, driver and highest frequency of up to 16 policies in /sys/devices/system/cpu/cpufreq. "
       "pass: any governor that raises the clock, 95 % or more of the highest frequency. warn: powersave "
       "without intel_pstate or amd-pstate (the lowest frequency), or a lower cap. fail: capped below 70 "
       "%. skip: virtual machines show nothing.",
       "cpupower frequency-set -g performance.",
       [](const CheckInput& input) { return evaluate_hosts(input, "CPU-07", evaluate_governor, "cpu"); }},
      {"CPU-08", "clock source", Level::quick, Place::host,
       "When the kernel distrusts the processor's counter, each look at the clock becomes a slow system "
       "call.",
       "/sys/devices/system/clocksource. warn: hpet, acpi_pm, jiffies, pit. pass: all else.",
       "clocksource=tsc tsc=reliable.",
       [](const CheckInput& input) { return evaluate_hosts(input, "CPU-08", evaluate_clocksource, "cpu"); }},
      {"CPU-09", "somebody else's work", Level::quick, Place::host,
       "A left-over rank of an old job, or another user's, takes a core from a rank; then all ranks wait "
       "for that one.",
       "Processes older than 60 s that used half a core or more on average since they began "
       "(/proc/PID/stat), not counting ours; at level quick only where the load average is at least half "
       "of the usable threads. pass: none. warn: some; or none, where the load average exceeds twice the "
       "threads of the host and more threads than those run now. fail: together more than half of the "
       "threads.",
       "End them, or ask for whole hosts.",
       [](const CheckInput& input) { return evaluate_hosts(input, "CPU-09", evaluate_load, "processes"); }},
      {"CPU-10", "memory", Level::quick, Place::host, "Where memory runs out the kernel kills a rank.",
       "MemAvailable and the bound of our control groups. pass: 256 MiB a rank or more, or the ranks are "
       "not known. fail: less than 64 MiB a rank. warn: between.",
       "End what fills it; request more; fewer ranks a host.",
       [](const CheckInput& input) { return evaluate_hosts(input, "CPU-10", evaluate_memory, "kernel"); }},
      {"CPU-11", "processes that hang", Level::full, Place::host,
       "A process that waits for a dead disk or mount cannot be ended and may hold devices and memory.",
       "/proc, twice within two seconds: in state D both times without having run. warn: one or more, or "
       "100 zombies. pass: all else.",
       "umount -l, or boot the host anew.",
       [](const CheckInput& input) { return evaluate_hosts(input, "CPU-11", evaluate_stuck, "stuck"); }},
  }};
  return table;
}

}  // namespace ddlrun::doctor
