// SPDX-License-Identifier: MIT
// Several errors of one file or command line as one error.
#pragma once

#include "base/text/error.hpp"

#include <span>

namespace ddlrun::runtime {

// One Error(request) that lists all errors. `errors` must not be empty.
Error join_errors(std::span<const Message> errors);

}  // namespace ddlrun::runtime
