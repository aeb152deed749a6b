// SPDX-License-Identifier: MIT
#include "base/text/interpreter.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/interpreter");

TEST_CASE("the script of a command") {
  using Words = std::vector<std::string>;
  CHECK(find_script({}) == std::nullopt);
  CHECK(find_script(Words{"./train", "--epochs", "3"}) == 0);
  CHECK(find_script(Words{"python3", "-u", "-W", "ignore", "train.py", "x.py"}) == 4);
  CHECK(find_script(Words{"/usr/bin/python3.11", "train.py"}) == 1);
  CHECK(find_script(Words{"python", "-m", "torch.distributed.run", "train.py"}) == std::nullopt);
  CHECK(find_script(Words{"python", "-m", "mpi4py", "train.py"}) == 3);
  CHECK(find_script(Words{"python", "-c", "print(1)"}) == std::nullopt);
  CHECK(find_script(Words{"python", "-"}) == std::nullopt);
  CHECK(find_script(Words{"bash", "-e", "run.sh"}) == 2);
  CHECK(find_script(Words{"/bin/sh", "-lc", "./run.sh"}) == std::nullopt);
  CHECK(find_script(Words{"perl", "-e", "print 1"}) == std::nullopt);
  CHECK(find_script(Words{"Rscript", "--vanilla", "fit.R"}) == 2);
  CHECK(find_script(Words{"bash"}) == std::nullopt);
}

TEST_CASE("programs that start the one behind their own words") {
  for (const char* starter : {"timeout", "/usr/bin/stdbuf", "ncu", "perf", "numactl", "apptainer", "env"})
    CHECK(starts_another(starter));
  for (const char* other : {"./train", "python3", "bash", "./timeout.py", ""})
    CHECK_FALSE(starts_another(other));
}

TEST_SUITE_END();
