// SPDX-License-Identifier: MIT
// The ranks of a Context: those of the first Context of a family, or a group of them that split() made. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// The same on all ranks of the group.
struct RankGroup {
  std::uint64_t id = 0;    // 0: the first Context
  std::string name;        // "row 1"; empty for the first Context
  std::vector<int> ranks;  // by rank of the group: its ranks in the first Context

  // Behind a call in messages: " in row 1".
  std::string suffix() const { return name.empty() ? "" : " in " + name; }
};

// What a rank gives a split. No color: it will be in no group.
struct SplitRequest {
  std::optional<int> color;
  int key = 0;
  std::uint32_t channel = 0;  // Transport::next_channel()
};
std::string render_split_request(const SplitRequest& request);
// Nothing for a text that is not one.
std::optional<SplitRequest> parse_split_request(const std::string& text);

// The group of `rank`, as Transport::split() makes it: its members are ranks of the Context that is split.
struct SplitPlan {
  std::vector<int> members;   // ordered by key, then by rank; empty: this rank is in no group
  int color = 0;              // the same on the members and on no other rank
  std::uint32_t channel = 0;  // from here on all ranks' channels are unused
  int me = 0;                 // this rank's place among the members
};
SplitPlan plan_split(std::span<const SplitRequest> requests, int rank);

// The group that the plan makes of `parent`. `call`: the number of the split, the same on all ranks. `name`:
// the caller's, in front of the color; empty: "group 1 of split #7".
RankGroup make_group(const RankGroup& parent, const SplitPlan& plan, std::uint64_t call,
                     const std::string& name);

}  // namespace ddl
