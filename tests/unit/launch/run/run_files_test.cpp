// SPDX-License-Identifier: MIT
#include "launch/run/run_files.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("launch/run/run_files");

TEST_CASE("argv and environment as files") {
  CHECK(launch::render_argv_file({"mpirun", "a b"}, "mpirun 'a b'") == "# mpirun 'a b'\nmpirun\n'a b'\n");
  CHECK(launch::render_argv_file({"a\nb"}, "'a\nb'").find("# 'a\n") == std::string::npos);
  CHECK(launch::render_argv_nul({"a\nb", "", "c"}) == std::string("a\nb\0\0c\0", 7));
  launch::Exports exports;
  exports.names = {"PATH", "KEY"};
  exports.set_by_user = {{"KEY", "s3cret"}};
  CHECK(launch::render_environment_names({{"HOME", "/h"}, {"PATH", "/bin"}}, exports) ==
        "exported KEY\nexported PATH\npresent HOME\n");
}

TEST_SUITE_END();
