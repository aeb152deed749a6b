// SPDX-License-Identifier: MIT
// Options about images: rows of the table in train_options.cpp.
#pragma once

#include "runtime/app/hyperparameter_options.hpp"

namespace ddlrun::runtime {

std::span<const OptionRow> image_rows();

}  // namespace ddlrun::runtime
