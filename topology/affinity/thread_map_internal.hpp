// SPDX-License-Identifier: MIT
// What the two runtimes' models share: processors with their place in the machine, and lists of places.
#pragma once

#include "topology/affinity/thread_map.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::affinity {

// A processor that the process may use; core counts in its package, thread in its core.
struct MappedPu {
  int os = 0;
  std::uint32_t package = 0, core = 0, thread = 0;
};

// Sorted by package, core, thread.
std::vector<MappedPu> usable_processors(const ThreadMachine& machine, const std::vector<int>& mask);

enum class PlaceKind { threads, cores, sockets };
using Places = std::vector<std::vector<int>>;

// One place for each thread, core or package that has processors of the mask, in that order.
Places places_of(const std::vector<MappedPu>& pus, PlaceKind kind);

enum class BindKind { off, close, spread, primary };

// OMP_PLACES and OMP_PROC_BIND as written; `places` empty where the variable is not set or empty.
struct PlaceSettings {
  std::optional<PlaceKind> places;
  std::string bind;  // in lower case, first level: "close", ...; "" if it is not set
};
// Nothing where OMP_PLACES is an explicit list, carries a count, or one of both is misspelt.
std::optional<PlaceSettings> read_places(const EnvVars& variables);

std::string variable_of(const EnvVars& variables,
                        const std::string& name);  // trimmed, lower case; "" if unset

// By thread, the place that it gets; nothing: unbound.
using Assigned = std::optional<Places>;
struct RuntimeMap {
  bool known = false;
  Assigned places;
};
RuntimeMap map_libgomp(const std::vector<MappedPu>& pus, const EnvVars& variables, std::uint32_t threads);
RuntimeMap map_libomp(const std::vector<MappedPu>& pus, const EnvVars& variables, std::uint32_t threads);

}  // namespace ddlrun::affinity
