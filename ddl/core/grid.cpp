// SPDX-License-Identifier: MIT
#include "ddl/core/grid.hpp"

#include "ddl/core/count_text.hpp"
#include "ddl/core/gather_strings.hpp"
#include "ddl/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <unordered_map>

namespace ddl {
namespace {

constexpr std::int64_t max_ranks = 1 << 20;
constexpr std::size_t host_table_rows = 16;

std::string joined_dims(std::span<const int> dims) { return fmt::format("{}", fmt::join(dims, "x")); }

std::vector<int> parse_grid_dims(const std::string& text) {
  const auto refuse = [&](const std::string& why) {
    return Error(Fault::usage, fmt::format("dims '{}': {}", text, why), "DDL_OPTIONS or Options::dims",
                 "ranks per host x hosts per rack x racks, as in 4x2x1");
  };
  std::vector<int> dims;
  std::int64_t product = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int value = 0;
    const auto [next, problem] = std::from_chars(at, end, value);
    if (problem != std::errc() || value < 1) throw refuse("each factor is a number from 1 on");
    dims.push_back(value);
    product *= value;
    if (product > max_ranks) throw refuse(fmt::format("more than {} ranks", max_ranks));
    if (next == end) break;
    if (*next != 'x') throw refuse("the factors are separated by 'x'");
    at = next + 1;
  }
  if (dims.size() > 4) throw refuse(fmt::format("{} factors, at most 4", dims.size()));
  if (dims.size() == 1) dims.push_back(1);
  return dims;
}

// FoundHosts numbered as they first appear.
struct FoundHosts {
  std::vector<std::string> names;
  std::vector<std::vector<int>> ranks;
  std::vector<int> of_rank;
};

FoundHosts find_hosts(std::span<const std::string> host_of_rank) {
  FoundHosts hosts;
  std::unordered_map<std::string, int> numbers;
  for (std::size_t rank = 0; rank < host_of_rank.size(); ++rank) {
    const auto [at, is_new] = numbers.try_emplace(host_of_rank[rank], static_cast<int>(hosts.names.size()));
    if (is_new) {
      hosts.names.push_back(host_of_rank[rank]);
      hosts.ranks.emplace_back();
    }
    hosts.ranks[static_cast<std::size_t>(at->second)].push_back(static_cast<int>(rank));
    hosts.of_rank.push_back(at->second);
  }
  return hosts;
}

std::string render_host_table(const FoundHosts& hosts) {
  std::string table;
  for (std::size_t h = 0; h < hosts.names.size() && h < host_table_rows; ++h) {
    const auto& ranks = hosts.ranks[h];
    const std::span<const int> shown(ranks.data(), std::min(ranks.size(), host_table_rows));
    table += fmt::format("\n  {}: {}: {}{}", hosts.names[h], count_text(ranks.size(), "rank"),
                         fmt::join(shown, " "), shown.size() < ranks.size() ? " ..." : "");
  }
  if (hosts.names.size() > host_table_rows)
    table += fmt::format("\n  ... and {} more", count_text(hosts.names.size() - host_table_rows, "host"));
  return table;
}

void check_even(const FoundHosts& hosts) {
  const auto fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
  const auto [least, most] = std::minmax_element(hosts.ranks.begin(), hosts.ranks.end(), fewer);
  if (least->size() == most->size()) return;
  const auto name = [&](auto at) { return hosts.names[static_cast<std::size_t>(at - hosts.ranks.begin())]; };
  throw Error(
      Fault::usage,
      fmt::format("{} has {}, {} has {}: hosts must have equally many{}", name(least),
                  count_text(least->size(), "rank"), name(most), most->size(), render_host_table(hosts)),
      fmt::format("{} ranks on {} hosts", hosts.of_rank.size(), hosts.names.size()),
      fmt::format("start {} on each of the {} hosts", count_text(least->size(), "rank"), hosts.names.size()));
}

// "2x2x2 or 2x4": the same racks as requested, where the hosts divide so; always all hosts in one rack.
std::string fitting_dims(const std::vector<int>& dims, int per_host, int hosts) {
  std::vector<std::string> fits;
  const auto add = [&](std::vector<int> shape) {
    const std::string text = joined_dims(shape);
    if (std::find(fits.begin(), fits.end(), text) == fits.end()) fits.push_back(text);
  };
  if (dims.size() > 2 && dims[2] > 1 && hosts % dims[2] == 0) add({per_host, hosts / dims[2], dims[2]});
  if (dims.size() > 2 && dims[1] > 1 && hosts % dims[1] == 0 && hosts > dims[1])
    add({per_host, dims[1], hosts / dims[1]});
  add({per_host, hosts});
  return fmt::format("{}", fmt::join(fits, " or "));
}

void check_dims(const std::vector<int>& dims, const FoundHosts& hosts) {
  std::int64_t wanted_hosts = 1;
  for (std::size_t d = 1; d < dims.size(); ++d) wanted_hosts *= dims[d];
  const int per_host = static_cast<int>(hosts.ranks.front().size());
  const int count = static_cast<int>(hosts.names.size());
  if (dims[0] == per_host && wanted_hosts == count) return;
  throw Error(Fault::usage,
              fmt::format("dims {} are {} of {}, the job has {} of {}{}", joined_dims(dims),
                          count_text(wanted_hosts, "host"), count_text(dims[0], "rank"), count, per_host,
                          render_host_table(hosts)),
              "DDL_OPTIONS or Options::dims", fmt::format("dims {}", fitting_dims(dims, per_host, count)));
}

int grid_factor(const std::vector<int>& dims, std::size_t d) { return d < dims.size() ? dims[d] : 1; }

// Where each host stands in the list that goes rack by rack, aisle by aisle: DDL order numbers aisles
// fastest.
std::vector<int> listed_places(const FoundHosts& hosts, const std::vector<int>& dims) {
  const int count = static_cast<int>(hosts.names.size());
  bool in_ddl_order = true;
  for (std::size_t rank = 0; rank < hosts.of_rank.size(); ++rank) {
    in_ddl_order = in_ddl_order && hosts.of_rank[rank] == static_cast<int>(rank) % count;
  }
  const int racks = grid_factor(dims, 2);
  const int aisles = grid_factor(dims, 3);
  std::vector<int> places;
  for (int host = 0; host < count; ++host) {
    const int a = host % aisles;
    const int z = host / aisles % racks;
    const int y = host / aisles / racks;
    places.push_back(in_ddl_order ? (a * racks + z) * dims[1] + y : host);
  }
  return places;
}

void add_neighbours(const std::vector<int>& deadlock, int me, std::vector<int>& neighbours) {
  const int n = static_cast<int>(deadlock.size());
  for (int distance = 1; distance < n; distance *= 2) {
    for (const int place : {(me + distance) % n, (me + n - distance) % n}) {
      const int rank = deadlock[static_cast<std::size_t>(place)];
      if (std::find(neighbours.begin(), neighbours.end(), rank) == neighbours.end())
        neighbours.push_back(rank);
    }
  }
}

}  // namespace

