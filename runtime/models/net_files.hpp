// SPDX-License-Identifier: MIT
// What --net names: a net of the program, or a file of the user's.
#pragma once

#include "runtime/models/net.hpp"

#include <string>

namespace ddlrun::runtime {

// Ends in .yaml or .yml, or holds a slash; or in .prototxt or .pbtxt: those are read in caffe/.
bool is_net_file(const std::string& name);

// Reads the file, or takes the built-in net. Throws as build_net() and parse_net_yaml() do, and
// Error(request) if the file cannot be read.
Net load_net(const std::string& name_or_file, Shape input, int classes);

// A file in YAML alone, whatever its images will be. Throws as load_net().
void check_net_file(const std::string& path);

}  // namespace ddlrun::runtime
