// SPDX-License-Identifier: MIT
// An example of each finding: a script that has it, and one, as near as can be, that has not.
#pragma once

#include "schedulers/scripts/lint.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ddlrun::job_scripts {

struct LintExample {
  std::string_view id;         // of the finding
  std::string_view bad, good;  // "P ..." and "S ..." stand for the head of a sound PBS or Slurm script
  std::string_view site = {};  // the profile that the rule needs, or ""
  std::string_view when = {};  // what the rule depends on beside the script, as whole lines
};
std::span<const LintExample> lint_examples();

// The directory of the examples: it has train.py, and nothing else.
const ScriptFiles& example_files();

// The whole script that an example stands for.
std::string unfold_example(std::string_view text);

// The rule's example with its finding, and the script without it. Error{usage} with the nearest id for one
// that does not exist.
std::string explain_rule(const std::string& id);
// All ids, sorted, a line each.
std::string list_rules();

}  // namespace ddlrun::job_scripts
