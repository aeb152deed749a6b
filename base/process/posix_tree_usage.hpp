// SPDX-License-Identifier: MIT
// Reads what ranks use, from /proc and /sys: cheaper than a TreeSnapshot, as it looks at no single thread.
#pragma once

#include "base/process/tree_usage.hpp"

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

namespace ddlrun {

// All zeros if there is no such process.
TreeUsage read_tree_usage(pid_t root);

// Of /proc/net/dev, the interfaces that `counts` accepts.
HostTraffic parse_traffic(std::string_view text, const std::function<bool(const std::string& name)>& counts);

// Of devices: a bond, a bridge or a VLAN would count their bytes twice. Where no interface is a device, as in
// a container, of all but lo. InfiniBand and RoCE by the counters of their ports, which IP is a part of.
HostTraffic read_host_traffic();

}  // namespace ddlrun
