// SPDX-License-Identifier: MIT
// A fuzz target: a function of bytes that ends the process if a property does not hold. The same source is
// linked with libFuzzer and with replay_main.cpp.
#pragma once

#include "base/text/error.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::fuzz {

struct Target {
  std::string name;
  void (*run)(std::string_view input) = nullptr;
};

// Those that are linked: all in the replay program, one in a program of libFuzzer.
std::vector<Target>& linked_targets();
bool add_target(const char* name, void (*run)(std::string_view input));

// Ends the process with `property` on stderr.
void require(bool holds, std::string_view property, std::string_view found = {});

// The text can go to a terminal: no control byte but the newline, no C1 control and no mark of direction.
void require_printable(std::string_view text);

// A refusal that a user can act on: the reason and a remedy, both printable.
void require_message(const Message& message);

// What `call` returns, or nothing if it refuses its input with an Error. Any other exception ends the
// process.
template <typename Call>
auto accepted(const Call& call) -> std::optional<decltype(call())> {
  try {
    return call();
  } catch (const Error& error) {
    require_message(error.message());
    return std::nullopt;
  }
}

// The first byte as a number, taken off the input: for choices that are no part of the format.
inline unsigned take_byte(std::string_view& input) {
  if (input.empty()) return 0;
  const unsigned byte = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  return byte;
}

inline std::span<const std::uint8_t> as_bytes(std::string_view input) {
  return {reinterpret_cast<const std::uint8_t*>(input.data()), input.size()};
}

}  // namespace ddlrun::fuzz

#define DDLRUN_FUZZ_TARGET(name)                                                                  \
  static void fuzz_##name(std::string_view input);                                                \
  [[maybe_unused]] static const bool added_##name = ddlrun::fuzz::add_target(#name, fuzz_##name); \
  static void fuzz_##name([[maybe_unused]] std::string_view input)
