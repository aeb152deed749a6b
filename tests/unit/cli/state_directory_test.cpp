// SPDX-License-Identifier: MIT
// The state directory, as the XDG base directory specification has it; and who keeps what in it.
#include "base/os/state_directory.hpp"

#include "base/text/error.hpp"
#include "doctor/run/doctor_baseline.hpp"
#include "launch/run/run_directory.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using namespace ddlrun::doctor;
using namespace ddlrun::launch;
using namespace ddlrun::cli;

TEST_SUITE_BEGIN("cli/state_directory");

TEST_CASE("the state directory: XDG_STATE_HOME before HOME, absolute paths only") {
  struct Row {
    EnvVars variables;
    const char* directory;
  };
  const std::vector<Row> rows{
      {{{"XDG_STATE_HOME", "/s"}, {"HOME", "/home/ddl"}}, "/s/ddlrun"},
      {{{"XDG_STATE_HOME", "/s"}}, "/s/ddlrun"},
      {{{"HOME", "/home/ddl"}}, "/home/ddl/.local/state/ddlrun"},
      {{{"XDG_STATE_HOME", ""}, {"HOME", "/home/ddl"}}, "/home/ddl/.local/state/ddlrun"},
      {{{"XDG_STATE_HOME", "state"}, {"HOME", "/home/ddl"}}, "/home/ddl/.local/state/ddlrun"}};
  for (const Row& row : rows) {
    CAPTURE(row.directory);
    Environment environment;
    environment.variables = row.variables;
    CHECK(find_state_directory(environment, "the facts", "--baseline-file facts.json") == row.directory);
  }
}

TEST_CASE("no place for state: what has none, and what names one") {
  for (const EnvVars& variables : {EnvVars{}, EnvVars{{"HOME", "home"}}, EnvVars{{"XDG_STATE_HOME", "s"}}}) {
    Environment environment;
    environment.variables = variables;
    try {
      find_state_directory(environment, "the run directory", "--run-dir ./run");
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(exit_code(error.kind()) == 3);
      const Message expected{
          "there is no place for the run directory: neither XDG_STATE_HOME nor HOME is set", "environment",
          "--run-dir ./run"};
      CHECK(error.message() == expected);
    }
  }
}

// Its owner could choose what `resubmit last` and `replay last` start.
TEST_CASE("a state directory of another user is refused; the one above may be a project's") {
  tests::FakeSystem fake;
  fake.environment.variables["XDG_STATE_HOME"] = "/s";
  fake.files.foreign["/s/ddlrun"] = "it belongs to user 1004";
  System system = fake.interfaces();
  try {
    choose_run_dir(system, "", false);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.message().what == "the place for the run directory is not safe: it belongs to user 1004");
    CHECK(error.message().where == "/s/ddlrun");
    CHECK(error.message().hint == "export XDG_STATE_HOME=DIR   # one of your own; ls -ld /s/ddlrun");
  }
  std::vector<doctor::Finding> findings;
  CHECK_THROWS_AS(use_baseline(system, {"save", ""}, {}, findings), Error);
  CHECK(fake.files.written.empty());
  fake.files.foreign = {{"/s", "it belongs to user 1004"}};
  CHECK(choose_run_dir(system, "", false).starts_with("/s/ddlrun/dry-runs/"));
}

TEST_CASE("run directorys and the baseline lie in the state directory") {
  tests::FakeSystem fake;
  fake.environment.variables["XDG_STATE_HOME"] = "/s";
  System system = fake.interfaces();
  CHECK(choose_run_dir(system, "", false).starts_with("/s/ddlrun/dry-runs/"));
  std::vector<doctor::Finding> findings;
  use_baseline(system, {"save", ""}, {}, findings);
  CHECK(fake.files.written == std::vector<std::string>{"/s/ddlrun/baseline.json"});
}

TEST_CASE("without a state directory: refused, unless a file is named") {
  tests::FakeSystem fake;
  System system = fake.interfaces();
  std::vector<doctor::Finding> findings;
  CHECK_THROWS_AS(choose_run_dir(system, "", false), Error);
  CHECK_THROWS_AS(use_baseline(system, {"save", ""}, {}, findings), Error);
  CHECK(fake.files.written.empty());
  use_baseline(system, {"save", "/f.json"}, {}, findings);
  CHECK(fake.files.written == std::vector<std::string>{"/f.json"});
}

TEST_SUITE_END();
