// SPDX-License-Identifier: MIT
// The shell text of job scripts: the files of templates/script/, as they were when ddlrun was built.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::templates {

// Name ("exit_status") and content of each file. schedulers/script_fragment.hpp describes their form.
std::vector<std::pair<std::string, std::string_view>> builtin_scripts();

}  // namespace ddlrun::templates
