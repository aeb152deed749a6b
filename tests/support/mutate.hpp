// SPDX-License-Identifier: MIT
// Deterministic mutations of a text for tests of readers: flips, deletions, insertions, copies, swaps.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

namespace ddlrun::tests {

// How often to mutate: `normal`, or DDLRUN_MUTATIONS from the environment for a long run.
inline std::uint64_t mutation_rounds(std::uint64_t normal) {
  const char* text = std::getenv("DDLRUN_MUTATIONS");
  return text == nullptr ? normal : std::strtoull(text, nullptr, 10);
}

// 1 to 4 mutations, the same for the same seed number.
inline std::string mutate(std::string text, std::uint64_t number) {
  std::mt19937_64 random(number * 0x9e3779b97f4a7c15ULL + 1);
  static constexpr std::string_view interesting = "0123456789-,:;[]x=#\"' \t\r\n\0\xc2\xa0\xff<>/*@+.";
  const std::size_t count = 1 + random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    const char byte =
        random() % 4 == 0 ? static_cast<char>(random() % 256) : interesting[random() % interesting.size()];
    switch (random() % 6) {
      case 0:
        if (!text.empty()) text[at] = byte;
        break;
      case 1:
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(at), byte);
        break;
      case 2:
        text.erase(at, 1 + random() % 3);
        break;
      case 3:
        text.insert(at, text.substr(at, random() % 20));
        break;
      case 4:
        text.insert(at, std::to_string(random() >> (random() % 64)));
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

}  // namespace ddlrun::tests
