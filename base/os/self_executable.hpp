// SPDX-License-Identifier: MIT
// This running program as files that another host needs to run the same one: the binary, the shared
// libraries it has mapped beside the C library's own, and the id that the linker gave the build.
#pragma once

#include <string>
#include <vector>

namespace ddlrun {

struct OwnFile {
  std::string name;  // what the loader asks for: "libhwloc.so.15"; the binary's is "ddlrun"
  std::string path;
};

struct SelfExecutable {
  std::string build_id;        // 40 hex digits; "" where the linker wrote none
  std::string loader;          // "/lib64/ld-linux-x86-64.so.2"; "" in a static program
  std::vector<OwnFile> files;  // the binary first
};

SelfExecutable read_own_binary();

}  // namespace ddlrun
