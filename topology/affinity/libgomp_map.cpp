// SPDX-License-Identifier: MIT
// GNU's rules (config/linux/affinity.c, team.c): places in the machine's order; without OMP_PLACES they are
// hardware threads, so "true" alone fills cores; the remainder of more threads than places starts again at
// the first one.
#include "topology/affinity/thread_map_internal.hpp"

namespace ddlrun::affinity {

namespace {

std::size_t place_of(std::size_t thread, std::size_t threads, std::size_t places, BindKind bind) {
  if (bind == BindKind::primary) return 0;
  const std::size_t each = threads / places;
  if (threads > places) return thread < each * places ? thread / each : thread - each * places;
  if (bind == BindKind::close) return thread;
  return thread * (places / threads) + std::min(thread, places % threads);
}

}  // namespace

RuntimeMap map_libgomp(const std::vector<MappedPu>& pus, const EnvVars& variables, std::uint32_t threads) {
  const auto settings = read_places(variables);
  if (!settings || !variable_of(variables, "GOMP_CPU_AFFINITY").empty()) return {};
  const std::string& bind = settings->bind;
  if (bind == "false" || (bind.empty() && !settings->places)) return {true, std::nullopt};
  const Places places = places_of(pus, settings->places.value_or(PlaceKind::threads));
  BindKind kind = BindKind::close;
  if (bind == "spread") kind = BindKind::spread;
  if (bind == "master" || bind == "primary") kind = BindKind::primary;
  Places result;
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    result.push_back(places[place_of(thread, threads, places.size(), kind)]);
  return {true, std::move(result)};
}

}  // namespace ddlrun::affinity
