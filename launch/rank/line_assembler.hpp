// SPDX-License-Identifier: MIT
// The pieces of all ranks' output joined to lines again. Pure.
#pragma once

#include "launch/rank/output_frame.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace ddlrun::launch {

class LineAssembler {
 public:
  // With its newline; without one only what was left at the end, or is longer than `max_line`.
  using Sink = std::function<void(std::uint32_t rank, RankStream stream, std::string_view line)>;
  explicit LineAssembler(Sink sink) : sink_(std::move(sink)) {}

  void take(const OutputFrame& piece);
  // Lines that have no end yet.
  void flush();
  // Those of them that had none at the last call either.
  void flush_old();

  static constexpr std::size_t max_line = 1 << 20;

 private:
  struct Part {
    std::string text;
    bool is_old = false;
  };

  Sink sink_;
  std::map<std::pair<std::uint32_t, RankStream>, Part> waiting_;
};

}  // namespace ddlrun::launch
