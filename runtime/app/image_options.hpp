// SPDX-License-Identifier: MIT
// The options of ddl-train about images: rows of the table of train_options.cpp.
#pragma once

#include "runtime/app/hyperparameter_options.hpp"

namespace ddlrun::runtime {

std::span<const OptionRow> image_rows();

}  // namespace ddlrun::runtime
