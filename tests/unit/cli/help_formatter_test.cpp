// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "cli/app.hpp"
#include "cli/command.hpp"
#include "tests/support/fake_system.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

namespace {

std::string help_of(std::string_view command) {
  tests::FakeSystem fake;
  CHECK(cli::run_app({std::string(command), "--help"}, fake.interfaces()) == 0);
  return fake.out;
}

bool has_text(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE_BEGIN("cli/help_formatter");

TEST_CASE("each command's help: summary, usage, options, examples; at most 110 columns") {
  for (const cli::Subcommand& command : cli::subcommands()) {
    CAPTURE(command.name);
    const std::string help = help_of(command.name);
    CHECK(help.starts_with(std::string(command.summary) + "\n\nUsage: ddlrun " + std::string(command.name)));
    CHECK(has_text(help, " [-- PROGRAM [ARGUMENT...]]\n") == command.takes_program);
    const std::size_t examples = help.find("\nExamples:\n");
    REQUIRE(examples != std::string::npos);
    CHECK(examples > help.find("print this help"));
    CHECK(help.ends_with(std::string(command.examples) + "\n"));
    for (const std::string_view line : split(help, '\n')) {
      CAPTURE(line);
      CHECK(line.size() <= 110);
    }
  }
}

TEST_CASE("a value name says what an option takes: never CLI11's TEXT, INT or FLOAT") {
  for (const cli::Subcommand& command : cli::subcommands()) {
    for (const std::string_view type : {" TEXT", " INT", " UINT", " FLOAT"}) {
      CAPTURE(command.name);
      CHECK_FALSE(has_text(help_of(command.name), type));
    }
  }
}

TEST_CASE("a description longer than its column continues below itself") {
  CHECK(has_text(help_of("launch"),
                 "\n                                  ranks); default: what the framework expects"));
}

TEST_SUITE_END();
