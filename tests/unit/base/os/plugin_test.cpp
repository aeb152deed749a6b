// SPDX-License-Identifier: MIT
#include "base/os/plugin.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/os/plugin");

TEST_CASE("a plug-in that another user can write is not loaded") {
  char directory[] = "/tmp/ddlrun-plugin-XXXXXX";
  REQUIRE(::mkdtemp(directory) != nullptr);
  const std::string path = std::string(directory) + "/it.so";
  std::ofstream(path) << "no library";
  const auto what = [&] {
    try {
      Plugin::open_own(path);
    } catch (const Error& error) {
      return error.message().what;
    }
    return std::string("loaded");
  };
  const auto is_refused = [&] { return what().starts_with("the plug-in is not loaded: another user"); };
  CHECK(what().starts_with("cannot load the plug-in: "));  // the loader looked at it
  for (const std::string& file : {path, std::string(directory)}) {
    CAPTURE(file);
    ::chmod(file.c_str(), 0757);
    CHECK(is_refused());
    ::chmod(file.c_str(), 0755);
    CHECK(!is_refused());
    if (::geteuid() != 0) continue;
    REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
    CHECK(is_refused());
    REQUIRE(::chown(file.c_str(), 0, 0) == 0);
  }
  ::chmod(directory, 01777);  // as /tmp: another user cannot replace our file
  CHECK(!is_refused());
  std::filesystem::remove_all(directory);
}

TEST_CASE("the file of this program, as the kernel has it") {
  CHECK(own_program_file() == std::filesystem::read_symlink("/proc/self/exe"));
}

TEST_SUITE_END();
