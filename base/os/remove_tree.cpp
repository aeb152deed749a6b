// SPDX-License-Identifier: MIT
#include "base/os/remove_tree.hpp"

#include "base/os/host_info.hpp"

namespace ddlrun {

void remove_tree(System& system, const std::string& path) {
  const auto info = system.kernel->file_info(path, false);
  if (info && info->kind == FileInfo::Kind::directory) {
    for (const std::string& name : system.kernel->list_directory(path)) {
      if (name != "." && name != "..") remove_tree(system, path + "/" + name);
    }
  }
  system.files.remove(path);
}

}  // namespace ddlrun
