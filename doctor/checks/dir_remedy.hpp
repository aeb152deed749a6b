// SPDX-License-Identifier: MIT
// What makes a directory of the job usable: made where it is missing, by its whole path; never a system
// directory, a mount point or a home given to another owner.
#pragma once

#include "doctor/model/facts.hpp"
#include "doctor/model/finding.hpp"

#include <string_view>

namespace ddlrun::doctor {

// For the directory of disk.ROLE.*, which is missing or not writable for this user.
Remedy plan_dir_remedy(const Facts& facts, std::string_view role);

}  // namespace ddlrun::doctor
