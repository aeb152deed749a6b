// SPDX-License-Identifier: MIT
// Opens the data set of a run on all ranks.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"

#include <string>

namespace ddlrun::runtime {

struct OpenedImages {
  Dataset data;
  std::string reason;  // "--data, MNIST's IDX files"
};

// Collective. `request.train`: the value of --data, "" to search. Throws CollectiveError, also if ranks that
// should read the same images do not.
OpenedImages open_images(DataRequest request, Communicator& ranks);

// "images: node1 30,000 + 5,000 for 2 ranks; node2 ...": one line about the subsets, "" without any.
std::string render_subsets(const Dataset& data);

}  // namespace ddlrun::runtime
