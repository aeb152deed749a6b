// SPDX-License-Identifier: MIT
// How ranks prove to each other that they know the token, without sending it: HMAC-SHA256 by libcrypto.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace ddl {

using Digest = std::array<std::byte, 32>;

Digest hmac_sha256(std::string_view key, std::span<const std::byte> text);
// Takes the same time wherever they differ.
bool same_digest(const Digest& a, const Digest& b);
// Unpredictable numbers. Throws Error(unsupported) when the system has none.
void fill_random(std::span<std::byte> bytes);

}  // namespace ddl
