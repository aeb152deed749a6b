// SPDX-License-Identifier: MIT
// An error as text, so that one rank can tell it to the others.
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>

namespace ddlrun::runtime {

struct Failure {
  ErrorKind kind;
  Message message;
  std::string from;  // the rank's name
};

std::string render_failure(const Failure& failure);
// The inverse; nothing for "", which stands for success.
std::optional<Failure> parse_failure(const std::string& text);

}  // namespace ddlrun::runtime
