// SPDX-License-Identifier: MIT
#include "launch/place_marker.hpp"

#include "base/text.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

constexpr int max_pu = 1 << 20;

std::string lead(std::string_view token) { return fmt::format("ddlrun-place token={} ", token); }

// The value of "key=value" if `word` has that key.
std::optional<std::string_view> value_of(std::string_view word, std::string_view key) {
  if (word.size() <= key.size() || word.substr(0, key.size()) != key || word[key.size()] != '=') {
    return std::nullopt;
  }
  return word.substr(key.size() + 1);
}

std::optional<std::uint32_t> parse_rank(std::string_view text) {
  const auto value = parse_unsigned(text, topology::max_ranks - 1);
  return value ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

// "rank=3 local=1 host=h2 pus=0-3" exactly.
std::optional<PlaceReport> parse_fields(std::string_view text) {
  const auto words = split(text, ' ');
  if (words.size() != 4) return std::nullopt;
  const auto rank = value_of(words[0], "rank");
  const auto local = value_of(words[1], "local");
  const auto host = value_of(words[2], "host");
  const auto pus = value_of(words[3], "pus");
  if (!rank || !local || !host || !pus) return std::nullopt;
  const auto rank_number = parse_rank(*rank);
  const auto numbers = parse_ranges(*pus, max_pu);
  if (!rank_number || !numbers) return std::nullopt;
  const auto local_number = parse_rank(*local);
  if (!local_number && *local != "?") return std::nullopt;
  return PlaceReport{*rank_number, local_number, std::string(*host), *numbers};
}

// Without the "[1,3]<stderr>:" (Open MPI 4) or "[job@1,3]<stderr>: " (5) that --tag-output put
// before a marker.
std::string_view without_tag(std::string_view text) {
  std::string_view body = text;
  if (!body.empty() && body.back() == ' ') body.remove_suffix(1);
  constexpr std::string_view tail = "]<stderr>:";
  if (body.size() < tail.size() || body.substr(body.size() - tail.size()) != tail) return text;
  const std::size_t open = body.rfind('[');
  return open == std::string_view::npos ? text : text.substr(0, open);
}

}  // namespace

std::string render_place_marker(std::string_view token, const PlaceReport& report) {
  const std::string local = report.local_rank ? fmt::format("{}", *report.local_rank) : "?";
  return fmt::format("{}rank={} local={} host={} pus={};\n", lead(token), report.rank, local, report.host,
                     render_ranges(report.pus));
}

MarkedLine find_place_marker(std::string_view line, std::string_view token) {
  MarkedLine unmarked{std::nullopt, std::string(line)};
  const std::string mark = lead(token);
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return unmarked;
  const std::string_view body = line.substr(at + mark.size());
  const std::size_t end = body.find(';');
  if (end == std::string_view::npos) return unmarked;
  const auto report = parse_fields(body.substr(0, end));
  if (!report) return unmarked;
  std::string_view after = body.substr(end + 1);
  if (!after.empty() && after.front() == '\n') after.remove_prefix(1);
  return {report, std::string(without_tag(line.substr(0, at))) + std::string(after)};
}

}  // namespace ddlrun::launch
