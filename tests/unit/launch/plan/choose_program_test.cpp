// SPDX-License-Identifier: MIT
// The bundled trainer is asked about its options before any rank starts; other programs are not.
#include "base/os/program_path.hpp"
#include "launch/plan/choose_program.hpp"

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

}  // namespace ddlrun::launch

TEST_SUITE_END();
