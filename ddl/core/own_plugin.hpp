// SPDX-License-Identifier: MIT
// Plug-ins of libddl: shared libraries beside it that it loads when a call needs them, so that libddl itself
// needs no library of CUDA or MPI. A plug-in and libddl are of the same build: C++ classes cross the border.
#pragma once

#include <string>

namespace ddl {

struct OwnPlugin {
  const char* file;            // "libddl_cuda.so"
  const char* title;           // "the plug-in for GPUs"
  const char* need;            // "sums on GPUs need", for the message where it is not installed
  const char* hint;            // how to get it, or do without
  const char* build_function;  // of type const char*(): returns `build`
  const char* build;
  const char* function;  // the one that open_own_plugin returns
};

// Code of this process: true if only root, this user or `owner` may have written the file or directory; false
// if it is not there.
bool is_trusted(const std::string& path, unsigned owner);

// `path` without links, for dlopen(): another user who exchanges a link cannot change what it leads to. "" if
// another user can exchange the file: a directory of the path may be written by every user, or, below one
// with the sticky bit, belongs neither to this user nor to root or `owner`; or is_trusted() is false for the
// file, its directory or the one above.
std::string find_trusted_file(const std::string& path, unsigned owner);

// The path, without links, of the plug-in beside this libddl or in its lib/ddlrun; "" where it is not installed. Throws
// Error(unsupported) if another user can write to it or to its directory: its code runs before it can report
// its build.
std::string find_own_plugin(const OwnPlugin& plugin);

// Loads it, for good: drivers leave threads and exit handlers behind. Returns the address of
// `plugin.function`. Throws Error(unsupported): not installed (`path` is ""), of another build, a library
// missing (with the loader's words).
void* open_own_plugin(const OwnPlugin& plugin, const std::string& path);

}  // namespace ddl
