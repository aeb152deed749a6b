// SPDX-License-Identifier: MIT
#include "launch/rank/output_frame.hpp"

#include "base/text/text.hpp"
#include "launch/rank/control_line.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

constexpr char record_sign = '\x1e';  // rare in output, and harmless there
constexpr char escape = '\x10';       // then: n a newline, d itself, e the end of the bytes

// Appends as much of `bytes` as fits into `room`; returns how much of it that was.
std::size_t append_escaped(std::string& piece, std::string_view bytes, std::size_t room) {
  const std::size_t full = piece.size() + room;
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const std::string_view rest = bytes.substr(taken, full - piece.size());
    std::size_t plain = 0;
    while (plain < rest.size() && rest[plain] != '\n' && rest[plain] != escape) ++plain;
    piece.append(rest.substr(0, plain));
    taken += plain;
    if (taken == bytes.size() || piece.size() + 2 > full) break;
    if (bytes[taken] != '\n' && bytes[taken] != escape) break;
    piece += escape;
    piece += bytes[taken] == '\n' ? 'n' : 'd';
    ++taken;
  }
  return taken;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  while (true) {
    const std::size_t at = text.find(escape);
    if (at == std::string_view::npos || at + 1 >= text.size()) return std::nullopt;
    bytes.append(text.substr(0, at));
    const char what = text[at + 1];
    text.remove_prefix(at + 2);
    if (what == 'e') return bytes;
    if (what != 'n' && what != 'd') return std::nullopt;
    bytes += what == 'n' ? '\n' : escape;
  }
}

}  // namespace

OutputFramer::OutputFramer(std::string_view token, std::uint32_t rank) {
  leads_[0] = fmt::format("{}{} {}o", record_sign, token, rank);
  leads_[1] = fmt::format("{}{} {}e", record_sign, token, rank);
}

std::string OutputFramer::mark(RankStream stream, std::string_view bytes) {
  const auto index = static_cast<std::size_t>(stream);
  std::string text;
  text.reserve((bytes.size() / 450 + 1) * output_frame_bytes);
  std::string piece;
  do {
    piece = leads_[index];
    piece += fmt::format_int(next_[index]++).c_str();
    piece += ':';
    bytes.remove_prefix(append_escaped(piece, bytes, output_frame_bytes - 3 - piece.size()));
    piece += escape;
    piece += 'e';
    piece.resize(output_frame_bytes - 1, ' ');
    piece += '\n';
    text += piece;
  } while (!bytes.empty());
  return text;
}

std::string pad_to_frame(std::string line) {
  if (line.empty() || line.back() != '\n') return line;
  const std::size_t length = (line.size() + output_frame_bytes - 1) / output_frame_bytes * output_frame_bytes;
  line.insert(line.size() - 1, length - line.size(), ' ');
  return line;
}

OutputReader::OutputReader(std::string_view token) : lead_(fmt::format("{}{} ", record_sign, token)) {}

std::optional<OutputFrame> OutputReader::parse(std::string_view piece) const {
  piece.remove_prefix(lead_.size());
  const std::size_t colon = piece.find(':');
  const std::size_t letter = piece.find_first_of("oe");
  if (colon == std::string_view::npos || letter > colon) return std::nullopt;
  const auto rank = parse_unsigned(piece.substr(0, letter), topology::max_ranks - 1);
  const auto number = parse_unsigned(piece.substr(letter + 1, colon - letter - 1));
  auto bytes = unescape(piece.substr(colon + 1));
  if (!rank || !number || !bytes) return std::nullopt;
  return OutputFrame{static_cast<std::uint32_t>(*rank),
                     piece[letter] == 'o' ? RankStream::out : RankStream::err, *number, std::move(*bytes)};
}

OutputReader::Taken OutputReader::take(std::string_view line) {
  std::string joined;
  if (!waiting_.empty()) {
    joined = std::move(waiting_);
    joined += line;
    waiting_.clear();
    line = joined;
  }
  const std::size_t at = line.find(lead_);
  if (at == std::string_view::npos) {
    // Perhaps the beginning of one, whose rest comes with the next line.
    const std::size_t sign = line.rfind(record_sign);
    if (sign == std::string_view::npos || !lead_.starts_with(line.substr(sign)))
      return {std::nullopt, std::string(line)};
    waiting_ = line.substr(sign);
    return {std::nullopt, std::string(line.substr(0, sign))};
  }
  const std::string_view piece = line.substr(at, output_frame_bytes);
  if (piece.size() < output_frame_bytes && piece.back() != '\n') {
    waiting_ = piece;
    return {std::nullopt, std::string(without_tag(line.substr(0, at)))};
  }
  auto parsed = piece.size() == output_frame_bytes ? parse(piece) : std::nullopt;
  if (!parsed) return {std::nullopt, std::string(line)};
  std::string rest(without_tag(line.substr(0, at)));
  rest += line.substr(at + piece.size());
  return {std::move(parsed), std::move(rest)};
}

std::string OutputReader::finish() { return std::move(waiting_); }

void OutputCount::take(const OutputFrame& piece) {
  Stream& stream = streams_[{piece.rank, piece.stream}];
  if (piece.number > stream.next) missing_ += piece.number - stream.next;
  stream.next = piece.number + 1;
  if (piece.bytes.empty()) stream.ended = true;
}

std::size_t OutputCount::without_end() const {
  return static_cast<std::size_t>(
      std::count_if(streams_.begin(), streams_.end(), [](const auto& entry) { return !entry.second.ended; }));
}

}  // namespace ddlrun::launch
