// SPDX-License-Identifier: MIT
// One occurrence of a pattern in a log: its captures and the lines that show it.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/line_prefix.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

struct EvidenceLine {
  std::uint64_t line = 0;
  std::string text;
};

inline std::vector<LogLine> lines_in(const std::string& source, const std::vector<EvidenceLine>& kept) {
  std::vector<LogLine> lines;
  for (const EvidenceLine& line : kept) lines.push_back({source, line.line, line.text});
  return lines;
}

struct Match {
  std::uint32_t owner = 0;  // number of the signature or ending
  bool is_ending = false;
  std::size_t weight = 0;  // the pattern's: of two on the same line the more specific counts
  std::uint32_t source = 0;
  std::uint64_t sequence = 0;  // of its first line
  std::uint64_t count = 1;     // "3 more processes have sent ..." is 3
  Stamp stamp;
  Captures captures;
  Captures fields;  // from the "Host: x" lines that followed; weigh less
  std::optional<std::uint32_t> origin_rank;
  std::string origin_host;
  std::vector<EvidenceLine> evidence;
  std::vector<EvidenceLine> following;  // lines of the same rank behind it
};

}  // namespace ddlrun::diagnose
