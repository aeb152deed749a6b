// SPDX-License-Identifier: MIT
// Chooses the number of OpenMP threads of a rank.
#pragma once

#include "runtime/comm/communicator.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// A thread count and its reason, for messages.
struct ThreadChoice {
  int threads;
  std::string reason;
};

// Hardware threads that this process may run on.
std::size_t count_processors();

// Pure: the cores of mask `mine`, shared evenly by the ranks whose mask (with host) is the same; at least 1.
int threads_for_mask(int cores, const std::string& mine, const std::vector<std::string>& all);

// `asked` (--threads) if positive; else OMP_NUM_THREADS; else the cores in this process' affinity mask,
// shared by the ranks of this host that have the same mask. Collective.
ThreadChoice choose_threads(int asked, Communicator& ranks);

}  // namespace ddlrun::runtime
