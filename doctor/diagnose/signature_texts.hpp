// SPDX-License-Identifier: MIT
// Faults in the texts of a user's own signatures, each with the text that mends it.
#pragma once

#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// A value out of a log, such as {value}, has to stay one word of the shell that runs the remedy: not within
// quotes, nor behind ssh, whose shell splits it once more. A comment is not run.
struct ValueFault {
  std::string what;    // "" where the remedy has none
  std::string mended;  // the remedy without it
};
ValueFault find_value_fault(std::string_view remedy);

// The syntax of a regular expression in `pattern`, as a list for people: "^, .*"; or "".
std::string regex_syntax_in(std::string_view pattern);

// How such a pattern is written: "match: 'prolog: {*} failed with code '".
std::string plain_pattern_hint(std::string_view pattern);

}  // namespace ddlrun::diagnose
