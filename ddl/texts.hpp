// SPDX-License-Identifier: MIT
// One text from each rank, by sums: where the others add zeros, a sum is a copy; and sums tell who is
// missing, MPI_Allgather waits for ever.
#pragma once

#include "ddl/ddl.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ddl {

// `sum` adds a tensor of int32 up over all ranks. Collective.
std::vector<std::string> gather_texts(const std::string& mine, int rank, int size,
                                      const std::function<void(const Tensor&)>& sum);

}  // namespace ddl
