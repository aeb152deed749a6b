// SPDX-License-Identifier: MIT
// Gatherer "clock": does something keep this clock right?
//   clock.synchronised       "yes", "no": the kernel's own word (adjtimex)
//   clock.error_microseconds the kernel's estimate of the error
//   clock.service            the unit that would keep it: "chrony", "chronyd", "systemd-timesyncd", "ntp"...;
//                            absent where none is installed
// How far it is from the driver host's is measured on the way (Reach::clock_offset_seconds).
#include "doctor/gather/sysroot_files.hpp"
#include "doctor/gather/system.hpp"

#include <fmt/format.h>

#include <array>

namespace ddlrun::doctor {

void gather_clock(const GatherContext& context, Facts& facts) {
  const ClockState state = context.kernel.clock_state();
  facts.set("clock.synchronised", state.synchronised ? "yes" : "no");
  facts.set("clock.error_microseconds",
            static_cast<std::uint64_t>(state.estimated_error_seconds * 1e6 + 0.5));
  constexpr std::array<std::string_view, 5> services{"chronyd", "chrony", "ntpsec", "ntp",
                                                     "systemd-timesyncd"};
  const SysrootFiles files(context);
  for (const std::string_view service : services) {
    for (const std::string_view dir : {"/usr/lib/systemd/system", "/lib/systemd/system"}) {
      if (!files.exists(fmt::format("{}/{}.service", dir, service))) continue;
      facts.set("clock.service", service);
      return;
    }
  }
}

}  // namespace ddlrun::doctor
