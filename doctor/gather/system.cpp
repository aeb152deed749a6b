// SPDX-License-Identifier: MIT
#include "doctor/gather/system.hpp"

#include <array>

namespace ddlrun::doctor {

std::span<const Gatherer> system_gatherers() {
  using std::chrono::milliseconds;
  static constexpr std::array<Gatherer, 12> table{{
      {"limits", Level::quick, milliseconds(5000), gather_limits},
      {"cgroup", Level::quick, milliseconds(5000), gather_cgroup},
      {"kernel", Level::quick, milliseconds(5000), gather_kernel},
      {"cpu", Level::quick, milliseconds(5000), gather_cpu},
      {"processes", Level::quick, milliseconds(5000), gather_processes},
      {"stuck", Level::full, milliseconds(8000), gather_stuck},
      {"disks", Level::quick, milliseconds(5000), gather_disks},
      {"data", Level::quick, milliseconds(7000), gather_data},
      {"token", Level::quick, milliseconds(7000), gather_token},
      {"clock", Level::quick, milliseconds(5000), gather_clock},
      {"user", Level::quick, milliseconds(5000), gather_user},
      {"security", Level::quick, milliseconds(5000), gather_security},
  }};
  return table;
}

}  // namespace ddlrun::doctor
