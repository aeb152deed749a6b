// SPDX-License-Identifier: MIT
// The options that a job passes to `ddlrun launch` and `ddlrun doctor`, checked at submission by those
// commands' own parsers. It is here because schedulers/ does not include launch/.
#pragma once

#include "schedulers/job/setting_reader.hpp"

namespace ddlrun::cli {

// A schedulers::PassedOptionCheck.
void check_passed_options(schedulers::SettingReader& reader, const schedulers::JobSpec& job);

}  // namespace ddlrun::cli
