// SPDX-License-Identifier: MIT
#include "base/os/plugin.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <dlfcn.h>

namespace ddlrun {
namespace {

[[noreturn]] void refuse_plugin(const std::string& path) {
  const char* why = ::dlerror();
  throw Error(ErrorKind::request, {"cannot load the plug-in: " + printable(why == nullptr ? "" : why, 400),
                                   path, "ldd " + quote_shell(path)});
}

}  // namespace

Plugin Plugin::open(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) refuse_plugin(path);
  // Never closed: drivers leave threads and exit handlers behind.
  return Plugin(std::shared_ptr<void>(handle, [](void*) {}), path);
}

void* Plugin::symbol(const char* name) const {
  void* found = ::dlsym(handle_.get(), name);
  if (found == nullptr) refuse_plugin(path_);
  return found;
}

}  // namespace ddlrun
