// SPDX-License-Identifier: MIT
#include "schedulers/job/job_name.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

using namespace ddlrun;
using namespace ddlrun::schedulers;

TEST_SUITE_BEGIN("schedulers/job/job_name");

TEST_CASE("a job has the name of its program") {
  const std::vector<std::pair<Command, std::string>> rows{
      {{"./train"}, "train"},
      {{"python3", "-u", "src/train.py", "--lr", "3"}, "train"},
      {{"python3", "-m", "package.module"}, "package.module"},
      {{"python3", "-c", "print(1)"}, "python3"},
      {{"bash", "run.sh"}, "run"},
      {{"sh", "-c", "python3 src/train.py --lr $LR"}, "train"},
      {{"bash", "-lc", "exec ./train"}, "train"},
      {{"bash", "-c", "A=1 B=2 mpiexec ./x"}, "mpiexec"},
      {{"bash", "-c", "$PROGRAM one"}, "bash"},
      {{"bash", "-c", "cd /data && python3 train.py"}, "bash"},
      {{"/bin/sh", "-c", "echo 'a b'"}, "sh"},
      {{"sh", "-c"}, "sh"},
      {{"./123"}, "ddlrun"},
      {{"--epochs", "1"}, "ddl-train"},
      {{"./a-very-long-name-of-a-program"}, "a-very-long-nam"},
  };
  for (const auto& [program, name] : rows) {
    CAPTURE(program.back());
    CHECK(job_name_of(program, 15) == name);
  }
}

TEST_SUITE_END();
