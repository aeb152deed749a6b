// SPDX-License-Identifier: MIT
// Values of options that several commands have.
#pragma once

#include "base/os/system.hpp"

#include <cstdint>
#include <string>

namespace ddlrun::cli {

// The number of --limit; 0: no limit. Error{usage} for anything else.
std::uint64_t parse_limit_option(const std::string& text);

// Seconds of "12h", "90d". Error{usage} for anything else.
std::int64_t parse_age_option(const std::string& option, const std::string& text);

// A report for stdout, with colours on a terminal.
std::string coloured_report(const Environment& environment, std::string text);

}  // namespace ddlrun::cli
