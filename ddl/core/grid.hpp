// SPDX-License-Identifier: MIT
// Where each rank sits: on which host, and with which ranks of other hosts it shares a wire. Pure; found from
// the dims and from the hosts on which the ranks really are.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ddl {

// The ranks that exchange over one wire: one of each host of a rack (Y), of each rack (Z) or of each aisle
// (A).
struct Level {
  char name = 'Y';
  int dimension = 1;       // which of Grid::dims: 1, 2 or 3
  int me = 0;              // my place among `ranks`
  std::vector<int> ranks;  // in the whole job, in the order of the wire
};

struct Place {
  int rank = 0;
  int host = 0;
  int local_rank = 0;
  std::vector<int> local_ranks;  // of my host, in order of local rank: ranks in the whole job
  std::vector<Level> levels;     // lowest first; those of size 1 are left out, so none on one host

  // Of each circle that this rank is in, those at 1, 2, 4 ... to both sides: what one knows is soon known to
  // all.
  std::vector<int> neighbours() const;
};

struct Grid {
  std::vector<int> dims;                   // X, Y and where given Z, A
  std::vector<std::string> hosts;          // by host index: (a*Z + z)*Y + y, rack by rack
  std::vector<int> host_of;                // by rank
  std::vector<int> local_rank_of;          // by rank
  std::vector<std::vector<int>> ranks_of;  // by host: ranks in order of local rank
  std::vector<int> first_ranks;  // of a group, by rank: its rank in the first Context; empty: the same

  std::string text() const;             // "4x2x1"
  std::string name_of(int rank) const;  // "rank 3 (h2)", by its rank in the first Context
  int first_rank_of(int rank) const {
    return first_ranks.empty() ? rank : first_ranks[static_cast<std::size_t>(rank)];
  }
  Place place(int rank) const;
  // Where a host stands on each level of a Place: what broadcast() takes as the root.
  std::vector<int> position_of(int host) const;
};

// `host_of_rank`: by rank, the name of its host. Transport in DDL order (x*(Y*Z*A) + y*(Z*A) + z*A + a) give
// the hosts their racks by that formula; in any other order (packed or not) the hosts, as they first appear,
// fill rack by rack. Empty `dims`: ranks per host x hosts. Throws Error(usage), with a table of hosts and
// ranks and with dims that would fit, when hosts have different numbers of ranks or the dims are not those of
// the placement.
Grid plan_grid(const std::string& dims, std::span<const std::string> host_of_rank);

}  // namespace ddl
