// SPDX-License-Identifier: MIT
// The documents of the ssh launcher: read as written; ranks of a document that is taken have a place.
#include "fuzz/fuzz_target.hpp"
#include "launch/ssh/host_command.hpp"
#include "launch/ssh/rank_spawn.hpp"
#include "launch/ssh/ssh_launch_spec.hpp"

using namespace ddlrun;
using namespace ddlrun::launch;

DDLRUN_FUZZ_TARGET(ssh_spec) {
  if (const auto spec = fuzz::accepted([&] { return parse_ssh_launch_spec(input); })) {
    const std::string text = render_ssh_launch_spec(*spec);
    fuzz::require(render_ssh_launch_spec(parse_ssh_launch_spec(text)) == text, "a launch is read as written",
                  text);
    for (const RankMapHost& host : spec->rank_map.hosts) plan_host_command(*spec, host, "/opt/ddlrun");
  }
  if (const auto spec = fuzz::accepted([&] { return parse_ssh_host_spec(input); })) {
    const std::string text = render_ssh_host_spec(*spec);
    fuzz::require(render_ssh_host_spec(parse_ssh_host_spec(text)) == text, "a host's part is read as written",
                  text);
    for (std::uint32_t rank = 0; rank < spec->rank_map.size() && rank < 16; ++rank) {
      const auto view = find_rank(spec->rank_map, rank);
      fuzz::require(view.has_value(), "each rank has a place");
      plan_rank_start(*spec, *view, "/opt/ddlrun", [](const std::string&) { return GpuFacts{}; });
    }
  }
}
