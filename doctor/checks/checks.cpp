// SPDX-License-Identifier: MIT
// All checks, in the order of their report: what stops a job first comes first.
#include "doctor/model/check.hpp"

namespace ddlrun::doctor {

const std::vector<Check>& all_checks() {
  static const std::vector<Check> checks = [] {
    std::vector<Check> all;
    for (const auto table : {software_checks(), name_checks(), system_checks(), device_checks()}) {
      all.insert(all.end(), table.begin(), table.end());
    }
    return all;
  }();
  return checks;
}

}  // namespace ddlrun::doctor
