// SPDX-License-Identifier: MIT
#include "launch/rank/stderr_source.hpp"

#include "base/text/text.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::launch {

namespace {

std::string stderr_lead(std::string_view token) { return fmt::format("ddlrun-err token={} rank=", token); }

// A report "ddlrun-rank token=T rank=3 " or "ddlrun-place ...", or a frame "\x1eT 3o", with T at `at`.
bool is_mark_of(std::string_view text, std::size_t at, std::size_t end, std::uint32_t rank) {
  const std::string_view before = text.substr(0, at), after = text.substr(end);
  const bool is_report = before.ends_with("ddlrun-rank token=") || before.ends_with("ddlrun-place token=");
  if (is_report) return after.starts_with(fmt::format(" rank={} ", rank));
  return before.ends_with('\x1e') &&
         (after.starts_with(fmt::format(" {}o", rank)) || after.starts_with(fmt::format(" {}e", rank)));
}

}  // namespace

std::string mark_stderr_lines(std::string_view token, std::uint32_t rank, std::string_view lines) {
  const std::string mark = fmt::format("{}{};", stderr_lead(token), rank);
  std::string marked;
  while (!lines.empty()) {
    const std::size_t newline = lines.find('\n');
    const std::size_t length = newline == std::string_view::npos ? lines.size() : newline + 1;
    marked += mark;
    marked += lines.substr(0, length);
    lines.remove_prefix(length);
  }
  return marked;
}

MarkedStderr cut_stderr_marks(std::string_view line, std::string_view token) {
  const std::string lead = stderr_lead(token);
  MarkedStderr marked;
  for (std::size_t at = line.find(lead); at != std::string_view::npos; at = line.find(lead, at)) {
    const std::size_t end = line.find(';', at);
    const std::string_view number = line.substr(at + lead.size(), end - at - lead.size());
    const auto rank =
        end == std::string_view::npos ? std::nullopt : parse_unsigned(number, topology::max_ranks - 1);
    if (!rank) {  // not ours
      at += lead.size();
      continue;
    }
    if (!marked.rank) marked.rank = static_cast<std::uint32_t>(*rank);
    marked.rest += line.substr(0, at);
    line.remove_prefix(end + 1);
    at = 0;
  }
  marked.rest += line;
  return marked;
}

std::string ForeignMarkFilter::clean(std::string_view bytes, std::optional<std::uint32_t> sender) {
  const std::size_t before = tail_.size();
  std::string text = tail_ + std::string(bytes);
  std::size_t longest = 1;
  for (const std::string& token : tokens_) {
    longest = std::max(longest, token.size());
    for (std::size_t at = token.empty() ? text.npos : text.find(token); at != text.npos;
         at = text.find(token, at + token.size())) {
      const std::size_t end = at + token.size();
      if (end <= before || (sender && is_mark_of(text, at, end, *sender))) continue;
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(std::max(at, before)),
                text.begin() + static_cast<std::ptrdiff_t>(end), 'x');
    }
  }
  tail_ = text.substr(text.size() - std::min(text.size(), longest - 1));
  return text.substr(before);
}

std::string printable_lines(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t newline = text.find('\n');
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(newline == text.npos ? text.size() : newline + 1);
    if (newline != line.npos && line.ends_with('\r')) line.remove_suffix(1);
    shown += printable(line, line.size());
    if (newline != line.npos) shown += '\n';
  }
  return shown;
}

std::string last_printable_line(std::string_view text) {
  std::string last;
  for (const std::string_view line : split(text, '\n')) {
    if (!trim(line).empty()) last = printable(trim(line), 200);
  }
  return last;
}

}  // namespace ddlrun::launch
