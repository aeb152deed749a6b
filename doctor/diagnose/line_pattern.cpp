// SPDX-License-Identifier: MIT
#include "doctor/diagnose/line_pattern.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/line_prefix.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t longest_value = 400;

constexpr std::array<std::pair<std::string_view, Capture>, 8> names{{{"*", Capture::any},
                                                                     {"host", Capture::host},
                                                                     {"rank", Capture::rank},
                                                                     {"value", Capture::value},
                                                                     {"signal", Capture::signal},
                                                                     {"status", Capture::status},
                                                                     {"number", Capture::number},
                                                                     {"end", Capture::end}}};

std::optional<Capture> capture_named(std::string_view name) {
  for (const auto& [known, capture] : names) {
    if (known == name) return capture;
  }
  return std::nullopt;
}

bool belongs_to(Capture capture, char byte) {
  if (capture == Capture::host) return is_name_byte(byte);
  if (capture == Capture::any || capture == Capture::value) return true;
  return (byte >= '0' && byte <= '9') || (byte == '-' && capture == Capture::status);
}

// The text of a gap as the pattern wants it, or nothing. Inside a pattern all of the gap must fit; before the
// first and behind the last piece only what touches the piece.
std::optional<std::string_view> fit(Capture capture, std::string_view gap, bool first, bool last) {
  if (capture == Capture::any) return gap;
  if (capture == Capture::end) return trim(gap).empty() ? std::optional(gap) : std::nullopt;
  if (capture == Capture::value) {
    const std::string_view value = trim(gap);
    return value.empty() ? std::nullopt : std::optional(value.substr(0, longest_value));
  }
  if (last) {
    std::size_t begin = 0;
    while (begin < gap.size() && gap[begin] == ' ') ++begin;
    std::size_t end = begin;
    while (end < gap.size() && belongs_to(capture, gap[end])) ++end;
    gap = gap.substr(begin, end - begin);
  } else if (first) {
    std::size_t begin = gap.size();
    while (begin > 0 && belongs_to(capture, gap[begin - 1])) --begin;
    gap.remove_prefix(begin);
  } else {
    gap = trim(gap);
  }
  if (gap.empty() || gap.size() > 255) return std::nullopt;
  for (const char byte : gap) {
    if (!belongs_to(capture, byte)) return std::nullopt;
  }
  return gap;
}

std::optional<int> to_int(std::string_view text) {
  const bool negative = text.starts_with('-');
  const auto number = parse_unsigned(negative ? text.substr(1) : text, 1u << 30);
  if (!number) return std::nullopt;
  return negative ? -static_cast<int>(*number) : static_cast<int>(*number);
}

// False where a number is no number.
bool store(Captures& captures, Capture capture, std::string_view text) {
  switch (capture) {
    case Capture::any:
    case Capture::end:
      return true;
    case Capture::host:
      captures.host = host_in(text);
      return !captures.host.empty();
    case Capture::value:
      captures.value = text;
      return true;
    case Capture::rank:
      if (const auto rank = parse_unsigned(text, 1u << 24)) captures.rank = static_cast<std::uint32_t>(*rank);
      return captures.rank.has_value();
    case Capture::signal:
      captures.signal = to_int(text);
      return captures.signal.has_value();
    case Capture::status:
      captures.status = to_int(text);
      return captures.status.has_value();
    case Capture::number:
      captures.number = parse_unsigned(text);
      return captures.number.has_value();
  }
  return false;
}

std::optional<Captures> match_from(const LinePattern& pattern, std::string_view line, std::size_t begin) {
  Captures captures;
  const auto take_gap = [&](std::size_t index, std::string_view gap) {
    const bool last = index == pattern.pieces.size();
    const auto text = fit(pattern.gaps[index], gap, index == 0, last);
    return text && store(captures, pattern.gaps[index], *text);
  };
  if (!take_gap(0, line.substr(0, begin))) return std::nullopt;
  std::size_t end = begin + (pattern.pieces.empty() ? 0 : pattern.pieces[0].size());
  for (std::size_t i = 1; i < pattern.pieces.size(); ++i) {
    const std::size_t next = line.find(pattern.pieces[i], end);
    if (next == std::string_view::npos || !take_gap(i, line.substr(end, next - end))) return std::nullopt;
    end = next + pattern.pieces[i].size();
  }
  if (!pattern.pieces.empty() && !take_gap(pattern.pieces.size(), line.substr(end))) return std::nullopt;
  return captures;
}

}  // namespace

void Captures::add(const Captures& other) {
  if (host.empty()) host = other.host;
  if (value.empty()) value = other.value;
  if (advice.empty()) advice = other.advice;
  if (!rank) rank = other.rank;
  if (!signal) signal = other.signal;
  if (!status) status = other.status;
  if (!number) number = other.number;
}

std::optional<LinePattern> parse_line_pattern(std::string_view text) {
  LinePattern pattern;
  pattern.gaps.push_back(Capture::any);
  bool in_piece = false;
  while (!text.empty()) {
    const std::size_t brace = text.find('{');
    if (brace != 0) {
      pattern.pieces.emplace_back(text.substr(0, brace));
      pattern.gaps.push_back(Capture::any);
      in_piece = true;
      text.remove_prefix(std::min(brace, text.size()));
      continue;
    }
    const std::size_t close = text.find('}');
    if (close == std::string_view::npos) return std::nullopt;
    const auto capture = capture_named(text.substr(1, close - 1));
    if (!capture || (!in_piece && pattern.gaps.back() != Capture::any)) return std::nullopt;
    pattern.gaps.back() = *capture;
    in_piece = false;
    text.remove_prefix(close + 1);
  }
  return pattern;
}

std::optional<Captures> match_line(const LinePattern& pattern, std::string_view line) {
  if (pattern.pieces.empty()) return match_from(pattern, line, line.size());
  std::size_t begin = line.find(pattern.pieces[0]);
  for (int tries = 0; tries < 8 && begin != std::string_view::npos; ++tries) {
    if (auto captures = match_from(pattern, line, begin)) return captures;
    begin = line.find(pattern.pieces[0], begin + 1);
  }
  return std::nullopt;
}

std::string render_line_pattern(const LinePattern& pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.gaps.size(); ++i) {
    const bool edge = i == 0 || i == pattern.pieces.size();
    for (const auto& [name, capture] : names) {
      if (capture != pattern.gaps[i] || (edge && capture == Capture::any)) continue;
      text += "{" + std::string(name) + "}";
    }
    if (i < pattern.pieces.size()) text += pattern.pieces[i];
  }
  return text;
}

std::string_view key_of(const LinePattern& pattern) {
  std::string_view key;
  for (const std::string& piece : pattern.pieces) {
    if (piece.size() > key.size()) key = piece;
  }
  return key;
}

}  // namespace ddlrun::diagnose
