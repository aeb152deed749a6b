// SPDX-License-Identifier: MIT
// A Python module that is missing: a typing error, a package of another name, or a file of the user's. pip
// installs whatever has a name, also what somebody published for those who mistype it.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::diagnose {

constexpr std::string_view missing_module_id = "X48";

// The well-known module that was probably meant: "torch" for "torhc"; nothing for a known one, or another
// name.
std::optional<std::string> meant_module(std::string_view name);

// In the remedies of missing_module_id pip installs known packages only; any other name may be a slip, or a
// file of the user's.
void name_module(Finding& finding);

}  // namespace ddlrun::diagnose
