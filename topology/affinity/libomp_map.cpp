// SPDX-License-Identifier: MIT
// LLVM's and Intel's rules (kmp_affinity.cpp, kmp_runtime.cpp): KMP_AFFINITY sorts the processors and deals
// them out in turn; without it OMP_PLACES and OMP_PROC_BIND hold, and "true" means spread.
#include "base/text/text.hpp"
#include "topology/affinity/kmp_affinity.hpp"
#include "topology/affinity/thread_map_internal.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::affinity {

namespace {

constexpr std::size_t depth = 3;  // packages, cores, threads; also where a parent has one child

// A processor with its numbers below each parent, outermost first: what the runtime sorts by.
struct Leaf {
  MappedPu pu;
  std::array<std::uint32_t, depth> numbers;
};

std::vector<Leaf> leaves_of(const std::vector<MappedPu>& pus) {
  std::vector<Leaf> leaves;
  std::uint32_t package = 0, core = 0, thread = 0;
  for (const MappedPu& pu : pus) {
    if (!leaves.empty()) {
      const MappedPu& last = leaves.back().pu;
      const bool same_package = last.package == pu.package, same_core = same_package && last.core == pu.core;
      package += same_package ? 0 : 1;
      core = same_package ? core + (same_core ? 0 : 1) : 0;
      thread = same_core ? thread + 1 : 0;
    }
    leaves.push_back({pu, {package, core, thread}});
  }
  return leaves;
}

// The innermost `permute` layers count first, then the others from outside.
void sort_leaves(std::vector<Leaf>& leaves, std::size_t permute) {
  std::stable_sort(leaves.begin(), leaves.end(), [permute](const Leaf& a, const Leaf& b) {
    for (std::size_t i = 0; i < depth; ++i) {
      const std::size_t at = i < permute ? depth - 1 - i : i - permute;
      if (a.numbers[at] != b.numbers[at]) return a.numbers[at] < b.numbers[at];
    }
    return false;
  });
}

std::optional<PlaceKind> grain_of(const std::string& granularity) {
  if (granularity == "fine" || granularity == "thread") return PlaceKind::threads;
  if (granularity.empty() || granularity == "core") return PlaceKind::cores;
  if (granularity == "socket" || granularity == "package") return PlaceKind::sockets;
  return std::nullopt;
}

bool is_inside(const MappedPu& a, const MappedPu& b, PlaceKind kind) {
  if (kind == PlaceKind::threads) return a.os == b.os;
  return a.package == b.package && (kind == PlaceKind::sockets || a.core == b.core);
}

std::vector<int> place_around(const std::vector<MappedPu>& pus, const MappedPu& pu, PlaceKind kind) {
  std::vector<int> place;
  for (const MappedPu& other : pus) {
    if (is_inside(pu, other, kind)) place.push_back(other.os);
  }
  std::sort(place.begin(), place.end());
  return place;
}

// balanced: each core gets as many, the first ones one more; where cores have one thread, each of several
// packages.
Places deal_balanced(const std::vector<MappedPu>& pus, PlaceKind kind, std::uint32_t threads) {
  const Places cores = places_of(pus, PlaceKind::cores), packages = places_of(pus, PlaceKind::sockets);
  const bool by_package = packages.size() > 1 && cores.size() == pus.size();
  const Places& groups = by_package ? packages : cores;
  if (by_package) kind = PlaceKind::threads;
  Places result;
  const std::size_t each = threads / groups.size(), more = threads % groups.size();
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::size_t here = each + (group < more ? 1 : 0);
    for (std::size_t i = 0; i < here; ++i) {
      const auto& all = groups[group];
      result.push_back(kind == PlaceKind::threads ? std::vector<int>{all[i % all.size()]} : all);
    }
  }
  return result;
}

RuntimeMap map_kmp(const std::vector<MappedPu>& pus, const std::string& value, std::uint32_t threads) {
  KmpAffinity kmp = parse_kmp_affinity(value);
  // What stands behind '=' is dropped, and what is before it holds: compact=1 is compact.
  const std::size_t equals = value.rfind('=');
  if (!kmp.problem.empty() && equals != std::string::npos) {
    kmp = parse_kmp_affinity(value.substr(0, equals));
    if (kmp.type.empty()) return {};
  }
  if (!kmp.problem.empty() || kmp.type == "explicit") return {};
  if (kmp.type.empty() || kmp.type == "none" || kmp.type == "disabled") return {true, std::nullopt};
  const auto kind = grain_of(kmp.granularity);
  if (!kind) return {};
  if (kmp.type == "balanced") return {true, deal_balanced(pus, *kind, threads)};
  std::vector<Leaf> leaves = leaves_of(pus);
  // logical and physical: old names of compact, the second with the cores first; their number is the offset.
  const bool is_old = kmp.type == "logical" || kmp.type == "physical";
  std::size_t permute = is_old ? (kmp.type == "physical" ? 1 : 0) : kmp.permute.value_or(0);
  const std::size_t offset = is_old ? kmp.permute.value_or(0) : kmp.offset.value_or(0);
  if (kmp.type == "scatter") permute = permute >= depth ? 0 : depth - 1 - permute;
  sort_leaves(leaves, std::min(permute, depth - 1));
  Places result;
  for (std::uint32_t thread = 0; thread < threads; ++thread)
    result.push_back(place_around(pus, leaves[(thread + offset) % leaves.size()].pu, *kind));
  return {true, std::move(result)};
}

