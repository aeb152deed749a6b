// SPDX-License-Identifier: MIT
#include "base/text/error.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

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

namespace {

constexpr std::size_t longest_line = 4000;

// What a message quotes (file names, values, a host's words) reaches a terminal without control characters;
// line ends are the program's own.
std::string clean(std::string_view text) {
  std::string cleaned;
  for (;;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    cleaned += printable(text.substr(0, end), longest_line);
    if (end == text.size()) return cleaned;
    cleaned += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string render_message(std::string_view program, std::string_view severity, const Message& message) {
  std::string text = fmt::format("{}: {}: {}\n", program, severity, clean(message.what));
  if (!message.where.empty()) text += fmt::format("  at:  {}\n", clean(message.where));
  if (!message.hint.empty()) text += fmt::format("  try: {}\n", clean(message.hint));
  return text;
}

std::string render_error(std::string_view program, const Message& message) {
  return render_message(program, "error", message);
}

}  // namespace ddlrun
