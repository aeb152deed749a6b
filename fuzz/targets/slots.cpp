// SPDX-License-Identifier: MIT
// Slot lists: every core that is found is one of the machine, and ranges that are written are read alike.
#include "fuzz/fuzz_target.hpp"
#include "topology/rankfile/slot_list.hpp"

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(slots) {
  static const topology::MachineTopology machine = topology::regular_machine(2, 4, 2, "fuzz");
  const int mpi_major = fuzz::take_byte(input) % 2 == 0 ? 4 : 5;
  const rankfile::SlotReading reading = rankfile::read_slots(input, &machine, mpi_major);
  for (const topology::CoreIndex core : reading.cores)
    fuzz::require(core.logical >= 0 && core.logical < 8, "a core is one of the machine", input);
  for (const rankfile::SlotProblem& problem : reading.problems) {
    fuzz::require(problem.offset <= input.size(), "a problem is inside the text", input);
    fuzz::require_printable(problem.what + problem.hint + problem.corrected);
  }
  if (reading.has_errors() || reading.ranges.empty()) return;
  const std::string text = rankfile::render_slot_ranges(reading.ranges);
  const rankfile::SlotReading again = rankfile::read_slots(text, &machine, mpi_major);
  fuzz::require(again.cores == reading.cores, "slots that are written are read alike", text);
}
