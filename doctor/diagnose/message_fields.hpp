// SPDX-License-Identifier: MIT
// The "Name: value" lines that follow an Open MPI message: "  Local host: n2", "Executable: ./a.out", "Rank:
// 3".
#pragma once

#include "doctor/diagnose/line_pattern.hpp"

#include <optional>
#include <string_view>

namespace ddlrun::diagnose {

struct FoundField {
  Captures captures;     // host, rank, status or value
  std::string_view key;  // as written, without blanks around it
  std::string_view value;
};

// The field in a line without its prefixes, if its name stands for a host, rank, status or value.
std::optional<FoundField> read_field(std::string_view line);

// A line of dashes: the end of a message's box.
bool is_box_edge(std::string_view line);

}  // namespace ddlrun::diagnose
