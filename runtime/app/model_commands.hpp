// SPDX-License-Identifier: MIT
// `ddl-train predict` and `ddl-train test`: a checkpoint without its training, in one process.
#pragma once

#include "base/text/command_reference.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// Prints the most probable classes of each photo.
int run_predict_command(const std::vector<std::string>& args);
// Prints loss and accuracy on test images.
int run_test_command(const std::vector<std::string>& args);
std::vector<OptionReference> describe_predict_options();
std::vector<OptionReference> describe_test_options();

}  // namespace ddlrun::runtime
