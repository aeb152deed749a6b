// SPDX-License-Identifier: MIT
// `ddlrun report`: one run as one HTML page that needs nothing else.
#include "cli/commands/commands.hpp"
#include "launch/history/report_input.hpp"
#include "launch/history/run_store.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace ddlrun::cli {

namespace {

constexpr std::string_view report_examples =
    "  ddlrun report last                    # writes report.html into the run's folder\n"
    "  ddlrun report 20261121-03 -o run.html # a run by the beginning of its id\n"
    "  ddlrun report ./run -o -              # a run folder; to standard output\n\n"
    "The page holds the plan as a picture, each rank's place as planned and found, what was exported and\n"
    "why, what failed first, and the bundled trainer's curves where it wrote --metrics. Nothing is loaded\n"
    "from elsewhere. It holds program arguments and log lines: look at it before you hand it on.";

struct ReportOptions {
  std::string run;
  std::string file;
};

int run_report_command(System& system, const ReportOptions& options) {
  const std::string folder = find_run_folder(system, options.run);
  const std::string html = run_report::render_report_html(read_run_view(system, folder));
  if (options.file == "-") {
    system.out(html);
    return 0;
  }
  const std::string file = options.file.empty() ? folder + "/report.html" : options.file;
  system.files.write(file, html);
  system.err("ddlrun: wrote " + file + "\n");
  return 0;
}

}  // namespace

Subcommand report_command() {
  Subcommand command;
  command.name = "report";
  command.summary = "one run as one HTML page: plan, places, curves, what failed";
  command.examples = report_examples;
  command.setup = [](CLI::App& app, const std::vector<std::string>&) -> Run {
    auto options = std::make_shared<ReportOptions>();
    app.add_option("RUN", options->run, "an id or its beginning, a run folder, or last")->required();
    app.add_option("-o,--output", options->file,
                   "the page (report.html in the run's folder); -: standard output");
    return [options](System& system) { return run_report_command(system, *options); };
  };
  return command;
}

}  // namespace ddlrun::cli
