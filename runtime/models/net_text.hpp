// SPDX-License-Identifier: MIT
// A planned net as a YAML file of net_yaml.hpp, so that a checkpoint contains its net.
#pragma once

#include "runtime/models/net.hpp"

#include <string>

namespace ddlrun::runtime {

// parse_net_yaml() and plan_net() give the same net: layers, names and shapes. Without initial values and
// factors of the learning rate, which only a training reads.
std::string render_net_yaml(const Net& net);

}  // namespace ddlrun::runtime
