// SPDX-License-Identifier: MIT
// One time that a pattern was met in a log, with what it captured and the lines that show it.
#pragma once

#include "diagnose/diagnosis.hpp"
#include "diagnose/line_pattern.hpp"
#include "diagnose/line_prefix.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

struct SeenLine {
  std::uint64_t line = 0;
  std::string text;
};

struct Sighting {
  std::uint32_t owner = 0;  // number of the signature or ending
  bool is_ending = false;
  std::size_t weight = 0;  // the pattern's: the more specific one of two on the same line is meant
  std::uint32_t source = 0;
  std::uint64_t sequence = 0;  // of its first line
  std::uint64_t count = 1;     // "3 more processes have sent ..." is 3
  Stamp stamp;
  Captures captures;
  Captures fields;  // from the "Host: x" lines that followed; weigh less
  std::optional<std::uint32_t> speaker_rank;
  std::string speaker_host;
  std::vector<SeenLine> evidence;
};

}  // namespace ddlrun::diagnose
