// SPDX-License-Identifier: MIT
// How the Context of a rank ended while others wait for that rank, and the error that these get.
#pragma once

#include "ddl/error.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ddl {

// Sent and shared between ranks. `alive`: the Context lives.
enum class ContextEnd : std::uint32_t { alive, in_order, by_exit };

// `names`: of the `count` ranks that have ended, while this rank waits for them in `call`.
Error make_end_error(ContextEnd end, const std::string& names, std::size_t count, const std::string& call);

}  // namespace ddl
