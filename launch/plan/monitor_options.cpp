// SPDX-License-Identifier: MIT
#include "launch/plan/monitor_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddlrun::cli {

namespace {

// Words for mpirun by which stderr goes elsewhere: the keepers' lines would end up there.
bool sends_stderr_elsewhere(const std::string& word) {
  for (const std::string_view part : {"output-filename", "merge-stderr", "xml"}) {
    if (word.starts_with('-') && word.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

MonitorOptions plan_monitor(const LaunchOptions& options) {
  const auto after = parse_unsigned(options.stall_after, 86'400);
  if (!after) {
    throw Error(ErrorKind::usage, {fmt::format("--stall-timeout takes seconds, 0 to 86400, not '{}'",
                                               printable(options.stall_after, 40)),
                                   "", "--stall-timeout 60; 0 for never"});
  }
  if (options.on_stall != "warn" && options.on_stall != "end") {
    throw Error(ErrorKind::usage,
                {fmt::format("--on-stall takes warn or end, not '{}'", printable(options.on_stall, 40)), "",
                 "--on-stall end"});
  }
  const bool end = options.on_stall == "end";
  if (end && options.no_watch) {
    throw Error(ErrorKind::usage,
                {"--on-stall end needs what --no-monitor leaves out", "", "--on-stall end alone"});
  }
  const bool elsewhere =
      std::any_of(options.mpi_arguments.begin(), options.mpi_arguments.end(), sends_stderr_elsewhere);
  return {!options.no_watch, !options.no_watch && !elsewhere, static_cast<int>(*after), end};
}

}  // namespace ddlrun::cli
