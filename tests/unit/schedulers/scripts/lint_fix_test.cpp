// SPDX-License-Identifier: MIT
#include "schedulers/scripts/lint_fix.hpp"

#include <doctest/doctest.h>

using namespace ddlrun::job_scripts;

namespace {

FixedScript fix(const std::string& text) { return fix_script(parse_job_script(text, "f"), {}); }

const std::string head = "#!/bin/bash\n#PBS -N t\n#PBS -l walltime=1:00:00\n";

}  // namespace

TEST_SUITE_BEGIN("schedulers/scripts/lint_fix");

TEST_CASE("what is beyond doubt is corrected, and nothing else") {
  struct Row {
    std::string bad, good;
  };
  const std::string cd = "cd \"$PBS_O_WORKDIR\" || exit 1\n";
  for (const Row& row : {
           Row{"#!/bin/bash\r\n#PBS -N t\r\n#PBS -l walltime=1:00:00\r\ntrue\r\n", head + "true\n"},
           Row{"\xEF\xBB\xBF" + head + "true\n", head + "true\n"},
           Row{head + "#PBS\xC2\xA0-q a\n", head + "#PBS -q a\n"},
           Row{head + "/bin/a \xE2\x80\x93n 2 \xE2\x80\x9Cx y\xE2\x80\x9D\n", head + "/bin/a -n 2 \"x y\"\n"},
           Row{head + "/bin/a \\ \n  -n 2\n", head + "/bin/a \\\n  -n 2\n"},
           Row{head + "/bin/a </p>\n  -n 2\n", head + "/bin/a \\\n  -n 2\n"},
           Row{head + "# a comment\nmodule load x\npython train.py\n",
               head + "# a comment\n" + cd + "module load x\npython train.py\n"},
           Row{head + "if true; then\n  ./a\nfi\n", head + cd + "if true; then\n  ./a\nfi\n"},
           Row{head + "cp a $TMPDIR/b $HOME\n", head + "cp a \"$TMPDIR\"/b \"$HOME\"\n"},
           Row{head + "/bin/a  -n 2 # sound\n", head + "/bin/a  -n 2 # sound\n"},
       }) {
    CAPTURE(row.bad);
    const FixedScript fixed = fix(row.bad);
    CHECK(fixed.text == row.good);
    CHECK_FALSE(needs_attention(fixed.remaining));
    CHECK(fixed.fixed.empty() == (row.bad == row.good));
    CHECK(fix(fixed.text).text == fixed.text);
  }
  const FixedScript shell = fix("#!/bin/sh\n#PBS -N t\n#PBS -l walltime=1:00:00\nsource /etc/profile\n");
  CHECK(shell.text.starts_with("#!/bin/bash\n"));
}

TEST_CASE("what a person must decide is left, with its line in the new script") {
  const FixedScript fixed = fix(head + "export OMP_NUM_THREADS,4\r\n./a\n");
  REQUIRE(fixed.remaining.size() == 1);
  CHECK(fixed.remaining[0].id == "export-no-name");
  CHECK(fixed.remaining[0].place.line == 5);
  CHECK(render_counts(fixed.remaining) == "1 error");
  CHECK(render_counts({}) == "nothing");
}

TEST_SUITE_END();
