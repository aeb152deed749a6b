// SPDX-License-Identifier: MIT
// Serializes an error, so that one rank can send it to the others.
#pragma once

#include "base/text/error.hpp"

#include <optional>
#include <string>

namespace ddlrun::runtime {

struct Failure {
  ErrorKind kind;
  Message message;
  std::string from;  // the rank's name
};

std::string render_failure(const Failure& failure);
// The inverse of render_failure(); empty for "", which means success.
std::optional<Failure> parse_failure(const std::string& text);

}  // namespace ddlrun::runtime
