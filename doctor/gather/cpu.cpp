// SPDX-License-Identifier: MIT
// Gatherer "cpu": the processors that a process here may use, and their clocks.
//   cpu.usable           "0-3,8": hardware threads of our affinity mask
//   cpu.usable_threads   their number
//   cpu.usable_cores     distinct cores among them (by thread_siblings_list; a thread without one counts
//   alone) cpu.online           "0-255" cpu.governors        list of "governor driver", each once; of at most
//   16 policies spread over all cpu.capped_percent   the lowest scaling_max_freq of them in percent of
//   cpuinfo_max_freq cpu.clocksource, cpu.clocksources   current; list of available ones load.one, load.five
//   load averages in hundredths ("125" = 1.25) load.running         threads that run or could run now, of all
//   containers, this process included
#include "base/text/text.hpp"
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::doctor {

namespace {

constexpr std::size_t sampled_policies = 16;

void gather_usable(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const std::vector<int> usable = context.kernel.usable_cpus();
  if (usable.empty()) return facts.set_unknown("cpu.usable", "sched_getaffinity failed");
  std::set<std::string> cores;
  for (const int cpu : usable) {
    const auto siblings =
        files.line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    cores.insert(siblings && !siblings->empty() ? *siblings : std::to_string(cpu));
  }
  facts.set("cpu.usable", render_ranges(usable));
  facts.set("cpu.usable_threads", usable.size());
  facts.set("cpu.usable_cores", cores.size());
  set_line(facts, "cpu.online", files.line("/sys/devices/system/cpu/online"));
}

void gather_governors(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  const std::string dir = "/sys/devices/system/cpu/cpufreq/";
  std::vector<std::string> policies = files.list(dir.substr(0, dir.size() - 1));
  std::erase_if(policies, [](const std::string& name) { return !name.starts_with("policy"); });
  if (policies.empty()) return facts.set_unknown("cpu.governors", "the kernel shows no frequencies here");
  std::set<std::string> governors;
  std::uint64_t percent = 100;
  const std::size_t step = (policies.size() + sampled_policies - 1) / sampled_policies;
  for (std::size_t i = 0; i < policies.size(); i += step) {
    const std::string policy = dir + policies[i];
    const auto governor = files.line(policy + "/scaling_governor");
    const auto driver = files.line(policy + "/scaling_driver");
    const auto most = files.number(policy + "/scaling_max_freq");
    const auto possible = files.number(policy + "/cpuinfo_max_freq");
    if (governor) governors.insert(*governor + " " + driver.value_or("?"));
    if (most && possible && *possible > 0) percent = std::min(percent, *most * 100 / *possible);
  }
  facts.set_list("cpu.governors", {governors.begin(), governors.end()});
  facts.set("cpu.capped_percent", percent);
}

// "1.25" -> 125
std::optional<std::uint64_t> parse_hundredths(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || text.size() != dot + 3) return std::nullopt;
  const auto whole = parse_unsigned(text.substr(0, dot), 1u << 30),
             part = parse_unsigned(text.substr(dot + 1));
  return whole && part ? std::optional(*whole * 100 + *part) : std::nullopt;
}

}  // namespace

void gather_cpu(const GatherContext& context, Facts& facts) {
  const SysrootFiles files(context);
  gather_usable(context, facts);
  gather_governors(context, facts);
  const std::string clocks = "/sys/devices/system/clocksource/clocksource0/";
  set_line(facts, "cpu.clocksource", files.line(clocks + "current_clocksource"));
  if (const auto line = files.line(clocks + "available_clocksource")) {
    std::vector<std::string> names;
    for (const auto name : split(*line, ' ')) names.emplace_back(name);
    facts.set_list("cpu.clocksources", names);
  }
  if (const auto line = files.line("/proc/loadavg")) {
    const auto words = split(*line, ' ');
    const auto one = parse_hundredths(words[0]);
    const auto five = words.size() > 1 ? parse_hundredths(words[1]) : std::nullopt;
    if (one) facts.set("load.one", *one);
    if (five) facts.set("load.five", *five);
    if (words.size() > 3) {
      const auto running = parse_unsigned(words[3].substr(0, words[3].find('/')));
      if (running) facts.set("load.running", *running);
    }
  }
}

}  // namespace ddlrun::doctor
