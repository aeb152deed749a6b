// SPDX-License-Identifier: MIT
#include "launch/rank/line_assembler.hpp"

namespace ddlrun::launch {

void LineAssembler::take(const OutputFrame& piece) {
  std::string& waiting = waiting_[{piece.rank, piece.stream}];
  std::string_view bytes = piece.bytes;
  if (bytes.empty() && !waiting.empty()) {  // the end of the stream
    sink_(piece.rank, piece.stream, waiting);
    waiting.clear();
  }
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      waiting += bytes;
      if (waiting.size() < max_line) return;
      sink_(piece.rank, piece.stream, waiting);
      return waiting.clear();
    }
    if (waiting.empty()) {
      sink_(piece.rank, piece.stream, bytes.substr(0, end + 1));
    } else {
      waiting += bytes.substr(0, end + 1);
      sink_(piece.rank, piece.stream, waiting);
      waiting.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void LineAssembler::flush() {
  for (auto& [key, waiting] : waiting_) {
    if (!waiting.empty()) sink_(key.first, key.second, waiting);
    waiting.clear();
  }
}

}  // namespace ddlrun::launch
