// SPDX-License-Identifier: MIT
// Data sets that are distributed: each host (or each rank) reads only its own subset.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <string>

namespace ddlrun::runtime {

// Replaces {host} and {rank} in a path.
std::string expand_placeholders(std::string path, const std::string& host, int rank);

// Collective. Joins the subsets of all ranks: ranks with the same `subset` must have equal images, and all
// ranks the same class directories. Sets subsets, classes (the maximum), and mean and deviation over all
// subsets, so that all ranks normalize alike. Throws CollectiveError.
void join_subsets(Dataset& data, const std::string& subset, Communicator& ranks);

}  // namespace ddlrun::runtime
