// SPDX-License-Identifier: MIT
// One line of a pattern: "on node {host} exited on signal {signal}" read from its text and held against a
// line.
#pragma once

#include "doctor/diagnose/signature.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

// What the {names} of a pattern stood for.
struct Captures {
  std::string host;
  std::string value;
  std::string advice;  // of a "try:" line
  std::optional<std::uint32_t> rank;
  std::optional<int> signal;
  std::optional<int> status;
  std::optional<std::uint64_t> number;

  // Takes from `other` what is not known yet.
  void add(const Captures& other);
};

// {*} is any text, {end} the end of the line; {host}, {rank}, {value}, {signal}, {status}, {number} are
// captured. Nothing where a name in braces is unknown or two of them touch.
std::optional<LinePattern> parse_line_pattern(std::string_view text);

// What the pattern captures in `line`, or nothing where it does not fit.
std::optional<Captures> match_line(const LinePattern& pattern, std::string_view line);

// The pattern as parse_line_pattern reads it.
std::string render_line_pattern(const LinePattern& pattern);

// The longest literal piece: what a scanner looks for. "" for a pattern of captures only.
std::string_view key_of(const LinePattern& pattern);

}  // namespace ddlrun::diagnose
