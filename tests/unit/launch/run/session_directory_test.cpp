// SPDX-License-Identifier: MIT
#include "launch/run/session_directory.hpp"

#include "tests/support/real_host.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace ddlrun;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("launch/run/session_directory");

TEST_CASE("only the files of this mpirun go, and nothing through a link") {
  PosixFiles files;
  const fs::path base = files.make_directory((fs::temp_directory_path() / "session_test.").string());
  Environment environment;
  environment.host_name = "h1.site";
  environment.variables = {{"TMPDIR", base.string()}};
  tests::RealHost host(environment);
  const fs::path sessions = base / ("ompi.h1." + std::to_string(::geteuid()));
  for (const char* pid : {"pid.7", "pid.8"}) {
    fs::create_directories(sessions / pid / "0");
    std::ofstream(sessions / pid / "contact.txt") << "x";
  }
  launch::remove_session_directory(host.interfaces, 7);
  CHECK_FALSE(fs::exists(sessions / "pid.7"));
  CHECK(fs::exists(sessions / "pid.8/contact.txt"));
  launch::remove_session_directory(host.interfaces, 8);
  CHECK_FALSE(fs::exists(sessions));

  // Of Open MPI 5.0.11 and 5.0.7.
  const std::vector<std::string> of_five{"ompi.9", "prterun.h1.9." + std::to_string(::geteuid())};
  for (const std::string& name : of_five) fs::create_directories(base / name / "1/0");
  fs::create_directories(base / "ompi.10");
  launch::remove_session_directory(host.interfaces, 9);
  for (const std::string& name : of_five) CHECK_FALSE(fs::exists(base / name));
  CHECK(fs::exists(base / "ompi.10"));

  fs::create_directories(base / "others/pid.7");
  fs::create_directory_symlink(base / "others", sessions);
  launch::remove_session_directory(host.interfaces, 7);
  CHECK(fs::exists(base / "others/pid.7"));
  fs::remove_all(base);
}

TEST_SUITE_END();
