// SPDX-License-Identifier: MIT
// The one error type of the project. A message always has a remedy: it cannot be built without a hint.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ddlrun {

// what: the fact with both numbers. where: file:line, host or option; may be empty. hint: something to type.
struct Message {
  std::string what;
  std::string where;
  std::string hint;

  bool operator==(const Message&) const = default;
};

enum class ErrorKind {
  usage,        // the command line is wrong
  request,      // well formed, but it cannot be met: plan, file, missing tool
  scheduler,    // the scheduler refused
  unreachable,  // some hosts could not be reached
  time_limit,   // a deadline passed
  internal,     // a bug of ours
};

// The process exit status that belongs to a kind: 2, 3, 4, 5, 124, 70.
int exit_code(ErrorKind kind);

// Thrown where a function cannot go on. Throws std::logic_error if the message lacks `what` or `hint`.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, Message message);
  ErrorKind kind() const { return kind_; }
  const Message& message() const { return message_; }

 private:
  ErrorKind kind_;
  Message message_;
};

// "PROGRAM: error: what\n  at:  where\n  try: hint\n"; `severity` is error, warning or note.
std::string render_message(std::string_view program, std::string_view severity, const Message& message);
std::string render_error(std::string_view program, const Message& message);

}  // namespace ddlrun
