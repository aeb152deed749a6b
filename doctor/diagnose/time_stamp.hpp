// SPDX-License-Identifier: MIT
// Time stamps at the beginning of a line, in the forms that launchers, loggers and schedulers print.
#pragma once

#include "doctor/diagnose/line_prefix.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace ddlrun::diagnose {

struct FoundStamp {
  Stamp stamp;
  std::size_t length = 0;  // in bytes, with brackets and what follows them
};

// 2026-11-21T06:34:14.5+09:00, [2026-11-21 06:34:14,123], "Sat Nov 21 06:34:14 2026<stderr>:", "Nov 21
// 06:34:14", "I1121 06:34:14.123456"; nothing where the text begins otherwise. Without a zone it is taken as
// UTC.
std::optional<FoundStamp> read_stamp(std::string_view text);

}  // namespace ddlrun::diagnose
