// SPDX-License-Identifier: MIT
#include "base/os/nearest_file.hpp"

#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/os/nearest_file");

TEST_CASE("a mistyped name means one that is near, in its directory or in PATH") {
  tests::FakeSystem fake;
  tests::FakeHostInfo host;
  for (const char* directory : {".", "runs", "/usr/bin", "/opt/bin"})
    host.infos[directory].kind = FileInfo::Kind::directory;
  for (const char* file : {"./train.py", "./README", "runs/eval.py", "/usr/bin/python3", "/opt/bin/lmp",
                           "/usr/bin/touch", "/usr/bin/nohup"})
    host.infos[file].kind = FileInfo::Kind::file;
  fake.environment.variables["PATH"] = "/usr/bin::/opt/bin";
  System system = fake.interfaces();
  CHECK(nearest_file(system, "trian.py") == std::nullopt);  // without a kernel to ask
  CHECK(remedy_for_missing_file(system, "trian.py") == "ls .   # what is there");
  system.kernel = &host;
  CHECK(nearest_file(system, "trian.py") == "train.py");
  CHECK(nearest_file(system, "runs/evall.py") == "runs/eval.py");
  CHECK(nearest_file(system, "other.sh") == std::nullopt);
  CHECK(nearest_program(system, "pyton3") == "python3");
  CHECK(nearest_program(system, "lmpp") == "lmp");
  CHECK(nearest_program(system, "gromacs") == std::nullopt);
  CHECK(nearest_program(system, "nosuch") == std::nullopt);
  CHECK(remedy_for_missing_file(system, "trian.py") == "train.py   # did you mean this?");
  CHECK(remedy_for_missing_file(system, "runs/other.sh") == "ls runs   # what is there");
  CHECK(remedy_for_missing_file(system, "/other.sh") == "ls /   # what is there");
}

// `./caffe` is not the job file caffe.yaml beside it.
TEST_CASE("a mistyped program means one that may be executed") {
  tests::FakeSystem fake;
  tests::FakeHostInfo host;
  System system = fake.interfaces();
  CHECK(nearest_executable(system, "./caffe") == std::nullopt);  // without a kernel to ask
  host.add_directory(".");
  host.add("./caffe.yaml").mode = 0644;
  host.add("./caffes", FileInfo::Kind::directory).mode = 0755;
  system.kernel = &host;
  CHECK(nearest_executable(system, "./caffe") == std::nullopt);
  CHECK(remedy_for_missing_executable(system, "./caffe") == "ls .   # what is there");
  host.add("./caffe2").mode = 0755;
  CHECK(nearest_executable(system, "./caffe") == "./caffe2");
  CHECK(nearest_executable(system, "caffe") == "caffe2");
  CHECK(remedy_for_missing_executable(system, "./caffe") == "./caffe2   # did you mean this?");
}

TEST_SUITE_END();
