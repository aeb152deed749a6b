// SPDX-License-Identifier: MIT
// The layers that a phase has, linked by their blobs.
#pragma once

#include "runtime/caffe/caffe_phase.hpp"
#include "runtime/caffe/layers_protobuf.hpp"

#include <vector>

namespace ddlrun::runtime {

// By Caffe's rules: some include rule holds, or no exclude rule does.
bool is_included(const LocatedLayer& layer, const caffe_files::NetState& state, CaffeReport& report);

CaffePhase read_phase(const std::vector<LocatedLayer>& layers, const caffe_files::NetState& state,
                      const PrototxtLocation& net, CaffeReport& report);

}  // namespace ddlrun::runtime
