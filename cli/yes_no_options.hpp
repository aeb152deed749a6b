// SPDX-License-Identifier: MIT
// `submit --verify` without a value, as `launch` has it.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ddlrun::cli {

// "--verify" becomes "--verify=yes" for each option of `app` whose value is yes|no or more, where no value
// follows: nothing, another option, or DIMS ("--verify 2x2"; a plain number is a value where the option takes
// one). Any other word stays its value.
void complete_yes_no_options(const CLI::App& app, std::vector<std::string>& words);

}  // namespace ddlrun::cli
