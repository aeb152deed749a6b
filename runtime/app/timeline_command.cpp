// SPDX-License-Identifier: MIT
#include "runtime/app/timeline_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/telemetry/timeline.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ddlrun::runtime {
namespace {

constexpr const char* timeline_help =
    "Merges what a killed run with --timeline FILE left, one FILE.rankN.part for each rank, into FILE\n"
    "for ui.perfetto.dev or chrome://tracing. The parts are kept.\n\n"
    "usage: ddl-train timeline FILE\n\n"
    "Exit status: 0 success, 2 invalid command line, 3 no readable part.\n\n"
    "Example:\n  ddl-train timeline timeline.json\n";

}  // namespace

int run_timeline_command(const std::vector<std::string>& args) {
  try {
    if (args.size() == 1 && args[0] == "--help") {
      fmt::print("{}", timeline_help);
      return 0;
    }
    if (args.size() != 1 || args[0].empty() || args[0].starts_with("-")) {
      throw Error(ErrorKind::usage, {"the FILE given to --timeline is missing", "command line",
                                     "ddl-train timeline timeline.json"});
    }
    fmt::print("{}", render_timeline_report(args[0], merge_timeline(args[0])));
    fmt::print("the parts are kept; to remove them: rm {}.rank*.part\n", quote_shell(args[0]));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error("ddl-train timeline", error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
