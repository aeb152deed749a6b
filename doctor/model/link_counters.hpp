// SPDX-License-Identifier: MIT
// The error counters of an RDMA port that are watched: what gather/ writes under these names, checks/ reads.
#pragma once

namespace ddlrun::doctor {

inline constexpr const char* link_counters[] = {"symbol_error", "link_error_recovery", "link_downed",
                                                "port_rcv_errors"};

}  // namespace ddlrun::doctor
