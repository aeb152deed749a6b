// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace ddlrun::runtime {

inline std::string join_path(const std::string& directory, const std::string& name) {
  return directory.ends_with('/') ? directory + name : directory + "/" + name;
}

}  // namespace ddlrun::runtime
