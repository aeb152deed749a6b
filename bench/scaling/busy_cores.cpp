// SPDX-License-Identifier: MIT
#include "bench/scaling/busy_cores.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <chrono>

namespace ddlrun::bench_report {

namespace {

constexpr double worth_a_warning = 0.2;  // cores
constexpr std::uint64_t most_stat_bytes = 4u << 20;

std::optional<CpuTimes> read_cpu_times(System& system) {
  try {
    return parse_cpu_times(system.files.read("/proc/stat", most_stat_bytes));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(std::string_view text) {
  constexpr std::size_t idle = 3, iowait = 4, guest = 8;  // proc(5); user already contains guest
  const auto words = split(text.substr(0, text.find('\n')), ' ');
  if (words.empty() || words[0] != "cpu") return std::nullopt;
  CpuTimes times;
  std::size_t column = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i].empty()) continue;  // two blanks behind "cpu"
    const auto ticks = parse_unsigned(words[i]);
    if (!ticks) return std::nullopt;
    if (column < guest) times.all += static_cast<double>(*ticks);
    if (column < guest && column != idle && column != iowait) times.busy += static_cast<double>(*ticks);
    ++column;
  }
  return column > iowait ? std::optional(times) : std::nullopt;
}

std::optional<double> measure_busy_cores(System& system, int cores) {
  const auto before = read_cpu_times(system);
  system.clock.pause(std::chrono::milliseconds(300));
  const auto after = read_cpu_times(system);
  if (!before || !after || after->all <= before->all) return std::nullopt;
  return (after->busy - before->busy) / (after->all - before->all) * cores;
}

void warn_if_busy(System& system, int cores) {
  const auto busy = measure_busy_cores(system, cores);
  if (!busy || *busy < worth_a_warning) return;
  system.err(
      fmt::format("ddlrun: warning: other programs use {:.1f} of {} cores of {}: the figures will be too "
                  "low and differ from run to run (top shows the programs)\n",
                  *busy, cores, system.environment.host_name));
}

}  // namespace ddlrun::bench_report
