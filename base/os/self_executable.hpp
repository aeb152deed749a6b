// SPDX-License-Identifier: MIT
// This running program as files that another host needs to run the same one: the binary, the shared
// libraries it has mapped beside the C library's own, and the id that the linker gave the build.
#pragma once

#include <string>
#include <string_view>
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

// A shell function `trusted FILE`, without single quotes, for a host that is to run the file at our own path:
// true if this user or root owns the file, or if no other user can put one there. Other users can write to
// /tmp.
constexpr std::string_view trusted_function =
    R"(trusted() { [ -O "$1" ] && return; file=$1; set -- $(ls -ldLn -- "$file"); [ "$3" = 0 ] && return; )"
    R"(while [ -n "${file%/*}" ]; do file=${file%/*}; case $(ls -ldL -- "$file") in ????????w*) return 1 ;; esac; done; }; )";

}  // namespace ddlrun
