// SPDX-License-Identifier: MIT
// A fast 64-bit hash to compare equal data on several ranks. Not for security.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace ddlrun::runtime {

constexpr std::uint64_t hash_start = 0xcbf29ce484222325U;

// Eight bytes a step (multiply and rotate; each step is a bijection of the state), then the rest and the
// length.
inline std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t hash = hash_start) {
  constexpr std::uint64_t hash_prime = 0x9fb21c651e98df25U;
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, 8);
    hash = std::rotl((hash ^ word) * hash_prime, 29);
  }
  for (const std::byte byte : bytes.last(bytes.size() % 8))
    hash = std::rotl((hash ^ static_cast<std::uint64_t>(byte)) * hash_prime, 29);
  hash = (hash ^ bytes.size()) * hash_prime;
  return hash ^ (hash >> 32U);
}

}  // namespace ddlrun::runtime
