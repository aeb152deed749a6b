// SPDX-License-Identifier: MIT
#include "topology/rankfile/slot_list.hpp"

#include "topology/rankfile/slot_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

// "2 packages of 10 cores", "packages with 2, 1, 1 and 2 cores", "8 cores and no packages".
std::string describe_cores(const MachineTopology& machine) {
  const auto packages = machine.packages_with_cores();
  if (packages.empty()) return fmt::format("{} cores and no packages", machine.cores.size());
  if (machine.packages_are_equal()) {
    return fmt::format("{} package{} of {} cores", packages.size(), packages.size() == 1 ? "" : "s",
                       packages.front()->core_count);
  }
  std::string counts;
  for (const Package* package : packages) {
    counts += fmt::format("{}{}", counts.empty() ? "" : ", ", package->core_count);
  }
  return "packages of " + counts + " cores";
}

// Puts a machine to the parsed form: finds the cores, and names what is not there.
class SlotResolver {
 public:
  SlotResolver(const MachineTopology& machine, int mpi_major) : machine_(machine), mpi_major_(mpi_major) {}

  void resolve(const ParsedRange& parsed) {
    const SlotRange& range = parsed.range;
    if (range.package == SlotRange::every_package) {
      for (const Core& core : machine_.cores) cores_.push_back(core.index);
    } else if (range.package < 0) {
      resolve_machine_wide(parsed);
    } else {
      resolve_in_package(parsed);
    }
  }

  // Ascending, each once.
  std::vector<CoreIndex> take_cores() {
    std::sort(cores_.begin(), cores_.end());
    cores_.erase(std::unique(cores_.begin(), cores_.end()), cores_.end());
    return std::move(cores_);
  }
  const std::vector<SlotProblem>& problems() const { return problems_; }
  bool order_differs() const { return order_differs_; }

 private:
  void missing(std::string_view id, std::size_t offset, std::string what, std::string hint) {
    problems_.push_back({std::string(id), Severity::error, offset, std::move(what), std::move(hint), ""});
  }

  void resolve_machine_wide(const ParsedRange& parsed) {
    const int count = static_cast<int>(machine_.cores.size());
    for (int core = parsed.range.first; core <= std::min(parsed.range.last, count - 1); ++core) {
      cores_.push_back(machine_.cores[static_cast<std::size_t>(core)].index);
    }
    if (parsed.range.last < count) return;
    missing(
        "core-not-there", parsed.offset,
        fmt::format("there is no core {}: the machine has {}, numbered 0-{}; mpirun ends with status 1 and "
                    "prints nothing",
                    std::max(parsed.range.first, count), describe_cores(machine_), count - 1),
        "ddlrun topo lists the cores; ddlrun gen-rankfile writes lines that fit");
  }

  void resolve_in_package(const ParsedRange& parsed) {
    std::vector<CoreIndex> cores;
    for (const Core& core : machine_.cores) {
      if (core.package == parsed.range.package) cores.push_back(core.index);
    }
    if (cores.empty()) return missing_package(parsed);
    const int count = static_cast<int>(cores.size());
    const int last = parsed.range.last == SlotRange::all ? count - 1 : parsed.range.last;
    for (int core = parsed.range.first; core <= std::min(last, count - 1); ++core) {
      const CoreIndex index = cores[static_cast<std::size_t>(core)];
      // Open MPI 5 multiplies the package's number by this package's own core count.
      const bool whole = parsed.range.last == SlotRange::all;
      if (!whole && parsed.range.package * count + core != index.logical) order_differs_ = true;
      cores_.push_back(index);
    }
    if (last < count) return;
    missing("core-not-there", parsed.offset,
            fmt::format("package {} has no core {}: the machine has {}; {}", parsed.range.package,
                        std::max(parsed.range.first, count), describe_cores(machine_),
                        mpi_major_ >= 5 ? "Open MPI 5 takes a core of the next package silently, or refuses"
                                        : "mpirun refuses the file without naming rank or host"),
            "ddlrun topo lists the cores; ddlrun gen-rankfile writes lines that fit");
  }

