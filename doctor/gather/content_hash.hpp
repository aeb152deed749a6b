// SPDX-License-Identifier: MIT
// A fast 64-bit fingerprint of bytes: distinguishes files that differ by accident. It does not
// protect against files made equal on purpose.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ddlrun::doctor {

class ContentHash {
 public:
  // Pieces but the last must be multiples of eight bytes.
  void add(std::string_view bytes) {
    size_ += bytes.size();
    for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 8 ? bytes.size() : 8)) mix(word(bytes));
  }
  std::uint64_t value() const {
    ContentHash last = *this;
    last.mix(size_);
    last.mix(last.state_ >> 29);
    return last.state_;
  }

 private:
  static std::uint64_t word(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8 && i < bytes.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
  }
  // Odd multipliers and a shift between: each word changes all bits of the state.
  void mix(std::uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15u;
    state_ = (state_ ^ (state_ >> 32)) * 0xd6e8feb86659fd93u;
    state_ ^= state_ >> 32;
  }

  std::uint64_t state_ = 0x2545f4914f6cdd1du, size_ = 0;
};

}  // namespace ddlrun::doctor
