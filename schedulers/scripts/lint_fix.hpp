// SPDX-License-Identifier: MIT
// The script with those findings corrected whose correction is beyond doubt: bytes, line ends, the shell, the
// directory, and lines that the remedy has in full. Every other byte stays.
#pragma once

#include "schedulers/scripts/lint.hpp"

#include <string>
#include <vector>

namespace ddlrun::job_scripts {

struct FixedScript {
  std::string text;
  std::vector<Finding> fixed;
  std::vector<Finding> remaining;  // of `text`, with its line numbers
};

FixedScript fix_script(const JobScript& script, const LintContext& context);

}  // namespace ddlrun::job_scripts
