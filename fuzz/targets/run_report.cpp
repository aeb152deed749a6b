// SPDX-License-Identifier: MIT
// run.json and metrics -> report: read as written, and no tag of the page comes from the run.
#include "base/text/text.hpp"
#include "fuzz/fuzz_target.hpp"
#include "launch/history/plan_gpus.hpp"
#include "launch/history/report_html.hpp"
#include "launch/history/training.hpp"

using namespace ddlrun;
using namespace ddlrun::launch;

DDLRUN_FUZZ_TARGET(run_report) {
  fuzz::accepted([&] { return parse_plan_gpus(input, "plan.json"); });
  Training training;
  for (const std::string_view line : split(input, '\n')) take_metrics_line(line, training);
  const auto run = fuzz::accepted([&] { return parse_run_json(input, "run.json"); });
  if (!run && !training.known) return;
  ReportInput report;
  if (run) {
    report.run = *run;
    const std::string text = render_run_json(*run);
    fuzz::require(render_run_json(parse_run_json(text, "run.json")) == text, "a run is read as written",
                  text);
  }
  report.training = training;
  report.command_line = report.first_log = report.metrics_file = input;
  report.first_lines = {std::string(input)};
  const std::string page = render_report_html(report);
  fuzz::require(page.find("<FUZZ") == std::string::npos, "no tag comes from the run");
}
