// SPDX-License-Identifier: MIT
#include "man/pages.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace ddlrun;
using namespace ddlrun::man;

namespace {

std::string page_of(const std::vector<OutputFile>& files, std::string_view path) {
  for (const OutputFile& file : files)
    if (file.path == path) return file.text;
  return {};
}

Sources make_sources() {
  Sources sources;
  sources.date = "2026-11-25";
  sources.version = "1.2.3";
  read_reference(R"({"commands": [{"name": "ddlrun zip", "summary": "pack", "usage": "ddlrun zip [FILE]",
      "description": ["It packs."], "examples": "  ddlrun zip a",
      "arguments": [{"names": ["FILE"], "value": "", "help": "the file", "group": "Arguments", "choices": [],
                     "required": false, "repeatable": false}],
      "options": [{"names": ["--level", "-l"], "value": "N", "help": "how much", "group": "Depth", "choices": [],
                   "required": false, "repeatable": false},
                  {"names": ["--help"], "value": "", "help": "this", "group": "Options", "choices": [],
                   "required": false, "repeatable": false}]}]})",
                 sources.reference);
  sources.reference.keys = {{"walltime", "Limits", "TIME", "time limit"}};
  sources.docs["exit_status_and_files.md"] = parse_markdown(
      "## Exit statuses\n\n| status | meaning |\n|---|---|\n| 0 | good |\n\n| command | own |\n|---|---|\n"
      "| `zip`, `zap` | 9 full |\n\n## Environment variables\n\nx\n\n## Files and directories\n\nx\n");
  sources.docs["jobs.md"] =
      parse_markdown("## ddlrun.yaml\n\nThe file.\n\n| no | table |\n|---|---|\n| a | b |\n");
  sources.docs["profiles_and_templates.md"] = parse_markdown(
      "## Files for all users\n\nF.\n\n## A centre's profile\n\nP.\n\n## Your own job script\n\nT.\n");
  sources.docs["rankfiles.md"] = parse_markdown("## The format of a rankfile\n\nA line for each rank.\n");
  return sources;
}

}  // namespace

TEST_SUITE_BEGIN("man/pages");

TEST_CASE("a page has what the table and docs/ have") {
  const auto pages = render_pages(make_sources());
  const std::string page = page_of(pages, "man1/ddlrun-zip.1");
  for (const char* part :
       {".TH \"DDLRUN\\-ZIP\" 1 \"2026-11-25\" \"ddlrun 1.2.3\"", "ddlrun\\-zip \\- pack", "It packs.",
        ".SS \"Depth\"", "\\fB\\-\\-level\\fR, \\fB\\-l\\fR \\fIN\\fR\nhow much", "\\fBFILE\\fR\nthe file",
        "\n0\ngood\n", "Of this command: 9 full.", ".BR ddlrun (1),"}) {
    CAPTURE(part);
    CHECK(page.find(part) != page.npos);
  }
  CHECK(page.find("\\-\\-help") < page.find(".SS \"Depth\""));  // not below the heading of another group
  const std::string config = page_of(pages, "man5/ddlrun-config.5");
  CHECK(config.find("\\fBwalltime:\\fR \\fITIME\\fR") != config.npos);
  CHECK(config.find("table") == config.npos);
  const std::string options = page_of(render_reference(make_sources()), "reference/options.md");
  CHECK(options.find("| `--level, -l N` | how much |") != options.npos);
}

TEST_CASE("a section that docs/ lacks is an error") {
  Sources sources = make_sources();
  sources.docs["rankfiles.md"].clear();
  CHECK_THROWS_AS(render_pages(sources), std::runtime_error);
}

TEST_SUITE_END();
