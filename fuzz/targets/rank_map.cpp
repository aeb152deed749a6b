// SPDX-License-Identifier: MIT
// The rank map: read as written, and each rank of it can be found.
#include "launch/rank/rank_map.hpp"

#include "fuzz/fuzz_target.hpp"

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::launch;

DDLRUN_FUZZ_TARGET(rank_map) {
  const auto map = fuzz::accepted([&] { return parse_rank_map(input); });
  if (!map) return;
  const auto text = fuzz::accepted([&] { return render_rank_map(*map); });
  if (!text) return;
  fuzz::require(parse_rank_map(*text) == *map, "a rank map is read as written", *text);
  if (map->size() <= topology::max_ranks) hosts_of_ranks(*map);
  for (std::uint32_t rank = 0; rank < std::min(map->size(), 64U); ++rank) {
    if (const auto view = find_rank(*map, rank))
      expand_placeholders("{rank} {local_rank} {group_rank} {x}", *view);
  }
}
