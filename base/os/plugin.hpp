// SPDX-License-Identifier: MIT
// A door: a shared library that is loaded while the program runs, so that ddlrun starts without what it
// needs.
#pragma once

#include <memory>
#include <string>

namespace ddlrun {

// The file that contains this program, as /proc/self/exe has it; but where a loader was started with the
// program as its argument (a bundle on a host with an older C library), /proc/self/exe is the loader.
std::string own_program_file();

class Plugin {
 public:
  // Error{request} with the loader's own words if the library or something it needs cannot be loaded.
  static Plugin open(const std::string& path);

  // A plug-in that comes with the running program: Error{request} too if another user can write to it or to
  // its directory. Its code runs before it can report its build.
  static Plugin open_own(const std::string& path);

  // A C function of the library; Error{request} if it has none of that name.
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  Plugin(std::shared_ptr<void> handle, std::string path)
      : handle_(std::move(handle)), path_(std::move(path)) {}
  void* symbol(const char* name) const;

  std::shared_ptr<void> handle_;
  std::string path_;
};

}  // namespace ddlrun
