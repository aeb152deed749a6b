// SPDX-License-Identifier: MIT
// The shape of a job: X GPUs per node x Y nodes per rack x Z racks x A aisles, and where a rank sits in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::topology {

constexpr std::uint32_t max_ranks = 1u << 20;

struct Coordinates {
  std::uint32_t x = 0;  // GPU within the node = local rank
  std::uint32_t y = 0;  // node within the rack
  std::uint32_t z = 0;  // rack within the aisle
  std::uint32_t a = 0;  // aisle

  bool operator==(const Coordinates&) const = default;
};

// Which rank sits where. ddl: neighbours in rank order sit in different racks, as rank_gen.py numbers them;
// packed: all ranks of a host are consecutive.
enum class RankOrder { ddl, packed };

struct Dims {
  std::uint32_t gpus_per_node = 1;
  std::uint32_t nodes_per_rack = 1;
  std::uint32_t racks = 1;
  std::uint32_t aisles = 1;

  std::uint32_t world_size() const { return gpus_per_node * host_count(); }
  std::uint32_t host_count() const { return nodes_per_rack * racks * aisles; }

  // host = (a*Z + z)*Y + y: hosts are listed rack by rack, aisle by aisle.
  std::uint32_t host_of(const Coordinates& at) const;
  Coordinates coordinates(std::uint32_t host, std::uint32_t local_rank) const;
  // ddl: x*(Y*Z*A) + y*(Z*A) + z*A + a.  packed: host*X + x.
  std::uint32_t rank_of(const Coordinates& at, RankOrder order) const;

  bool operator==(const Dims&) const = default;
};

// Nothing but digits and x: no host and no program is named so; also "".
bool is_dims_word(std::string_view word);

// "4x2x3", "4x2", "4", "6x2x1x1", with a DDL mode letter before it ("p:6x2x1x1") or not. Each factor is
// 1..2^20 and so is the product; anything else is Error{usage} that names the factor.
Dims parse_dims(std::string_view text);

// "4x2x3"; the fourth factor only where there are aisles.
std::string render_dims(const Dims& dims);

// Legal shapes near `dims` for a given number of hosts, same X where possible: what a refusal offers.
// For 5 hosts and 4x2x3: {"4x5x1", ...} and host counts; at most two.
std::vector<std::string> nearest_shapes(const Dims& dims, std::size_t hosts);

}  // namespace ddlrun::topology
