// SPDX-License-Identifier: MIT
#include "cli/run_ids.hpp"

#include "cli/app.hpp"
#include "launch/history/run_record.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

namespace {

// A large home on a slow file system has thousands of runs, and each is looked at in a list.
struct CountedLists : tests::FakeHostInfo {
  std::string runs = "/state/ddlrun/runs";
  int lists = 0;

  bool visit_directory(const std::string& path, const DirectoryVisitor& visit) override {
    lists += path == runs ? 1 : 0;
    return FakeHostInfo::visit_directory(path, visit);
  }
};

struct Home : tests::FakeSystem {
  CountedLists kernel;

  Home() {
    environment.variables["XDG_STATE_HOME"] = "/state";
    environment.host_name = "login1";
  }
  void add(const std::string& id, const std::string& directory) {
    launch::RunRecord record;
    record.id = directory.substr(directory.rfind('/') + 1);
    record.end.emplace();
    files.files[directory + "/run.json"] = launch::render_run_json(record);
    kernel.add_directory(kernel.runs + "/" + id);
    files.files[kernel.runs + "/" + id + "/directory"] = directory + "\n";
  }
  int run(const std::vector<std::string>& words) {
    System system = interfaces();
    system.kernel = &kernel;
    return cli::run_app(words, system);
  }
};

}  // namespace

TEST_SUITE_BEGIN("cli/run_ids");

TEST_CASE("a run by the name of its directory: the runs are listed once") {
  for (const char* command : {"wait", "cancel"}) {
    CAPTURE(command);
    Home home;
    home.add("20261121-031914-abc", "/work/run.4711");
    home.add("20261121-031915-abd", "/work/other");
    CHECK(home.run({command, "run.4711"}) == 0);
    CHECK(home.kernel.lists == 1);
  }
}

TEST_CASE("a name of two runs is refused, and the others are cancelled") {
  Home home;
  home.add("20261121-031914-abc", "/work/one/trial");
  home.add("20261121-031915-abd", "/work/two/trial");
  home.add("20261121-031916-abe", "/work/other");
  CHECK(home.run({"cancel", "trial", "other"}) == 3);
  CHECK(home.err.find("2 runs have a directory of this name: /work/two/trial, /work/one/trial") !=
        std::string::npos);
  CHECK(home.err.find("run /work/other is over already: exit status 0") != std::string::npos);
}

TEST_SUITE_END();
