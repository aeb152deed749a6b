// SPDX-License-Identifier: MIT
// The lines behind a known message: many programs print the reason there.
#pragma once

#include "doctor/diagnose/match.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

// Adds the line to `following` where it may explain the message that ended on line `last`: at most 3 lines
// near it, without stacks, progress reports, rulers and repetitions.
void add_following(std::vector<EvidenceLine>& following, std::uint64_t last, std::uint64_t line,
                   std::string_view text);

}  // namespace ddlrun::diagnose
