// SPDX-License-Identifier: MIT
// ddl-train convert-data: any images that ddl-train reads, as an LMDB of Caffe's records.
#pragma once

#include <string>
#include <vector>

namespace ddlrun::runtime {

// The args behind "convert-data". Returns the exit status.
int run_convert_data_command(const std::vector<std::string>& args);

}  // namespace ddlrun::runtime
