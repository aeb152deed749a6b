// SPDX-License-Identifier: MIT
#include "schedulers/job/script_fragment.hpp"

#include "base/text/error.hpp"
#include "templates/script_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace ddlrun;
using namespace ddlrun::schedulers;

TEST_SUITE("schedulers/job/script_fragment") {
  TEST_CASE("a quoted value stays one word, and its text is not searched for placeholders") {
    const Lines lines =
        script_lines("working_directory", {{"directory", ScriptValue::quoted("/a b/$(id)/@message@")},
                                           {"message", ScriptValue::quoted("it's gone\nrm -rf /")}});
    REQUIRE(lines.size() == 3);
    CHECK(lines[0] == "");
    CHECK(lines[2] ==
          "cd -- '/a b/$(id)/@message@' || ddl_fail $'it\\\'s gone\\nrm -rf /' \"ls -ld $(printf %q "
          "'/a b/$(id)/@message@')   # on this host\"");
  }

  TEST_CASE("a block fills a line of its own, and an empty block removes the line") {
    const auto restart_lines = [](const Lines& names) {
      return script_lines("restart_pbs",
                          {{"names", ScriptValue::block(names)}, {"script", ScriptValue::quoted("/job.sh")}});
    };
    const Lines without = restart_lines({}), with = restart_lines({"first", "second"});
    CHECK(with.size() == without.size() + 2);
    CHECK(with[1] == "first");
    CHECK(with[2] == "second");
    CHECK(with[3] == without[1]);
  }

  TEST_CASE("an expansion of a bash array is not a placeholder") {
    const auto lines = script_lines("no_runner");
    CHECK(std::find(lines.begin(), lines.end(), "ddl_command=(\"${ddl_program[@]}\")") != lines.end());
  }

  TEST_CASE("a missing value and an unknown file are errors of ddlrun") {
    CHECK_THROWS_WITH_AS(script_lines("log"), doctest::Contains("@log@"), Error);
    CHECK_THROWS_AS(script_lines("no_such_file"), Error);
  }

  TEST_CASE("the header of a file does not reach the script") {
    for (const auto& [name, text] : templates::builtin_scripts()) {
      CAPTURE(name);
      CHECK(text.starts_with("# SPDX-License-Identifier: MIT\n# shellcheck shell="));
    }
    CHECK(script_text("local_state").starts_with("uname -n\n"));
  }
}