  void missing_package(const ParsedRange& parsed) {
    const bool none = machine_.packages_with_cores().empty();
    missing(none ? "no-packages-here" : "package-not-there", parsed.offset,
            fmt::format("there is no package {} with cores: the machine has {}; {}", parsed.range.package,
                        describe_cores(machine_),
                        parsed.whole_package ? "mpirun dies of this with a segmentation fault"
                                             : "mpirun refuses the file without naming rank or host"),
            none ? "number the cores over the machine, without a colon: slot=0-3"
                 : "packages are numbered from 0 in logical order, not by their P#: ddlrun topo lists them");
  }

  const MachineTopology& machine_;
  int mpi_major_;
  std::vector<CoreIndex> cores_;
  std::vector<SlotProblem> problems_;
  bool order_differs_ = false;
};

std::vector<SlotRange> machine_wide(const std::vector<CoreIndex>& cores) {
  std::vector<SlotRange> ranges;
  for (const CoreIndex core : cores) ranges.push_back({-1, core.logical, core.logical});
  return ranges;
}

std::string range_text(const SlotRange& range) {
  const std::string package = range.package >= 0 ? fmt::format("{}:", range.package) : "";
  if (range.package == SlotRange::every_package) return "S*";
  if (range.last == SlotRange::all) return package + "*";
  return range.first == range.last ? fmt::format("{}{}", package, range.first)
                                   : fmt::format("{}{}-{}", package, range.first, range.last);
}

}  // namespace

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "error";
}

bool SlotReading::has_errors() const {
  return std::any_of(problems.begin(), problems.end(),
                     [](const SlotProblem& problem) { return problem.severity == Severity::error; });
}

std::string render_slot_ranges(std::vector<SlotRange> ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const SlotRange& a, const SlotRange& b) {
    return std::pair(a.package, a.first) < std::pair(b.package, b.first);
  });
  std::string text;
  for (std::size_t i = 0; i < ranges.size();) {
    SlotRange merged = ranges[i++];
    while (i < ranges.size() && ranges[i].package == merged.package && ranges[i].first <= merged.last + 1) {
      merged.last = std::max(merged.last, ranges[i++].last);
    }
    const bool comma = merged.package == -1 && !text.empty() && text.back() != '*';
    text += fmt::format("{}{}", text.empty() ? "" : comma ? "," : ";", range_text(merged));
  }
  return text;
}

SlotReading read_slots(std::string_view slots, const MachineTopology* machine, int mpi_major) {
  ParsedSlots parsed = parse_slots(slots, mpi_major);
  SlotReading reading;
  reading.problems = std::move(parsed.problems);
  for (const ParsedRange& range : parsed.ranges) reading.ranges.push_back(range.range);
  bool decidable = parsed.decidable && !reading.ranges.empty();
  bool unequal = false;
  if (machine != nullptr) {
    SlotResolver resolver(*machine, mpi_major);
    for (const ParsedRange& range : parsed.ranges) resolver.resolve(range);
    decidable = decidable && resolver.problems().empty();
    unequal = mpi_major >= 5 && resolver.order_differs();
    reading.problems.insert(reading.problems.end(), resolver.problems().begin(), resolver.problems().end());
    reading.cores = resolver.take_cores();
  }
  if (unequal) {
    reading.problems.push_back(
        {"unequal-packages", Severity::error, 0,
         fmt::format(
             "the machine has {}: Open MPI 5 counts PACKAGE:CORE as if all packages were equal and binds "
             "another core",
             describe_cores(*machine)),
         "number the cores over the machine, without a colon; 4 and 5 read that alike", ""});
  }
  if (!decidable || reading.problems.empty()) return reading;
  const std::string corrected = render_slot_ranges(unequal ? machine_wide(reading.cores) : reading.ranges);
  for (SlotProblem& problem : reading.problems) problem.corrected = corrected;
  return reading;
}

std::vector<CoreIndex> resolve_slots(std::string_view slots, const MachineTopology& machine, int mpi_major) {
  SlotReading reading = read_slots(slots, &machine, mpi_major);
  return reading.has_errors() ? std::vector<CoreIndex>() : std::move(reading.cores);
}

std::vector<PuIndex> pus_of_cores(const MachineTopology& machine, const std::vector<CoreIndex>& cores) {
  std::vector<PuIndex> pus;
  for (const CoreIndex index : cores) {
    const Core& core = machine.cores.at(static_cast<std::size_t>(index.logical));
    pus.insert(pus.end(), core.pus.begin(), core.pus.end());
  }
  std::sort(pus.begin(), pus.end());
  return pus;
}

}  // namespace ddlrun::rankfile