// More threads than places: each place gets as many, and the remainder is spread over them.
std::vector<std::size_t> share_places(std::size_t threads, std::size_t places) {
  std::vector<std::size_t> result;
  const std::size_t each = threads / places;
  std::size_t rest = threads % places;
  const std::size_t gap = rest > 0 ? places / rest : places;
  std::size_t since = gap, place = 0, here = 0;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    result.push_back(place);
    ++here;
    if (here == each && rest > 0 && since == gap) continue;
    if (here < each) continue;
    if (here == each + 1) {
      since = 1;
      --rest;
    } else {
      ++since;
    }
    here = 0;
    place = (place + 1) % places;
  }
  return result;
}

std::vector<std::size_t> choose_places(std::size_t threads, std::size_t places, BindKind bind) {
  if (bind == BindKind::primary) return std::vector<std::size_t>(threads, 0);
  if (threads > places) return share_places(threads, places);
  std::vector<std::size_t> result;
  const double step = static_cast<double>(places + 1) / static_cast<double>(threads);
  double at = 0;  // summed up, as the runtime does
  for (std::size_t thread = 0; thread < threads; ++thread) {
    result.push_back(bind == BindKind::close ? thread : static_cast<std::size_t>(at));
    at += step;
  }
  return result;
}

RuntimeMap map_omp(const std::vector<MappedPu>& pus, const PlaceSettings& settings, std::uint32_t threads) {
  const std::string& bind = settings.bind;
  if (bind == "false" || (bind.empty() && !settings.places)) return {true, std::nullopt};
  const Places places = places_of(pus, settings.places.value_or(PlaceKind::cores));
  BindKind kind = BindKind::spread;
  if (bind == "close") kind = BindKind::close;
  if (bind == "master" || bind == "primary") kind = BindKind::primary;
  Places result;
  for (const std::size_t place : choose_places(threads, places.size(), kind)) result.push_back(places[place]);
  return {true, std::move(result)};
}

struct Cut {
  std::uint64_t count = UINT64_MAX, first = 0;
};

// "68c,1t", "1s,20c@2,1t": how many of each layer, and from which one on. Nothing if it is more than that.
std::optional<std::array<Cut, depth>> parse_cuts(const std::string& subset) {
  std::array<Cut, depth> cuts;
  for (const std::string_view item : split(subset, ',')) {
    const std::size_t letter = item.find_first_not_of("0123456789"), at = item.find('@');
    if (letter == std::string_view::npos || letter == 0) return std::nullopt;
    const std::string_view unit = item.substr(letter, at == std::string_view::npos ? at : at - letter);
    const std::size_t layer =
        unit.size() == 1 ? std::string_view("sct").find(unit[0]) : std::string_view::npos;
    const auto count = parse_unsigned(item.substr(0, letter), 1u << 20);
    const auto first = parse_unsigned(at == std::string_view::npos ? "0" : item.substr(at + 1), 1u << 20);
    if (layer == std::string_view::npos || !count || !first) return std::nullopt;
    cuts[layer] = {*count, *first};
  }
  return cuts;
}

// What KMP_HW_SUBSET leaves, counted among the processors of the mask. Nothing for more than there is:
// libomp 14.0.6 then keeps all, libomp 19.1.7 as many as there are.
std::optional<std::vector<MappedPu>> cut(const std::vector<MappedPu>& pus, const std::string& subset) {
  const auto cuts = parse_cuts(subset);
  if (!cuts) return std::nullopt;
  const auto leaves = leaves_of(pus);
  std::array<std::uint64_t, depth> there{};
  for (const Leaf& leaf : leaves)
    for (std::size_t i = 0; i < depth; ++i) there[i] = std::max<std::uint64_t>(there[i], leaf.numbers[i] + 1);
  for (std::size_t i = 0; i < depth; ++i) {
    const Cut& layer = (*cuts)[i];
    if (layer.count != UINT64_MAX && layer.first + layer.count > there[i]) return std::nullopt;
  }
  std::vector<MappedPu> kept;
  for (const Leaf& leaf : leaves) {
    bool keep = true;
    for (std::size_t i = 0; i < depth; ++i) {
      const Cut& layer = (*cuts)[i];
      keep = keep && leaf.numbers[i] >= layer.first && leaf.numbers[i] - layer.first < layer.count;
    }
    if (keep) kept.push_back(leaf.pu);
  }
  return kept;
}

}  // namespace

RuntimeMap map_libomp(const std::vector<MappedPu>& pus, const EnvVars& variables, std::uint32_t threads) {
  const std::string kmp = variable_of(variables, "KMP_AFFINITY");
  const std::string subset = variable_of(variables, "KMP_HW_SUBSET");
  std::vector<MappedPu> used = pus;
  if (!subset.empty()) {
    auto kept = cut(pus, subset);
    if (!kept) return {};
    used = std::move(*kept);
  }
  if (!kmp.empty()) return map_kmp(used, kmp, threads);
  const auto settings = read_places(variables);
  if (!settings || !variable_of(variables, "GOMP_CPU_AFFINITY").empty()) return {};
  return map_omp(used, *settings, threads);
}

}  // namespace ddlrun::affinity
