// SPDX-License-Identifier: MIT
// How often the threads of a process were seen in the code of each file.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace ddlrun {

// Number of samples by the name of the mapped file, without its directory; "" for memory without a file.
using CodeSamples = std::map<std::string, std::size_t>;

}  // namespace ddlrun
