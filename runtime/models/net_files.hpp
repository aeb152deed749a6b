// SPDX-License-Identifier: MIT
// Loads the net that --net names: a built-in net or a file.
#pragma once

#include "runtime/models/net.hpp"

#include <string>

namespace ddlrun::runtime {

// Whether `name` is a path: ends in .yaml or .yml, contains a slash, or ends in .prototxt or .pbtxt (read in
// caffe/).
bool is_net_file(const std::string& name);

// Reads the file or the built-in net. Throws as build_net() and parse_net_yaml(), and Error(request) if the
// file cannot be read.
Net load_net(const std::string& name_or_file, Shape input, int classes);

// Checks a YAML file for any shape of images. Throws as load_net().
void check_net_file(const std::string& path);

}  // namespace ddlrun::runtime
