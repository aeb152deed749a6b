// SPDX-License-Identifier: MIT
// Accepts Caffe's command line and suggests options for what ddl-train does differently.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Caffe's ways of writing: a first word `train`, and -solver. Throws Error(usage) for what else its command
// line had, with the option that does it here.
std::vector<std::string> translate_caffe_args(std::span<const std::string> args);

}  // namespace ddlrun::runtime
