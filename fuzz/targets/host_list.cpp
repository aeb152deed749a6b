// SPDX-License-Identifier: MIT
// Dims and host lists: what is written is read alike.
#include "base/text/host_list.hpp"

#include "fuzz/fuzz_target.hpp"
#include "topology/dims.hpp"

#include <algorithm>
#include <set>

using namespace ddlrun;

DDLRUN_FUZZ_TARGET(host_list) {
  if (const auto dims = fuzz::accepted([&] { return topology::parse_dims(input); })) {
    fuzz::require(topology::parse_dims(topology::render_dims(*dims)) == *dims, "dims are read as written",
                  input);
    fuzz::require(dims->world_size() <= topology::max_ranks, "a job has at most 2^20 ranks", input);
  }
  auto hosts = fuzz::accepted([&] { return expand_host_list(input, 4096); });
  if (!hosts || !std::all_of(hosts->begin(), hosts->end(), is_host_name)) return;
  const std::string folded = fold_host_list(*hosts, SIZE_MAX);
  const auto again = expand_host_list(folded, 4096);
  using Names = std::set<std::string>;
  fuzz::require(Names(hosts->begin(), hosts->end()) == Names(again.begin(), again.end()),
                "a folded host list has the same names", folded);
}
