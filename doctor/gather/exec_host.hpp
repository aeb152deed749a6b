// SPDX-License-Identifier: MIT
// The processors of each host of a job, from the attribute exec_host of `qstat -f`.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ddlrun::doctor {

// The processors by host, names without their domain. Empty where the text has no well-formed exec_host.
std::map<std::string, std::uint64_t> parse_exec_host(std::string_view qstat);

}  // namespace ddlrun::doctor
