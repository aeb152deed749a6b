// SPDX-License-Identifier: MIT
// A rank whose threads have one core between them.
#pragma once

#include <string>

namespace ddl {

// For the end of a hint: on a thread beside the first one of its process, where both may use the same single
// core. Else "".
std::string hint_core_shortage();

}  // namespace ddl
