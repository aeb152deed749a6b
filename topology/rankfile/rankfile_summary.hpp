// SPDX-License-Identifier: MIT
// What the lines of a rankfile add up to, and the checks that need all of them: ranks, hosts, dims, overlaps.
#pragma once

#include "topology/rankfile/rankfile_check.hpp"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ddlrun::rankfile {

struct RankfileFacts {
  struct Entry {
    std::uint32_t rank;
    std::uint32_t host;  // index in `hosts`
    int line;
  };
  struct Host {
    std::string_view name;    // as first written, without a user
    std::string_view folded;  // as Open MPI compares it
    const MachineTopology* machine = nullptr;
    std::uint32_t ranks = 0;
    int first_line = 0;
  };
  // Some cores of a host that a rank is bound to; machine-wide numbers (package -1) where the machine is
  // known.
  struct Use {
    std::uint32_t host;
    SlotRange range;
    std::uint32_t rank;
    int line;
  };

  std::vector<Entry> entries;
  std::vector<Host> hosts;
  std::unordered_map<std::string_view, std::uint32_t> host_of_folded;
  std::vector<Use> uses;
  FileHeader header;
  int last_line = 0;
};

// The findings about the file as a whole; `facts.uses` is sorted on the way.
std::vector<RankfileFinding> check_facts(RankfileFacts facts, const CheckContext& context);

}  // namespace ddlrun::rankfile
