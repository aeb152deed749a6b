// SPDX-License-Identifier: MIT
// Finds the first of many fixed texts in a large buffer. Looks at a few bytes at every third place only: each
// text has a window of rare bytes, and whichever way it lies in the buffer, one look falls inside that
// window. Where the bytes belong to no window, which is nearly always, nothing else is done. Most texts are
// long: these are found by 8 bytes at every sixth place, because 4 bytes are too often a part of common
// words.
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
  struct Place {
    std::uint32_t hash;  // of the bytes that begin there
    std::uint32_t literal;
    std::uint32_t offset;  // in the literal
  };

  template <typename Visit>
  void scan(std::string_view text, std::size_t from, const Visit& visit) const;

  std::vector<std::string> literals_;
  std::vector<std::uint64_t> short_filter_;  // a bit of a word for each hash of 4 bytes that begin a place
  std::vector<std::uint64_t> long_filter_;   // two bits of a word for each hash of 8 bytes that begin a place
  std::vector<std::uint32_t> bucket_;        // top bits of a hash -> first place; they are sorted by hash
  std::vector<Place> places_;
};

}  // namespace ddlrun::diagnose
