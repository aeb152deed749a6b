// SPDX-License-Identifier: MIT
#include "doctor/gather/name.hpp"

#include <array>

namespace ddlrun::doctor {

std::span<const Gatherer> name_gatherers() {
  using std::chrono::seconds;
  // A resolver that does not answer takes 5 s a name: names have their own budget and a limit above it.
  static constexpr std::array<Gatherer, 5> table{{
      {"names", Level::quick, seconds(13), gather_names},
      {"interfaces", Level::quick, seconds(5), gather_interfaces},
      {"ports", Level::quick, seconds(5), gather_ports},
      {"pairs", Level::full, seconds(17), gather_pairs},
      {"children", Level::full, seconds(17), gather_children},
  }};
  return table;
}

}  // namespace ddlrun::doctor
