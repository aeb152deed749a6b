// SPDX-License-Identifier: MIT
// The answers are those of CPython 3.11 to the code that the check gives it; tests/cli asks the real one.
#include "launch/plan/python_syntax.hpp"

#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::find_syntax_error;

TEST_SUITE_BEGIN("launch/plan/python_syntax");

namespace {

struct Answer {
  std::string out;
  int exit_status = 0;
  bool timed_out = false;
};

std::optional<Message> check(const std::vector<std::string>& program, const Answer& answer,
                             std::vector<Command>* ran = nullptr) {
  tests::FakeSystem fake;
  fake.files.files = {{"/usr/bin/python3", ""}, {"/w/train.py", "x = = 1\n"}, {"/w/a b.py", ""}};
  fake.processes.answer = [&](const Command&) {
    ProcessResult result;
    result.out = answer.out;
    result.exit_status = answer.exit_status;
    result.timed_out = answer.timed_out;
    return result;
  };
  System system = fake.interfaces();
  auto error = find_syntax_error(system, program, "/w");
  if (ran != nullptr) ran->assign(fake.processes.ran.begin(), fake.processes.ran.end());
  return error;
}

const Answer invalid{"ddlrun-syntax 3.11 12 invalid syntax\n"};

}  // namespace

TEST_CASE("a script that Python cannot read is an error with its line") {
  std::vector<Command> ran;
  const auto error = check({"/usr/bin/python3", "-u", "train.py", "--lr", "1"}, invalid, &ran);
  REQUIRE(error);
  CHECK(error->what == "Python 3.11 cannot read the script: invalid syntax");
  CHECK(error->where == "train.py:12");
  CHECK(error->hint == "sed -n 10,13p train.py   # then correct line 12");
  REQUIRE(ran.size() == 1);
  // As data, not in a shell; neither PYTHON* variables nor the script run.
  CHECK(Command(ran[0].begin(), ran[0].begin() + 4) == Command{"/usr/bin/python3", "-I", "-S", "-c"});
  CHECK(ran[0].back() == "/w/train.py");
  const auto first =
      check({"/usr/bin/python3", "a b.py"}, {"ddlrun-syntax 3.9 1 unexpected EOF while parsing\n"});
  REQUIRE(first);
  CHECK(first->hint == "sed -n 1,2p 'a b.py'   # then correct line 1");
}

TEST_CASE("where it is not known whether Python can read it nothing is said") {
  CHECK_FALSE(check({"/usr/bin/python3", "train.py"}, {""}));
  CHECK_FALSE(check({"/usr/bin/python3", "train.py"}, {"Unknown option: -I\n", 2}));
  CHECK_FALSE(check({"/usr/bin/python3", "train.py"}, {invalid.out, 0, true}));
  CHECK_FALSE(check({"/usr/bin/python3", "train.py"}, {"ddlrun-syntax 3.11\n"}));
  std::vector<Command> ran;
  for (const std::vector<std::string>& program : {std::vector<std::string>{"/usr/bin/python3", "absent.py"},
                                                  {"/usr/bin/python3", "-m", "train"},
                                                  {"/usr/bin/python3", "-c", "x"},
                                                  {"./train.py"},
                                                  {"bash", "train.py"},
                                                  {}}) {
    CHECK_FALSE(check(program, invalid, &ran));
    CHECK(ran.empty());
  }
}

TEST_SUITE_END();
