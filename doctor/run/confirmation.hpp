// SPDX-License-Identifier: MIT
// Which hosts are asked again, directly: a relay could forge a finding, and with it the command that a person
// is shown for another host.
#pragma once

#include "doctor/model/check.hpp"

#include <span>
#include <string>
#include <vector>

namespace ddlrun::doctor {

// Of each warning and failure, all hosts that a relay reported, or one of each relay if they are many; `all`
// leaves none out. `relays` has the relay through which each host was first reached, "" = none. Indices in
// `hosts`, in order.
std::vector<std::size_t> hosts_to_confirm(std::span<const Finding> findings,
                                          std::span<const HostReport> hosts,
                                          const std::vector<std::string>& relays, bool all);

}  // namespace ddlrun::doctor
