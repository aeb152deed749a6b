// SPDX-License-Identifier: MIT
// What a net is in one phase: its layers in nets/'s form, and its data.
#pragma once

#include "runtime/caffe/caffe_data.hpp"
#include "runtime/caffe/caffe_report.hpp"

#include <optional>
#include <vector>

namespace ddlrun::runtime {

struct CaffePhase {
  std::vector<Layer> layers;  // those that lead to the logits, in order; the last gives them
  std::optional<CaffeData> data;
};

// Checks that TRAIN and TEST compute the same layers; reports the first two that differ.
void check_same_layers(const CaffePhase& train, const CaffePhase& test, CaffeReport& report);

// All that makes a layer's result, in one line: equal for equal layers.
std::string describe_layer(const Layer& layer);

}  // namespace ddlrun::runtime
