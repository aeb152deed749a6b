// SPDX-License-Identifier: MIT
#include "launch/rank/placement_line.hpp"

#include "base/text/text.hpp"
#include "launch/rank/control_line.hpp"
#include "topology/dims.hpp"

#include <fmt/format.h>

namespace ddlrun::launch {

namespace {

constexpr int max_pu = 1 << 20;

std::string place_lead(std::string_view token) { return fmt::format("ddlrun-place token={} ", token); }

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

}  // namespace

std::string render_placement_line(std::string_view token, const PlaceReport& report) {
  const std::string local = report.local_rank ? fmt::format("{}", *report.local_rank) : "?";
  return fmt::format("{}rank={} local={} host={} pus={};\n", place_lead(token), report.rank, local,
                     report.host, render_ranges(report.pus));
}

MarkedLine find_placement_line(std::string_view line, std::string_view token) {
  Marked marked = cut_marker(line, place_lead(token));
  const auto report = marked.body ? parse_fields(*marked.body) : std::nullopt;
  if (!report) return {std::nullopt, std::string(line)};
  return {report, std::move(marked.rest)};
}

}  // namespace ddlrun::launch
