// SPDX-License-Identifier: MIT
// How much of this host other programs use, before a measurement.
#pragma once

#include "base/os/system.hpp"

#include <optional>
#include <string_view>

namespace ddlrun::bench_report {

struct CpuTimes {
  double busy = 0, all = 0;  // ticks of all cores since boot
};
// The first line of /proc/stat; nothing for any other text.
std::optional<CpuTimes> parse_cpu_times(std::string_view text);

// Cores in use during the next 300 ms; nothing where /proc/stat cannot be read.
std::optional<double> measure_busy_cores(System& system, int cores);

// A warning on stderr where more than a fifth of a core is in use: such figures are too low, and vary.
void warn_if_busy(System& system, int cores);

}  // namespace ddlrun::bench_report
