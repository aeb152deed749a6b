// SPDX-License-Identifier: MIT
// Image sets that lie in subsets: each host (or each rank) has its own, and sees no other.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <string>

namespace ddlrun::runtime {

// "{host}" and "{rank}" in a path become this rank's.
std::string expand_placeholders(std::string path, const std::string& host, int rank);

// Collective. Makes one set of what the ranks have: ranks with the same `subset` must have equal images, and
// ranks with class directories the same ones. Sets split, classes (the most of any), and mean and deviation
// of all subsets together, so that all ranks see a pixel alike. Throws CollectiveError.
void join_subsets(Dataset& data, const std::string& subset, Communicator& ranks);

}  // namespace ddlrun::runtime
