// SPDX-License-Identifier: MIT
#include "ddl/core/context_end.hpp"

#include <fmt/format.h>

namespace ddl {

Error make_end_error(ContextEnd end, const std::string& names, std::size_t count, const std::string& call) {
  if (end == ContextEnd::by_exit)
    return {Fault::lost,
            fmt::format("{} ended by exit() with {} Context alive, before {} came to {}", names,
                        count == 1 ? "its" : "their", count == 1 ? "it" : "they", call),
            names, "look at what that rank printed last; an exit() or a return from main on one rank only"};
  return {Fault::lost,
          fmt::format("{} {} no more calls, and this is {}", names, count == 1 ? "makes" : "make", call),
          names, "all ranks make the same calls before their Context ends"};
}

}  // namespace ddl
