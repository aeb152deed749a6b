// SPDX-License-Identifier: MIT
// What ranks are called, and one text from each of them.
#pragma once

#include "ddl/ddl.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ddl {

// "rank 3 (h2)": the rank in the whole job.
std::string name_rank(int rank, std::string_view host);

// By sums: where the others add zeros, a sum is a copy; and a sum reports which rank is missing,
// MPI_Allgather waits forever. `sum` adds a tensor of int32 up over all ranks. Collective.
std::vector<std::string> gather_strings(const std::string& mine, int rank, int size,
                                        const std::function<void(const Tensor&)>& sum);

}  // namespace ddl
