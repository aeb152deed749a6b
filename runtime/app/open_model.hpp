// SPDX-License-Identifier: MIT
// The checkpoint of `predict` and `test`.
#pragma once

#include "runtime/checkpoint/saved_model.hpp"

#include <string>
#include <vector>

namespace ddlrun::runtime {

// load_model() from the disk. Warns on stderr where a newer checkpoint of the directory is damaged. `words`:
// what follows the checkpoint on the command line of `program`.
SavedModel open_model(const std::string& program, const std::string& path,
                      const std::vector<std::string>& words);

}  // namespace ddlrun::runtime
