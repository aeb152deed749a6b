// SPDX-License-Identifier: MIT
// Finds the first of many fixed texts in a large buffer. Looks at 4 bytes every few bytes: each text has a
// window of rare bytes, and whichever way it lies in the buffer, one look falls inside that window. Where the
// 4 bytes belong to no window, which is nearly always, nothing else is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

class LiteralScanner {
 public:
  // Each literal has at least `min_length` bytes.
  static constexpr std::size_t min_length = 6;

  struct Hit {
    std::size_t at = std::string_view::npos;  // where the literal begins
    std::uint32_t literal = 0;
    bool found() const { return at != std::string_view::npos; }
  };

  explicit LiteralScanner(std::vector<std::string> literals);

  // A literal that lies in text[from, ...), or nothing. No other lies in an earlier line.
  Hit find(std::string_view text, std::size_t from) const;

  // Every literal that lies in `text`, each at most once, by number.
  std::vector<std::uint32_t> find_all(std::string_view text) const;

 private:
  static constexpr std::size_t gram = 4;
  static constexpr unsigned filter_bits = 17;

  struct Place {
    std::uint32_t gram_bytes;
    std::uint32_t literal;
    std::uint32_t offset;  // of those bytes in the literal
  };

  template <typename Visit>
  void scan(std::string_view text, std::size_t from, const Visit& visit) const;

  std::vector<std::string> literals_;
  std::size_t stride_ = 1;
  std::vector<std::uint64_t> filter_;  // a bit for each hash of 4 bytes that begins a place
  std::vector<std::uint32_t> bucket_;  // hash -> first place; places are sorted by hash
  std::vector<Place> places_;
};

}  // namespace ddlrun::diagnose
