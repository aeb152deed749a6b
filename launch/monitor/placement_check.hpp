// SPDX-License-Identifier: MIT
// Planned against found: where every rank was meant to be, where it says it is, and what to make of
// it. Pure.
#pragma once

#include "launch/rank/placement_line.hpp"
#include "launch/rank/planned_rank.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

enum class PlaceVerdict { ok, differs, silent };

struct PlacementRow {
  PlannedRank planned;
  std::optional<PlaceReport> found;
  PlaceVerdict verdict = PlaceVerdict::silent;
  std::string why;  // what differs, for people
};

// Collects the reports of a run while its stderr passes by.
class PlacementWatch {
 public:
  PlacementWatch(std::vector<PlannedRank> planned, std::string token);
  // What of the line belongs to the user.
  std::string take_line(std::string_view line);
  bool complete() const { return reported_ == planned_.size(); }
  // One row a rank, ascending.
  std::vector<PlacementRow> rows() const;

 private:
  std::vector<PlannedRank> planned_;
  std::string token_;
  std::vector<std::optional<PlaceReport>> reports_;
  std::size_t reported_ = 0;
};

// What one rank's report says about its plan. A host is judged only by the names of the other
// planned hosts, because a rankfile may use an alias or an address.
PlacementRow check_placement(const PlannedRank& planned, const std::optional<PlaceReport>& found,
                             const std::vector<std::string>& planned_hosts);

struct PlacementCount {
  std::size_t ok = 0, differs = 0, silent = 0;
};
PlacementCount count_verdicts(const std::vector<PlacementRow>& rows);

// The table; above `limit` rows only those that are not ok, and how many were left out.
std::string render_placement_table(const std::vector<PlacementRow>& rows, std::size_t limit = 64);

}  // namespace ddlrun::launch
