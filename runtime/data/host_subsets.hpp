// SPDX-License-Identifier: MIT
// Image sets that lie in parts: each host (or each rank) has its own, and sees no other.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <string>

namespace ddlrun::runtime {

// "{host}" and "{rank}" in a path become this rank's.
std::string fill_place(std::string path, const std::string& host, int rank);

// Collective. Makes one set of what the ranks have: ranks with the same `part` must have equal images, and
// ranks with class folders the same ones. Sets split, classes (the most of any), and mean and deviation of
// all parts together, so that all ranks see a pixel alike. Throws AgreedError.
void join_parts(Dataset& data, const std::string& part, Communicator& ranks);

}  // namespace ddlrun::runtime
