// SPDX-License-Identifier: MIT
// The bundled trainer is asked about its options before any rank starts; other programs are not.
#include "launch/plan/choose_program.hpp"

#include "base/os/program_path.hpp"
#include "base/text/error.hpp"
#include "tests/support/fake_host_info.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

namespace ddlrun::launch {

TEST_SUITE_BEGIN("launch/plan/choose_program");

TEST_CASE("launch: the trainer judges its own options, in one process") {
  struct Row {
    const char* what;
    ChosenProgram program;
    bool files_count;
    int answer;
    const char* start_error;
    int status;
    std::size_t asked;
  };
  const ChosenProgram trainer{{"/t/ddl-train", "--epochz", "3"}, true};
  const Row rows[] = {
      {"well", trainer, true, 0, "", 0, 1},
      {"a wrong word", trainer, true, 2, "", 2, 1},
      {"a wrong word for ranks elsewhere", trainer, false, 2, "", 2, 1},
      {"a missing file", trainer, true, 3, "", 3, 1},
      {"a file that may be there on the ranks' hosts", trainer, false, 3, "", 0, 1},
      {"a trainer that cannot run here", trainer, true, 127, "", 0, 1},
      {"one that cannot be started", trainer, true, 0, "Exec format error", 0, 1},
      {"one that is killed", trainer, true, 137, "", 0, 1},
      {"no options", {{"/t/ddl-train"}, true}, true, 2, "", 0, 0},
      {"another program", {{"./prog", "--epochz"}, false}, true, 2, "", 0, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    tests::FakeSystem fake;
    fake.processes.answer = [&](const Command&) {
      ProcessResult result;
      result.exit_status = row.answer;
      result.start_error = row.start_error;
      if (row.answer != 0) result.err = "ddl-train: error: no\n";
      return result;
    };
    System system = fake.interfaces();
    CHECK(check_trainer_options(system, row.program, 4, row.files_count) == row.status);
    CHECK(fake.err == (row.status == 0 ? "" : "ddl-train: error: no\n"));
    REQUIRE(fake.processes.ran.size() == row.asked);
    if (row.asked > 0)
      CHECK(fake.processes.ran.front() == Command{"/t/ddl-train", "check-options", "4", "--epochz", "3"});
  }
}

namespace {

std::string refusal_of(System& system, const std::vector<std::string>& words) {
  try {
    choose_program(system, words, true);
  } catch (const Error& error) {
    return error.message().what + " | " + error.message().hint;
  }
  return {};
}

}  // namespace

TEST_CASE("words before the program, and files that the shell would run, are refused with the way to do it") {
  tests::FakeSystem fake;
  tests::FakeHostInfo host;
  for (const char* file : {"./ddp.py", "./good.py", "./run.sh"}) {
    host.infos[file].kind = FileInfo::Kind::file;
    host.infos[file].mode = 0755;
  }
  fake.files.files = {{"./ddp.py", "import torch\n"},
                      {"./good.py", "#!/usr/bin/env python3\nimport torch\n"},
                      {"./run.sh", "echo 1\n"}};
  fake.environment.host_name = "h1";
  System system = fake.interfaces();
  system.kernel = &host;
  CHECK(refusal_of(system, {"./ddp.py", "--epochs", "3"}) ==
        "'./ddp.py' has no #! line: the shell would run it, not Python | python3 ./ddp.py");
  CHECK(refusal_of(system, {"./good.py"}).empty());
  CHECK(refusal_of(system, {"./run.sh"}).empty());
  CHECK(refusal_of(system, {"FOO=1", "B=a b", "./run.sh", "x"}) ==
        "FOO, B before the program: no shell reads these words | "
        "ddlrun launch ... -x FOO=1 -x 'B=a b' -- ./run.sh x");
  CHECK(refusal_of(system, {"API_KEY=s3cret", "./run.sh"}) ==
        "API_KEY before the program: no shell reads these words | ddlrun launch ... -x API_KEY -- ./run.sh");
  CHECK(refusal_of(system, {"nosuch"}) ==
        "the program 'nosuch' was not found on h1 | DIRECTORY/nosuch, or export PATH=DIRECTORY:$PATH   # "
        "where nosuch is");
}

TEST_CASE("no python, but python3: the remedy is that word") {
  tests::FakeSystem fake;
  fake.environment.host_name = "h1";
  fake.environment.variables = {{"PATH", "/opt/bin:/usr/bin"}};
  fake.files.files = {{"/usr/bin/python3", ""}, {"train.py", ""}};
  System system = fake.interfaces();
  CHECK(refusal_of(system, {"python", "train.py"}) ==
        "the program 'python' was not found on h1 | -- python3 ...   # h1 has python3, and no python");
  CHECK(refusal_of(system, {"/opt/bin/python", "train.py"}).find("python3") == std::string::npos);
  fake.files.files.erase("/usr/bin/python3");
  CHECK(refusal_of(system, {"python", "train.py"}).find("python3") == std::string::npos);
}

TEST_CASE("for ranks on other hosts a file that cannot run is refused where the hosts share it") {
  tests::FakeSystem fake;
  tests::FakeHostInfo host;
  for (const char* file : {"./plain.py", "./line.py", "/home/me/plain.sh", "/opt/plain", "./good"}) {
    host.infos[file].kind = FileInfo::Kind::file;
    host.infos[file].mode = file == std::string("./line.py") || file == std::string("./good") ? 0755 : 0644;
    fake.files.files[file] = "import torch\n";
  }
  fake.environment.workdir = "/home/me/run";
  System system = fake.interfaces();
  system.kernel = &host;
  const auto refusal = [&](const std::string& program) -> std::string {
    try {
      check_shared_program(system, {program, "-x"});
    } catch (const Error& error) {
      return error.message().what + " | " + error.message().hint;
    }
    return {};
  };
  CHECK(refusal("./plain.py") ==
        "'./plain.py' is not executable | python3 ./plain.py, or chmod +x ./plain.py");
  CHECK(refusal("./line.py") ==
        "'./line.py' has no #! line: the shell would run it, not Python | python3 ./line.py");
  CHECK(refusal("/home/me/plain.sh") == "'/home/me/plain.sh' is not executable | chmod +x /home/me/plain.sh");
  for (const char* other : {"/opt/plain", "./good", "./absent.py", "python3"}) {
    CAPTURE(other);
    CHECK(refusal(other).empty());
  }
}

}  // namespace ddlrun::launch

TEST_SUITE_END();
