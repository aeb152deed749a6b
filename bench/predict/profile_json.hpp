// SPDX-License-Identifier: MIT
// A profile as JSON text, as "ddlrun.predict/1" and the metrics of ddl-train have it.
#pragma once

#include "bench/predict/profile.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_predict {

std::string render_profile_json(const StepProfile& profile);
// An array of schedules. Throws nlohmann's exceptions, which name the field.
std::vector<ProfileSchedule> parse_schedules_json(std::string_view text);

}  // namespace ddlrun::bench_predict
