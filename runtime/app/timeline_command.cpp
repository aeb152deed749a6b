// SPDX-License-Identifier: MIT
#include "runtime/app/timeline_command.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
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

int run_timeline_command(const std::vector<std::string>& words) {
  try {
    if (words.size() == 1 && words[0] == "--help") {
      fmt::print("{}", timeline_help);
      return 0;
    }
    if (words.size() != 1 || words[0].empty() || words[0].starts_with("-")) {
      throw Error(ErrorKind::usage, {"the FILE given to --timeline is missing", "command line",
                                     "ddl-train timeline timeline.json"});
    }
    fmt::print("{}", render_timeline_report(words[0], merge_timeline(words[0])));
    fmt::print("the parts are kept; to remove them: rm {}.rank*.part\n", quote_shell(words[0]));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error("ddl-train timeline", error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
