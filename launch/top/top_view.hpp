// SPDX-License-Identifier: MIT
// The picture of a run as lines: a head, a row for each rank, the keys. Pure.
#pragma once

#include "launch/top/top_input.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::launch {

// telling: failed, stopped and silent ranks first, then those that do what few of the others do.
enum class TopOrder { automatic, telling, rank, cpu, memory, wait };

struct TopLook {
  std::size_t columns = 0, rows = 0;     // 0: as many as there are
  TopOrder order = TopOrder::automatic;  // by rank where all ranks fit, else the most telling ones first
  bool keys = false;                     // whether the last line names them
  bool colour = false;
};

std::vector<std::string> render_top(const TopInput& input, const TopLook& look);

// The ranks in that order.
std::vector<const RankState*> sort_ranks(const UsageState& state, TopOrder order);

// At most so many characters of UTF-8; 0: all.
std::string clip_line(std::string_view text, std::size_t columns);

}  // namespace ddlrun::launch
