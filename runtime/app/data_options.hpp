// SPDX-License-Identifier: MIT
// Parsers of option values about images. Each throws Error(usage).
#pragma once

#include "runtime/data/data_request.hpp"

#include <string>

namespace ddlrun::runtime {

// "256" or "256x320": height, then width.
Sides parse_sides(const std::string& option, const std::string& text);
// "127.5", "104,117,123", or the path of a Caffe mean file.
void parse_mean(const std::string& option, const std::string& text, DataRequest& request);

}  // namespace ddlrun::runtime
