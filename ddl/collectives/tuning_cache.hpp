// SPDX-License-Identifier: MIT
// What mode p found out in earlier runs: a small file for each topology. What cannot be read or written is
// passed over with a note; sums are then tried anew.
#pragma once

#include "ddl/collectives/algorithm_tuner.hpp"
#include "ddl/core/grid.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace ddl {

// What decides how fast a way is: "node# 4 hosts of 2 ranks, dims 2x4, wire float32, avx512, libddl 0.1.0".
std::string render_topology(const Grid& grid, const Options& options, std::string_view instructions);

std::string render_tuning(const std::string& topology, const TunedAlgorithms& algorithms);
// Nothing unless it is whole and of this topology.
std::optional<TunedAlgorithms> parse_tuning(std::string_view text, const std::string& topology);

// The one wished for, else $XDG_CACHE_HOME/ddlrun/explore, else ~/.cache/ddlrun/explore; "" if DDL_CACHE=off
// or there is no home.
std::string choose_cache_dir(const std::optional<std::string>& wished);

class TuningCache {
 public:
  // No directory: reads and keeps nothing.
  TuningCache(std::string directory, std::string topology);

  // Nothing, with a note on stderr unless there is no file.
  std::optional<TunedAlgorithms> load();
  // With what others have found meanwhile. Written beside, synced, renamed.
  void store(const TunedAlgorithms& algorithms);

 private:
  void note_once(const std::string& what);

  std::string topology_;
  std::string directory_;
  std::string path_;
  bool noted_ = false;
};

}  // namespace ddl
