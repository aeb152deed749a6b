// SPDX-License-Identifier: MIT
// Where the bundled trainer wrote the curves of a run: --metrics FILE, or the file in the run directory.
#pragma once

#include "base/os/system.hpp"
#include "launch/history/run_record.hpp"

#include <string>

namespace ddlrun::launch {

struct MetricsFile {
  std::string path;     // "" without such a file
  std::string problem;  // why the file that --metrics names is not read, for people, or ""
};

MetricsFile find_metrics_file(System& system, const RunRecord& run, const std::string& directory);

// The value of "--name FILE" or "--name=FILE" among the words of the run's program, from its working
// directory; or "".
std::string named_file(const RunRecord& run, const std::string& option);

}  // namespace ddlrun::launch
