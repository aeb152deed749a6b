// SPDX-License-Identifier: MIT
#include "runtime/timeline_command.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/seeing/timeline.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace ddlrun::runtime {
namespace {

constexpr const char* timeline_help =
    "usage: ddl-train timeline FILE.json\n\n"
    "A run with --timeline FILE.json that is killed leaves FILE.json.rankN.part of each rank. This makes "
    "FILE.json\n"
    "of them, for ui.perfetto.dev or chrome://tracing; the parts stay. Exit status: 0 ok, 2 wrong command "
    "line,\n"
    "3 no part that can be read.\n";

}  // namespace

int run_timeline_command(const std::vector<std::string>& words) {
  try {
    if (words.size() == 1 && words[0] == "--help") {
      fmt::print("{}", timeline_help);
      return 0;
    }
    if (words.size() != 1 || words[0].empty() || words[0].starts_with("-")) {
      throw Error(ErrorKind::usage, {"one file is needed: the one that --timeline named", "command line",
                                     "ddl-train timeline timeline.json"});
    }
    fmt::print("{}", render_timeline_report(words[0], merge_timeline(words[0])));
    fmt::print("the parts stay; once it is looked at: rm {}.rank*.part\n", quote_shell(words[0]));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error("ddl-train timeline", error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
