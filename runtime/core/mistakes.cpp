// SPDX-License-Identifier: MIT
#include "runtime/core/mistakes.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {

Error join_errors(std::span<const Message> mistakes) {
  Message message = mistakes.front();
  if (mistakes.size() > 1) message.what += fmt::format(" (the first of {} mistakes)", mistakes.size());
  for (const Message& other : mistakes.subspan(1)) {
    message.what += fmt::format("\n  and: {}", other.what);
    if (!other.where.empty()) message.what += fmt::format("\n       at {}; try {}", other.where, other.hint);
  }
  return {ErrorKind::request, std::move(message)};
}

}  // namespace ddlrun::runtime
