// SPDX-License-Identifier: MIT
#include "launch/run/print_placement.hpp"

#include "base/text/error.hpp"

#include <fmt/format.h>

#include <string>

namespace ddlrun::launch {

namespace {

std::string first_that_is_not_ok(const std::vector<PlacementRow>& rows) {
  for (const PlacementRow& row : rows) {
    if (row.verdict == PlaceVerdict::ok) continue;
    return fmt::format("rank {} on {}: {}", row.planned.rank, row.found ? row.found->host : row.planned.host,
                       row.why);
  }
  return {};
}

// What to type if a rank ran elsewhere than planned.
std::string mismatch_hint(const LaunchSpec& spec) {
  if (!spec.launcher.words.mpi_arguments.empty() || !spec.launcher.words.mca.empty())
    return "the same without --mpi-arg and --mca";
  if (topology::any_given(spec.placement.machine))
    return "the same without --topology, --synthetic, --sockets: ddlrun then reads the hosts";
  return "ddlrun topo on that host; a scheduler or container may allow fewer cores there";
}

}  // namespace

void print_places(System& system, const LaunchRun& run, const std::vector<PlacementRow>& rows) {
  const PlacementCount count = count_verdicts(rows);
  system.err("ddlrun: each rank's place, as planned and as found:\n" + render_placement_table(rows));
  if (count.differs + count.silent == 0) return;
  const std::string what =
      count.differs > 0
          ? fmt::format("{} of {} ranks are NOT where they were planned", count.differs, rows.size())
          : fmt::format("{} of {} ranks never reported their place", count.silent, rows.size());
  system.err(render_message("ddlrun", run.spec.strict ? "error" : "warning",
                            {what, first_that_is_not_ok(rows), mismatch_hint(run.spec)}));
}

void print_silent(System& system, const LaunchRun& run, const std::vector<PlacementRow>& rows) {
  if (count_verdicts(rows).silent < rows.size()) return print_places(system, run, rows);
  system.err(
      fmt::format("ddlrun: none of {} ranks reported its place: they were not started\n", rows.size()));
}

}  // namespace ddlrun::launch
