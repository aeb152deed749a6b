// SPDX-License-Identifier: MIT
#include "topology/affinity/thread_map.hpp"

#include "base/text/text.hpp"
#include "topology/affinity/thread_map_internal.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace ddlrun::affinity {

std::string variable_of(const EnvVars& variables, const std::string& name) {
  const auto found = variables.find(name);
  if (found == variables.end()) return {};
  std::string text(trim(found->second));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return text;
}

std::optional<std::uint32_t> threads_of(const EnvVars& variables) {
  const std::string text = variable_of(variables, "OMP_NUM_THREADS");
  const auto number = parse_unsigned(trim(text.substr(0, text.find(','))), 1u << 20);
  if (!number || *number == 0) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

std::vector<MappedPu> usable_processors(const ThreadMachine& machine, const std::vector<int>& mask) {
  std::vector<MappedPu> pus;
  for (std::uint32_t core = 0; core < machine.cores(); ++core) {
    for (std::uint32_t thread = 0; thread < machine.threads_per_core; ++thread) {
      const int os = static_cast<int>(thread * machine.cores() + core);
      if (mask.empty() || std::binary_search(mask.begin(), mask.end(), os))
        pus.push_back({os, core / machine.cores_per_package, core % machine.cores_per_package, thread});
    }
  }
  return pus;
}

Places places_of(const std::vector<MappedPu>& pus, PlaceKind kind) {
  Places places;
  const MappedPu* last = nullptr;
  for (const MappedPu& pu : pus) {
    const bool same_package = last != nullptr && last->package == pu.package;
    const bool same = (kind == PlaceKind::sockets && same_package) ||
                      (kind == PlaceKind::cores && same_package && last->core == pu.core);
    if (!same) places.emplace_back();
    places.back().push_back(pu.os);
    last = &pu;
  }
  for (auto& place : places) std::sort(place.begin(), place.end());
  return places;
}

std::optional<PlaceSettings> read_places(const EnvVars& variables) {
  PlaceSettings settings;
  const std::string places = variable_of(variables, "OMP_PLACES");
  if (places == "threads") settings.places = PlaceKind::threads;
  if (places == "cores") settings.places = PlaceKind::cores;
  if (places == "sockets") settings.places = PlaceKind::sockets;
  if (!places.empty() && !settings.places) return std::nullopt;
  const std::string bind = variable_of(variables, "OMP_PROC_BIND");
  settings.bind = std::string(trim(bind.substr(0, bind.find(','))));
  static const std::set<std::string> words{"", "true", "false", "close", "spread", "master", "primary"};
  if (words.count(settings.bind) == 0) return std::nullopt;
  return settings;
}

namespace {

// Threads that share a mask of k cores are taken to spread over them, as the kernel would.
void count_cores(const ThreadMachine& machine, ThreadMap& map) {
  std::map<std::vector<int>, std::uint32_t> with_mask;
  for (const auto& mask : map.processors) ++with_mask[mask];
  std::map<int, std::uint32_t> on_core;
  for (const auto& [mask, threads] : with_mask) {
    std::set<int> cores;
    for (const int os : mask) cores.insert(os % static_cast<int>(machine.cores()));
    std::uint32_t left = threads;
    for (std::size_t open = cores.size(); const int core : cores) {
      const auto share = static_cast<std::uint32_t>((left + open - 1) / open);
      if (share > 0) on_core[core] += share;
      left -= share;
      --open;
    }
  }
  map.distinct_cores = static_cast<std::uint32_t>(on_core.size());
  for (const auto& [core, threads] : on_core) map.most_on_a_core = std::max(map.most_on_a_core, threads);
}

}  // namespace

std::optional<ThreadMap> map_threads(const ThreadMapRequest& request) {
  const auto pus = usable_processors(request.machine, request.mask);
  if (pus.empty()) return std::nullopt;
  std::uint32_t threads = request.threads;
  if (threads == 0) threads = threads_of(request.variables).value_or(static_cast<std::uint32_t>(pus.size()));
  RuntimeMap found;
  if (request.runtime == OpenMpRuntime::libgomp) found = map_libgomp(pus, request.variables, threads);
  if (request.runtime == OpenMpRuntime::libomp) found = map_libomp(pus, request.variables, threads);
  if (!found.known) return std::nullopt;
  ThreadMap map;
  map.bound = found.places.has_value();
  if (map.bound) {
    map.processors = std::move(*found.places);
  } else {
    std::vector<int> all;
    for (const MappedPu& pu : pus) all.push_back(pu.os);
    std::sort(all.begin(), all.end());
    map.processors.assign(threads, all);
  }
  count_cores(request.machine, map);
  return map;
}

}  // namespace ddlrun::affinity
