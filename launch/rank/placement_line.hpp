// SPDX-License-Identifier: MIT
// The line on stderr by which a started rank reports its place, and how launch finds it among other
// output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// Where a rank found itself.
struct PlaceReport {
  std::uint32_t rank = 0;
  std::optional<std::uint32_t> local_rank;
  std::string host;      // gethostname()
  std::vector<int> pus;  // OS numbers, ascending: its real cpuset

  bool operator==(const PlaceReport&) const = default;
};

// "ddlrun-place token=T rank=3 local=1 host=h2 pus=0-3,16-19;\n". The token keeps a program's own
// output from looking like one by accident.
std::string render_placement_line(std::string_view token, const PlaceReport& report);

// A line of mpirun's stderr without its marker.
struct MarkedLine {
  std::optional<PlaceReport> report;
  std::string rest;  // what belongs to somebody else, byte for byte; all of the line where there is
                     // no marker
};

// Finds the marker also behind unfinished output of another rank and behind the prefix of
// --tag-output.
MarkedLine find_placement_line(std::string_view line, std::string_view token);

}  // namespace ddlrun::launch
