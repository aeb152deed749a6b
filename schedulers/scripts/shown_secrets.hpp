// SPDX-License-Identifier: MIT
// Secrets that a PBS script passes to its job by -v. The server keeps their values with the job, and qstat -f
// shows them to every user.
#pragma once

#include "base/text/error.hpp"

#include <optional>
#include <string_view>

namespace ddlrun::job_scripts {

// A warning that names the variables of -v whose names are those of secrets. It is empty without such a
// variable and without #PBS lines.
std::optional<Message> find_shown_secrets(std::string_view script);

}  // namespace ddlrun::job_scripts
