// SPDX-License-Identifier: MIT
// The form of a slot text, without a machine: groups, ranges, and every deviation from what Open MPI reads as
// it is written. slot_list.cpp puts the machine to it.
#pragma once

#include "topology/rankfile/slot_list.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::rankfile {

// A range and where it stands in the text.
struct ParsedRange {
  SlotRange range;
  std::size_t offset = 0;
  bool whole_package = false;  // written as "S0": a package that is not there crashes Open MPI
};

struct ParsedSlots {
  std::vector<ParsedRange> ranges;
  std::vector<SlotProblem> problems;  // `corrected` still empty
  bool decidable = true;              // false: some problem leaves open what was meant
};

ParsedSlots parse_slots(std::string_view text, int mpi_major);

}  // namespace ddlrun::rankfile
