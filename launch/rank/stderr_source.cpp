// SPDX-License-Identifier: MIT
#include "launch/rank/stderr_source.hpp"

#include "base/text/text.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

std::string stderr_lead(std::string_view token) { return fmt::format("ddlrun-err token={} rank=", token); }

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

}  // namespace ddlrun::launch
