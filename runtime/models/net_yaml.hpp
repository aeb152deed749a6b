// SPDX-License-Identifier: MIT
// Nets written in YAML: what runtime/models/library/*.yaml and users' files hold. Users see it by ddl-train
// print-net.
//
//   name: caffe                     # else the file's name
//   images: [1x28x28]               # what it takes; else whatever fits
//   border: 32x32                   # smaller images lie in the middle of zeros of this size
//   layers:                         # each follows the one before, unless it has inputs
//     - {name: conv1, kind: convolution, outputs: 20, kernel: 5}
//     - {name: pool1, kind: max_pool, kernel: 2}
//     - {name: ip1, kind: inner_product, outputs: classes}
#pragma once

#include "runtime/models/net.hpp"

#include <string>
#include <string_view>

namespace ddlrun::runtime {

// Pure. Throws Error(request) with all errors, each at FILE:LINE:COLUMN.
NetDescription parse_net_yaml(std::string_view text, const std::string& file_name);

// How a net is written: an example, the kinds of layers and all their keys.
std::string render_net_form();

}  // namespace ddlrun::runtime
