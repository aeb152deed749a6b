// SPDX-License-Identifier: MIT
#include "launch/monitor/placement_check.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace ddlrun::launch {

namespace {

// Open MPI compares names up to the first dot; addresses as they are.
std::string_view short_name(std::string_view host) {
  const bool address = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return address ? host : host.substr(0, host.find('.'));
}

std::string pu_text(const std::vector<int>& pus) { return pus.empty() ? "none" : render_ranges(pus); }

std::vector<std::string> host_names(const std::vector<PlannedRank>& planned) {
  std::set<std::string> names;
  for (const PlannedRank& rank : planned) names.insert(std::string(short_name(rank.host)));
  return {names.begin(), names.end()};
}

using Cells = std::array<std::string, 6>;

std::string verdict_text(const PlacementRow& row) {
  if (row.verdict == PlaceVerdict::ok) return "ok";
  return (row.verdict == PlaceVerdict::differs ? "DIFFERS: " : "SILENT: ") + row.why;
}

Cells cells_of(const PlacementRow& row) {
  return {fmt::format("{}", row.planned.rank),
          row.found ? printable(row.found->host, 64) : row.planned.host,
          row.planned.slot,
          pu_text(row.planned.pus),
          row.found ? pu_text(row.found->pus) : "-",
          verdict_text(row)};
}

std::string render_cells(const std::vector<Cells>& lines) {
  Cells::size_type width[5] = {};
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i < 5; ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string text;
  for (const Cells& line : lines) {
    text += fmt::format("  {:>{}}", line[0], width[0]);
    for (std::size_t i = 1; i < 5; ++i) text += fmt::format("  {:<{}}", line[i], width[i]);
    text += "  " + line[5] + "\n";
  }
  return text;
}

}  // namespace

PlacementWatch::PlacementWatch(std::vector<PlannedRank> planned, std::string token)
    : planned_(std::move(planned)), token_(std::move(token)), reports_(planned_.size()) {}

std::string PlacementWatch::take_line(std::string_view line) {
  MarkedLine marked = find_placement_line(line, token_);
  if (marked.report && marked.report->rank < reports_.size()) {
    auto& report = reports_[marked.report->rank];
    if (!report) ++reported_;
    report = std::move(marked.report);
  }
  return std::move(marked.rest);
}

std::vector<PlacementRow> PlacementWatch::rows() const {
  const std::vector<std::string> hosts = host_names(planned_);
  std::vector<PlacementRow> rows;
  for (std::size_t i = 0; i < planned_.size(); ++i)
    rows.push_back(check_placement(planned_[i], reports_[i], hosts));
  return rows;
}

PlacementRow check_placement(const PlannedRank& planned, const std::optional<PlaceReport>& found,
                             const std::vector<std::string>& planned_hosts) {
  PlacementRow row{planned, found, PlaceVerdict::ok, {}};
  if (!found) {
    row.verdict = PlaceVerdict::silent;
    row.why = "it never reported its place";
    return row;
  }
  const auto differs = [&](const std::string& why) {
    row.verdict = PlaceVerdict::differs;
    if (!row.why.empty()) row.why += "; ";
    row.why += why;
  };
  const std::string_view here = short_name(found->host);
  if (here != short_name(planned.host) && std::any_of(planned_hosts.begin(), planned_hosts.end(),
                                                      [&](const auto& h) { return short_name(h) == here; })) {
    differs("planned on " + planned.host);
  }
  if (found->local_rank && *found->local_rank != planned.local_rank) {
    differs(fmt::format("local rank {}, planned {}", *found->local_rank, planned.local_rank));
  }
  if (found->pus != planned.pus) {
    differs(fmt::format(
        "{} of {} planned PUs, {} in all",
        std::count_if(planned.pus.begin(), planned.pus.end(),
                      [&](int pu) { return std::binary_search(found->pus.begin(), found->pus.end(), pu); }),
        planned.pus.size(), found->pus.size()));
  }
  return row;
}

PlacementCount count_verdicts(const std::vector<PlacementRow>& rows) {
  PlacementCount count;
  for (const PlacementRow& row : rows) {
    ++(row.verdict == PlaceVerdict::ok        ? count.ok
       : row.verdict == PlaceVerdict::differs ? count.differs
                                              : count.silent);
  }
  return count;
}

std::string render_placement_table(const std::vector<PlacementRow>& rows, std::size_t limit) {
  const bool all = rows.size() <= limit;
  std::vector<Cells> lines{{"rank", "host", "slot", "planned PUs", "found PUs", "verdict"}};
  std::size_t left_out = 0;
  for (const PlacementRow& row : rows) {
    const bool show = all || (row.verdict != PlaceVerdict::ok && lines.size() <= limit);
    if (show) lines.push_back(cells_of(row));
    if (!show) ++left_out;
  }
  std::string text = lines.size() > 1 ? render_cells(lines) : std::string();
  const PlacementCount count = count_verdicts(rows);
  if (left_out > 0) text += fmt::format("  {} of {} ranks are not listed\n", left_out, rows.size());
  return text + fmt::format("  {} of {} ranks are where they were planned\n", count.ok, rows.size());
}

}  // namespace ddlrun::launch
