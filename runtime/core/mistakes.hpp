// SPDX-License-Identifier: MIT
// Several mistakes of one file or command line as one error.
#pragma once

#include "base/text/error.hpp"

#include <span>

namespace ddlrun::runtime {

// One Error(request) that lists all mistakes. `mistakes` must not be empty.
Error join_errors(std::span<const Message> mistakes);

}  // namespace ddlrun::runtime
