// SPDX-License-Identifier: MIT
// A launch that is shown instead of done: a bash script that does by hand what launch would do.
#pragma once

#include "launch/launchers/launcher.hpp"

#include <string>

namespace ddlrun::launch {

struct DryRun {
  std::string rankfile_path;
  std::string rankfile_text;  // "" where the launcher takes none
  std::vector<std::string> remarks;
  Exports exports;
  LaunchCommand line;
};

// The reasons as comments, the rankfile as a here-document, the environment, the line. Values given
// by -x are left out: the script requests them.
std::string render_dry_run(const DryRun& run);

}  // namespace ddlrun::launch
