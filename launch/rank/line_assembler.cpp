// SPDX-License-Identifier: MIT
#include "launch/rank/line_assembler.hpp"

namespace ddlrun::launch {

void LineAssembler::take(const OutputFrame& piece) {
  Part& waiting = waiting_[{piece.rank, piece.stream}];
  const auto pass_on = [&](std::string_view line) {
    sink_(piece.rank, piece.stream, line);
    waiting = {};
  };
  std::string_view bytes = piece.bytes;
  if (bytes.empty() && !waiting.text.empty()) pass_on(waiting.text);  // the end of the stream
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      waiting.text += bytes;
      if (waiting.text.size() >= max_line) pass_on(waiting.text);
      return;
    }
    if (waiting.text.empty()) {
      pass_on(bytes.substr(0, end + 1));
    } else {
      waiting.text += bytes.substr(0, end + 1);
      pass_on(waiting.text);
    }
    bytes.remove_prefix(end + 1);
  }
}

void LineAssembler::flush() {
  for (auto& [key, waiting] : waiting_) {
    if (!waiting.text.empty()) sink_(key.first, key.second, waiting.text);
    waiting = {};
  }
}

void LineAssembler::flush_old() {
  for (auto& [key, waiting] : waiting_) {
    if (waiting.is_old) {
      sink_(key.first, key.second, waiting.text);
      waiting = {};
    } else {
      waiting.is_old = !waiting.text.empty();
    }
  }
}

}  // namespace ddlrun::launch
