// SPDX-License-Identifier: MIT
#include "base/os/self_executable.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/os/self_executable");

TEST_CASE("a file of another user is run only if no other user can put one there") {
  if (::geteuid() != 0 || std::getenv("HOME") == nullptr)
    return;  // only root can give a file to somebody else
  std::string directory = "/tmp/ddlrun-trusted-XXXXXX";
  REQUIRE(::mkdtemp(directory.data()) != nullptr);
  const auto trusts = [](const std::string& path) {
    const std::string script = std::string(trusted_function) + " trusted '" + path + "'";
    return std::system(script.c_str()) == 0;  // NOLINT(concurrency-mt-unsafe): one thread
  };
  const std::string file = directory + "/a b";
  std::ofstream(file) << "x";
  ::chmod(directory.c_str(), 0755);
  CHECK(trusts(file));  // our own
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(trusts(file));  // /tmp is open to everybody
  const std::string closed =
      std::string(std::getenv("HOME")) + "/.ddlrun-trusted-" + std::to_string(::getpid());
  REQUIRE(::mkdir(closed.c_str(), 0755) == 0);
  const std::string installed = closed + "/a b";
  std::ofstream(installed) << "x";
  REQUIRE(::chown(installed.c_str(), 65534, 65534) == 0);
  CHECK(trusts(installed));  // installed by somebody for all, in a directory that only root can change
  ::chmod(closed.c_str(), 01777);
  CHECK_FALSE(trusts(installed));
  std::filesystem::remove_all(closed);
  std::filesystem::remove_all(directory);
}

TEST_SUITE_END();
