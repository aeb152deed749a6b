// SPDX-License-Identifier: MIT
#include "launch/launchers/dry_run.hpp"

#include "launch/launchers/launch_command.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("launch/launchers/dry_run");

TEST_CASE("a dry run is a script: rankfile, environment, reasons, line") {
  launch::DryRun run;
  run.rankfile_path = "/s/a b/rankfile";
  run.rankfile_text = "rank 0=h slot=0:0\n";
  run.remarks = {"no DIMS given: 1"};
  run.exports = launch::plan_exports({{"KEY=s3cret"}, 1, 1}, {});
  launch::LaunchRequest request;
  request.rankfile = run.rankfile_path;
  request.exports = run.exports;
  request.program = {{"./prog", "$(x)"}, "/d", ""};
  run.line = launch::plan_launch_command(request);
  const std::string text = launch::render_dry_run(run);
  CHECK(text.find("s3cret") == std::string::npos);
  const char* parts[] = {
      "#!/bin/bash\n",
      "set -eu\n",
      "# no DIMS given: 1\n",
      "mkdir -p -- '/s/a b'\ncat > '/s/a b/rankfile' <<'END_OF_RANKFILE'\nrank 0=h slot=0:0\n",
      "export OMP_NUM_THREADS=1\n",
      "export KEY=\"${KEY:?",
      "# -n 1 ",
      "mpirun -n 1 --rankfile '/s/a b/rankfile' -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x KEY "
      "./prog '$(x)'\n"};
  std::size_t at = 0;
  for (const char* part : parts) {
    CAPTURE(part);
    const std::size_t found = text.find(part, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
}

TEST_SUITE_END();
