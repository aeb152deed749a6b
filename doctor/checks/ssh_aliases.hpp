// SPDX-License-Identifier: MIT
// Names of hosts that only the ssh configuration of the driver host knows (Host blocks), for NAME-01.
#pragma once

#include "doctor/model/check.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::doctor {

// Names that lead to no address on any host, and by which the driver host's ssh reached the host all the
// same.
std::set<std::string> find_ssh_aliases(const CheckInput& input);

// The warning about them; `asked`: how many names were looked up.
CheckResult warn_of_aliases(const std::vector<std::string>& aliases, std::size_t asked);

}  // namespace ddlrun::doctor
