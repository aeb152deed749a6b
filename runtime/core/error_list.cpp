// SPDX-License-Identifier: MIT
#include "runtime/core/error_list.hpp"

#include <fmt/format.h>

namespace ddlrun::runtime {

Error join_errors(std::span<const Message> errors) {
  Message message = errors.front();
  if (errors.size() > 1) message.what += fmt::format(" (the first of {} errors)", errors.size());
  for (const Message& other : errors.subspan(1)) {
    message.what += fmt::format("\n  and: {}", other.what);
    if (!other.where.empty()) message.what += fmt::format("\n       at {}; try {}", other.where, other.hint);
  }
  return {ErrorKind::request, std::move(message)};
}

}  // namespace ddlrun::runtime
