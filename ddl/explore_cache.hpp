// SPDX-License-Identifier: MIT
// What mode p found out in earlier runs: a small file for each topology. What cannot be read or written is
// passed over with a note; sums are then tried anew.
#pragma once

#include "ddl/explorer.hpp"
#include "ddl/levels.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddl {

// What decides how fast a way is: "node# 4 hosts of 2 ranks, dims 2x4, wire float32, avx512, libddl 0.1.0".
std::string render_topology(const Grid& grid, const Options& options, std::string_view instructions);

std::string render_ways(const std::string& topology, const ChosenWays& ways);
// Nothing unless it is whole and of this topology.
std::optional<ChosenWays> parse_ways(std::string_view text, const std::string& topology);

// The one wished for, else $XDG_CACHE_HOME/ddlrun/explore, else ~/.cache/ddlrun/explore; "" if DDL_CACHE=off
// or there is no home.
std::string choose_cache_folder(const std::optional<std::string>& wished);

class ExploreCache {
 public:
  // No folder: reads and keeps nothing.
  ExploreCache(std::string folder, std::string topology);

  // Nothing, with a note on stderr unless there is no file.
  std::optional<ChosenWays> read();
  // With what others have found meanwhile. Written beside, synced, renamed.
  void keep(const ChosenWays& ways);

 private:
  void tell(const std::string& what);

  std::string topology_;
  std::string folder_;
  std::string path_;
  bool told_ = false;
};

}  // namespace ddl
