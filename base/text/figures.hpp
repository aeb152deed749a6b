// SPDX-License-Identifier: MIT
// Measured numbers as text and as JSON.
#pragma once

#include <string>

namespace ddlrun {

// For documents: what a measurement does not show is left out. 0, infinities and NaN stay.
double round_to_five_digits(double value);

// For tables: "0.12", "43.8", "2758".
std::string render_three_digits(double value);

}  // namespace ddlrun
