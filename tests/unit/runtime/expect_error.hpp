// SPDX-License-Identifier: MIT
// Every refusal must tell what, where and what to try.
#pragma once

#include "base/text/error.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace ddlrun::runtime {

// Runs `work`, which must throw an Error of this kind with `part` in its fact; returns the message.
inline Message expect_error(ErrorKind kind, const std::string& part, const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    const Message& message = error.message();
    CHECK(error.kind() == kind);
    CHECK_MESSAGE(message.what.find(part) != std::string::npos, message.what);
    CHECK(!message.where.empty());
    CHECK(!message.hint.empty());
    return message;
  }
  FAIL("no error was thrown; expected one with: ", part);
  return {};
}

}  // namespace ddlrun::runtime
