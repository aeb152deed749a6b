// SPDX-License-Identifier: MIT
// Lines of ours on a program's stderr: "LEAD body;\n", found among other output and cut out of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

struct Marked {
  std::optional<std::string_view> body;  // between the lead and ';'; part of the line that was given
  std::string rest;                      // what belongs to somebody else, byte for byte
};

// Finds the marker also behind unfinished output of another rank and behind the prefix of --tag-output.
Marked cut_marker(std::string_view line, std::string_view lead);

// Without the "[1,3]<stderr>:" (Open MPI 4) or "[job@1,3]<stderr>: " (5) that --tag-output put before a
// marker: what stood before that.
std::string_view without_tag(std::string_view text);

// The value of "key=value" if `word` has that key.
std::optional<std::string_view> value_of(std::string_view word, std::string_view key);

}  // namespace ddlrun::launch
