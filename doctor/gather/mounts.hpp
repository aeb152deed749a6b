// SPDX-License-Identifier: MIT
// Which file system a path lies on, by the text of /proc/self/mounts: nothing is touched that could hang.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddlrun::doctor {

struct Mount {
  std::string point, source, type;  // "/home", "nas:/export/home", "nfs4"
};

// The last mount whose point is the longest beginning of the path.
std::optional<Mount> find_mount(std::string_view table, std::string_view path);

}  // namespace ddlrun::doctor
