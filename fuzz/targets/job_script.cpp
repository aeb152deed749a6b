// SPDX-License-Identifier: MIT
// Job scripts: findings can be printed, and what is converted or mended is read again.
#include "fuzz/fuzz_target.hpp"
#include "schedulers/scripts/convert.hpp"
#include "schedulers/scripts/convert_to_job_file.hpp"
#include "schedulers/scripts/lint.hpp"
#include "schedulers/scripts/lint_fix.hpp"

using namespace ddlrun;
using namespace ddlrun::job_scripts;

DDLRUN_FUZZ_TARGET(job_script) {
  const JobScript script = parse_job_script(input, "job.sh");
  for (const Finding& finding : lint_script(script, {}))
    fuzz::require_printable(render_finding("job.sh", finding));
  const FixedScript fixed = fix_script(script, {});
  for (const Finding& finding : fixed.remaining) fuzz::require_printable(render_finding("job.sh", finding));
  const auto fixed_again = fix_script(parse_job_script(fixed.text, "job.sh"), {});
  fuzz::require(fixed_again.text == fixed.text, "mending a mended script changes nothing", fixed.text);
  for (const Dialect to : {Dialect::slurm, Dialect::pbs}) {
    const auto converted = fuzz::accepted([&] { return convert_script(script, to, nullptr); });
    if (converted) lint_script(parse_job_script(converted->text, "job.sh"), {});
  }
  fuzz::accepted(
      [&] {
        return convert_to_job_file(
            script, nullptr, [](const Command&) { return std::nullopt; },
            [](const Command&) { return LauncherOptions(); });
      });
}
