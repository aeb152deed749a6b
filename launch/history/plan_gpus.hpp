// SPDX-License-Identifier: MIT
// The GPUs of a run, from its plan.json. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace ddlrun::launch {

// The index in a machine's GPUs of each rank; of as many ranks as it holds. Error{request} that names
// `where`.
std::map<std::uint32_t, int> parse_plan_gpus(std::string_view text, const std::string& where);

}  // namespace ddlrun::launch
