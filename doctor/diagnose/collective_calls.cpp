// SPDX-License-Identifier: MIT
#include "doctor/diagnose/collective_calls.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_ranks = 4096;
constexpr std::size_t max_silent = 64;

// The text behind `name`, up to one of `ends`.
std::string_view field_of(std::string_view text, std::string_view name, std::string_view ends) {
  const std::size_t at = text.find(name);
  if (at == npos) return {};
  const std::string_view rest = text.substr(at + name.size());
  return rest.substr(0, rest.find_first_of(ends));
}

std::string in_words(const CollectiveCall& call) {
  const std::string of = call.elements.empty() ? "" : fmt::format(" of {} elements", call.elements);
  return fmt::format("{}{} (number {})", call.operation, of, call.number);
}

}  // namespace

void CollectiveCalls::take(const ReadLine& line) {
  const std::string_view text = line.raw;
  const std::size_t work = text.find("collective operation timeout: WorkNCCL(");
  if (work == npos || by_rank_.size() >= max_ranks) return;
  const std::string_view head = text.substr(0, work), call = text.substr(work);
  const auto own = parse_unsigned(field_of(head, "Rank ", "]"), 1u << 24);
  if (!own && !line.prefix.rank) return;
  const std::uint32_t rank = own ? static_cast<std::uint32_t>(*own) : *line.prefix.rank;
  const auto number = parse_unsigned(field_of(call, "SeqNum=", ",)"), ~0ull);
  if (!number) return;
  const std::string_view group = head.find("[PG ") == npos ? std::string_view() : field_of(head, "[PG ", "]");
  CollectiveCall one{*number,
                     sanitize(field_of(call, "OpType=", ",)"), 40),
                     sanitize(field_of(call, "NumelIn=", ",)"), 20),
                     sanitize(group.substr(0, group.find(" Rank")), 60),
                     {line.line, sanitize(trim(text), 300)}};
  source_ = line.source;
  by_rank_.emplace(rank, std::move(one));
}

bool CollectiveCalls::are_of_one_group() const {
  return std::ranges::all_of(
      by_rank_, [&](const auto& row) { return row.second.group == by_rank_.begin()->second.group; });
}

std::optional<CollectiveReport> CollectiveCalls::report() const {
  if (by_rank_.empty() || !are_of_one_group()) return std::nullopt;
  const auto is_lower = [](const auto& a, const auto& b) { return a.second.number < b.second.number; };
  const auto [lowest, highest] = std::minmax_element(by_rank_.begin(), by_rank_.end(), is_lower);
  CollectiveReport report;
  for (const auto& [rank, call] : by_rank_) {
    report.ranks.push_back(rank);
    const bool is_behind = call.number == lowest->second.number && call.number < highest->second.number;
    if (is_behind) report.behind.push_back(rank);
  }
  for (std::uint32_t rank = 0; rank < by_rank_.rbegin()->first && report.silent.size() < max_silent; ++rank)
    if (!by_rank_.contains(rank)) report.silent.push_back(rank);
  report.source = source_;
  report.first = (report.behind.empty() ? by_rank_.begin() : lowest)->second.evidence;
  return report;
}

std::optional<CollectiveMismatch> CollectiveCalls::mismatch() const {
  if (by_rank_.size() < 2) return std::nullopt;
  if (!are_of_one_group()) return std::nullopt;
  const auto key_of = [](const CollectiveCall& call) {
    return std::tuple(call.number, call.operation, call.elements);
  };
  std::map<std::tuple<std::uint64_t, std::string, std::string>, std::size_t> counts;
  for (const auto& [rank, call] : by_rank_) ++counts[key_of(call)];
  // How many ranks make the same call as this one.
  const auto alike = [&](const CollectiveCall& call) { return counts.at(key_of(call)); };
  const auto odd = std::min_element(by_rank_.begin(), by_rank_.end(), [&](const auto& a, const auto& b) {
    if (a.second.number != b.second.number) return a.second.number < b.second.number;
    return alike(a.second) < alike(b.second);
  });
  const auto other = std::max_element(by_rank_.begin(), by_rank_.end(), [&](const auto& a, const auto& b) {
    return alike(a.second) < alike(b.second) ||
           (alike(a.second) == alike(b.second) && a.second.number < b.second.number);
  });
  const CollectiveCall &behind = odd->second, &usual = other->second;
  if (odd->first == other->first || behind.is_same(usual)) return std::nullopt;
  return CollectiveMismatch{odd->first,
                            fmt::format("rank {} waits in {}, rank {} in {}", odd->first, in_words(behind),
                                        other->first, in_words(usual)),
                            source_, behind.evidence};
}

}  // namespace ddlrun::diagnose
