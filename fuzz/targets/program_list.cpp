// SPDX-License-Identifier: MIT
// Programs of ranks (--programs): the groups are ranks of the job, each once.
#include "launch/plan/program_list.hpp"

#include "fuzz/fuzz_target.hpp"

using namespace ddlrun;
using namespace ddlrun::launch;

DDLRUN_FUZZ_TARGET(program_list) {
  RankMap map;
  map.kinds = {{{}, {}}};
  map.hosts = {{"h1", 0, {0, 1}}, {"h2", 0, {2, 3}}};
  const auto groups = fuzz::accepted([&] { return parse_program_list(input, "programs.yaml", map); });
  if (!groups) return;
  std::uint32_t next = 0;
  for (const RankGroup& group : *groups) {
    fuzz::require(group.first == next && group.ranks > 0, "groups follow one another", group.name);
    next += group.ranks;
  }
  fuzz::require(next == 4, "each rank has a program");
}
