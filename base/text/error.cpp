// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"

#include <fmt/format.h>

namespace ddlrun {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::request:
      return 3;
    case ErrorKind::scheduler:
      return 4;
    case ErrorKind::unreachable:
      return 5;
    case ErrorKind::time_limit:
      return 124;
    case ErrorKind::internal:
      return 70;
  }
  return 70;
}

Error::Error(ErrorKind kind, Message message)
    : std::runtime_error(message.what), kind_(kind), message_(std::move(message)) {
  if (message_.what.empty() || message_.hint.empty()) {
    throw std::logic_error("an Error needs both what and hint: '" + message_.what + "'");
  }
}

std::string render_message(std::string_view program, std::string_view severity, const Message& message) {
  std::string text = fmt::format("{}: {}: {}\n", program, severity, message.what);
  if (!message.where.empty()) text += fmt::format("  at:  {}\n", message.where);
  if (!message.hint.empty()) text += fmt::format("  try: {}\n", message.hint);
  return text;
}

std::string render_error(std::string_view program, const Message& message) {
  return render_message(program, "error", message);
}

}  // namespace ddlrun
