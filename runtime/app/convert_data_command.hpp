// SPDX-License-Identifier: MIT
// `ddl-train convert-data`: converts any supported images to an LMDB for Caffe.
#pragma once

#include "base/text/command_reference.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// `args`: after "convert-data". Returns the exit status.
int run_convert_data_command(const std::vector<std::string>& args);
std::vector<OptionReference> describe_convert_options();

}  // namespace ddlrun::runtime
