// SPDX-License-Identifier: MIT
// `ddlrun report`: one run as one HTML page that needs nothing else.
#include "cli/commands/commands.hpp"
#include "cli/run_ids.hpp"
#include "launch/history/report_input.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ddlrun::cli {

using namespace launch;

namespace {

constexpr std::string_view report_examples =
    R"(  ddlrun report last                    # writes report.html into the run directory
  ddlrun report 20261121-03 -o run.html # a run by the beginning of its id
  ddlrun report 1234_2                  # of a job, its newest run; of an array, a task
  ddlrun report ./run -o -              # a run directory; the page goes to stdout)";

constexpr std::string_view report_notes =
    R"(The page shows the plan as a picture, the planned and the real place of each rank, exported variables and
their reasons, the first failure, and the trainer's curves if the run wrote --metrics. For a job that started
again it lists all its runs. It loads nothing
from elsewhere. It contains program arguments and log lines: read it before you share it.)";

struct ReportOptions {
  std::string run;
  std::string file;
};

int run_report_command(System& system, const ReportOptions& options) {
  const std::string directory = find_run_or_job(system, options.run, "ddlrun report");
  ReportInput input = read_run_view(system, directory);
  input.job_runs = read_job_runs(system, options.run);
  const std::string html = render_report_html(input);
  if (options.file == "-") {
    system.out(html);
    return 0;
  }
  const std::string file = options.file.empty() ? directory + "/report.html" : options.file;
  system.files.write(file, html);
  system.err("ddlrun: wrote " + file + "\n");
  return 0;
}

}  // namespace

Subcommand report_command() {
  Subcommand command;
  command.name = "report";
  command.summary = "write one HTML page about a run: plan, placement, curves, first failure";
  command.examples = report_examples;
  command.notes = report_notes;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<ReportOptions>();
    app.add_option("RUN", options->run,
                   "a run id or its beginning, the id of a job (2, 9_1), a run directory, or last")
        ->required();
    app.add_option("-o,--output", options->file,
                   "the page; default: report.html in the run directory; -: stdout")
        ->type_name("FILE");
    return [options](System& system) { return run_report_command(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
