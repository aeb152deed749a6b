// SPDX-License-Identifier: MIT
// A rank's output as whole lines, so that ranks which write at once are never mixed within one. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ddlrun::launch {

// A line ends with its newline, or where a carriage return begins it anew: progress bars never send a
// newline.
class LineBuffer {
 public:
  static constexpr std::size_t longest = 64 * 1024;  // then it goes on in pieces: memory stays bounded

  // What is complete now, byte for byte; "" if nothing is.
  std::string take(std::string_view bytes);
  // What still lacks an end.
  std::string take_rest();
  bool holds_some() const { return !rest_.empty(); }

 private:
  std::string rest_;
};

}  // namespace ddlrun::launch