std::string Grid::text() const { return joined_dims(dims); }

std::string Grid::name_of(int rank) const {
  return name_rank(first_rank_of(rank),
                   hosts[static_cast<std::size_t>(host_of[static_cast<std::size_t>(rank)])]);
}

Place Grid::place(int rank) const {
  Place place;
  place.rank = rank;
  place.host = host_of[static_cast<std::size_t>(rank)];
  place.local_rank = local_rank_of[static_cast<std::size_t>(rank)];
  place.local_ranks = ranks_of[static_cast<std::size_t>(place.host)];
  int stride = 1;
  for (std::size_t d = 1; d < dims.size(); stride *= dims[d++]) {
    if (dims[d] == 1) continue;
    Level level{.name = "XYZA"[d],
                .dimension = static_cast<int>(d),
                .me = place.host / stride % dims[d],
                .ranks = {}};
    const int first = place.host - level.me * stride;
    for (int i = 0; i < dims[d]; ++i) {
      const auto& ranks = ranks_of[static_cast<std::size_t>(first + i * stride)];
      level.ranks.push_back(ranks[static_cast<std::size_t>(place.local_rank)]);
    }
    place.levels.push_back(std::move(level));
  }
  return place;
}

std::vector<int> Grid::position_of(int host) const {
  std::vector<int> position;
  int stride = 1;
  for (std::size_t d = 1; d < dims.size(); stride *= dims[d++]) {
    if (dims[d] > 1) position.push_back(host / stride % dims[d]);
  }
  return position;
}

Grid plan_grid(const std::string& dims, std::span<const std::string> host_of_rank) {
  if (host_of_rank.empty()) throw Error(Fault::usage, "the job has no ranks", "", "start at least one rank");
  const FoundHosts hosts = find_hosts(host_of_rank);
  check_even(hosts);
  Grid grid;
  if (dims.empty()) {
    grid.dims = {static_cast<int>(hosts.ranks.front().size()), static_cast<int>(hosts.names.size())};
  } else {
    grid.dims = parse_grid_dims(dims);
    check_dims(grid.dims, hosts);
  }
  const std::vector<int> places = listed_places(hosts, grid.dims);
  grid.hosts.resize(hosts.names.size());
  grid.ranks_of.resize(hosts.names.size());
  grid.host_of.resize(host_of_rank.size());
  grid.local_rank_of.resize(host_of_rank.size());
  for (std::size_t h = 0; h < places.size(); ++h) {
    const auto place = static_cast<std::size_t>(places[h]);
    grid.hosts[place] = hosts.names[h];
    grid.ranks_of[place] = hosts.ranks[h];
    for (std::size_t x = 0; x < hosts.ranks[h].size(); ++x) {
      grid.host_of[static_cast<std::size_t>(hosts.ranks[h][x])] = places[h];
      grid.local_rank_of[static_cast<std::size_t>(hosts.ranks[h][x])] = static_cast<int>(x);
    }
  }
  return grid;
}

std::vector<int> Place::neighbours() const {
  std::vector<int> neighbours;
  for (const Level& level : levels) add_neighbours(level.ranks, level.me, neighbours);
  add_neighbours(local_ranks, local_rank, neighbours);
  return neighbours;
}

}  // namespace ddl
