// SPDX-License-Identifier: MIT
// --baseline: the file in which the facts of a good run are kept.
#pragma once

#include "base/os/system.hpp"
#include "doctor/report/report.hpp"

#include <string>
#include <vector>

namespace ddlrun::doctor {

struct BaselineRequest {
  std::string verb;  // "", "save", "compare"
  std::string file;  // "" = in the user's state directory
};

// Saves these reports, or adds to `findings` what differs from those that were saved.
void use_baseline(System& system, const BaselineRequest& request, const std::vector<HostReport>& hosts,
                  std::vector<Finding>& findings);

}  // namespace ddlrun::doctor
