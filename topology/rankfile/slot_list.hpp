// SPDX-License-Identifier: MIT
// The text after "slot=" in a rankfile: which cores it means, and where Open MPI takes it otherwise.
#pragma once

#include "topology/machine.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::rankfile {

using topology::CoreIndex;
using topology::MachineTopology;
using topology::PuIndex;

// error: Open MPI refuses the file, crashes, or does something else than is written. warning: works today,
// but fragile. note: for information.
enum class Severity { error, warning, note };

std::string_view severity_name(Severity severity);  // "error", "warning", "note"

// Something wrong inside one slot text. `offset` counts bytes from its first one.
struct SlotProblem {
  std::string id;
  Severity severity = Severity::error;
  std::size_t offset = 0;
  std::string what;
  std::string hint;
  std::string corrected;  // the whole slot text put right, or "" where that is not ours to decide
};

// Cores first..last of a package, or of the whole machine where package is -1. `all` where "*" stood for
// them.
struct SlotRange {
  static constexpr int all = 1 << 30;
  static constexpr int every_package = -2;

  int package = -1;
  int first = 0;
  int last = 0;

  bool operator==(const SlotRange&) const = default;
};

// What the writer meant, as far as it can be detected. Without errors this is also exactly what Open MPI
// binds.
struct SlotReading {
  std::vector<SlotRange> ranges;  // as written, in that order
  std::vector<CoreIndex> cores;   // ascending, each once; empty without a machine
  std::vector<SlotProblem> problems;

  bool has_errors() const;
};

// Reads `slots` on `machine` as Open MPI `mpi_major` (4 or 5) would. With a null machine only the form is
// checked and `cores` stays empty.
SlotReading read_slots(std::string_view slots, const MachineTopology* machine, int mpi_major = 4);

// The cores of a slot text that read_slots finds no error in; empty if it does.
std::vector<CoreIndex> resolve_slots(std::string_view slots, const MachineTopology& machine,
                                     int mpi_major = 4);

// Every hardware thread of some cores, ascending: what a rank bound to them finds in its cpuset.
std::vector<PuIndex> pus_of_cores(const MachineTopology& machine, const std::vector<CoreIndex>& cores);

// The same cores in the form that Open MPI 4 and 5 read alike, neighbours merged: "0:0-4;1:2", "3,8-9".
std::string render_slot_ranges(std::vector<SlotRange> ranges);

}  // namespace ddlrun::rankfile
