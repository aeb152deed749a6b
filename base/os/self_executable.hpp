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

// COMMAND, whose first word is our own path, for a host where another user's file may lie there: it ends with status
// 126 and a message instead of running that. COMMAND becomes the process.
std::vector<std::string> guard_own_path(std::vector<std::string> command);

// A shell function `trusted FILE`, without single quotes, for a host that is to run the file at our own path:
// true if no other user can put a file there, by the rule of path_owner.hpp.
constexpr std::string_view trusted_function =
    R"(trusted() ( set -f; me=$(id -u); rest=$1; at=; shared=; links=0; )"
    R"(while [ -n "$rest" ]; do rest=${rest#/}; name=${rest%%/*}; case $rest in */*) rest=/${rest#*/} ;; *) rest= ;; esac; )"
    R"(case $name in ""|.) continue ;; ..) at=${at%/*}; continue ;; esac; )"
    R"(set -- $(ls -ldn -- "$at/$name"); [ $# -gt 3 ] || return 1; )"
    R"([ -z "$shared" ] || [ "$3" = 0 ] || [ "$3" = "$me" ] || return 1; )"
    R"(case $1 in l*) link=$(readlink -- "$at/$name"); links=$((links + 1)); [ $links -le 40 ] || return 1; )"
    R"(case $link in /*) at=; shared= ;; esac; rest=/$link$rest; continue ;; )"
    R"(d???????w[tT]*) shared=y ;; ????????w*) return 1 ;; esac; at=$at/$name; done; ); )";

}  // namespace ddlrun
