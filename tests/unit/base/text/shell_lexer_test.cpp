// SPDX-License-Identifier: MIT
#include "base/text/shell_lexer.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

TEST_SUITE_BEGIN("base/text/shell_lexer");

namespace {

std::vector<ShellCommand> parse(const std::string& text) {
  return parse_commands({1, text, 1, false, false, {}});
}

}  // namespace

TEST_CASE("words that run the program behind them are dropped") {
  struct Row {
    const char* text;
    std::vector<std::string> words;
  };
  for (const Row& row : {Row{"exec mpirun -np 2 a", {"mpirun", "-np", "2", "a"}},
                         {"nice -n 10 mpirun a", {"mpirun", "a"}},
                         {"timeout -k 5 1.5h mpirun a", {"mpirun", "a"}},
                         {"timeout $LIMIT nohup mpirun a", {"mpirun", "a"}},
                         {"env -i A=B OMP_NUM_THREADS=4 srun a", {"srun", "a"}},
                         {"time ./a 3", {"./a", "3"}},
                         {"command -v mpirun", {"command", "-v", "mpirun"}},
                         {"exec command -V srun", {"command", "-V", "srun"}},
                         {"exec", {"exec"}},
                         {"mpirun env A=B ./a", {"mpirun", "env", "A=B", "./a"}}}) {
    CAPTURE(row.text);
    auto commands = parse(row.text);
    REQUIRE(commands.size() == 1);
    commands[0].drop_wrappers();
    CHECK(commands[0].texts() == row.words);
  }
}

TEST_CASE("the words of an array are no command") {
  const auto commands = parse("tools=(mpirun srun) more+=(a b); export list=(c d)");
  REQUIRE(commands.size() == 2);
  REQUIRE(commands[0].assignments.size() == 1);
  CHECK(commands[0].assignments[0].text == "tools=(mpirun srun)");
  CHECK(commands[0].texts() == std::vector<std::string>{"more+=(a b)"});
  CHECK(commands[1].assignments.size() == 1);
  for (const char* text :
       {"x=($(a b) c)", "x=(\"a)\" b)", "x=('a)' b)", "x=(a \\) b)", "x=(a $(b $(c) d) `e )`)"}) {
    CAPTURE(text);
    const auto all = parse(std::string(text) + "; run");
    REQUIRE(all.size() == 2);
    CHECK(all[0].assignments[0].text == text);
    CHECK(all[0].keywords.empty());
    CHECK(all[1].name() == "run");
  }
  // Without its end it is no array.
  const auto open = parse("tools=(mpirun");
  REQUIRE(open.size() == 2);
  CHECK(open[0].assignments[0].text == "tools=");
  CHECK(open[1].name() == "mpirun");
}

TEST_CASE("lines that an array, a substitution, a quote or a backslash continues are one") {
  struct Row {
    std::vector<std::string> lines;
    std::size_t joined;
  };
  for (const Row& row : {Row{{"args=(", "  --a # it's", "  'b'", ")", "run"}, 2},
                         {{"v=$(", "mpirun a", ")", "run"}, 2},
                         {{"u=$(cat <<EOF", "mpirun a", "EOF", ")", "run"}, 2},
                         {{"v=$(", "mpirun a", "run"}, 3},  // never closed
                         {{"f() (", "mpirun a", ")"}, 3},   // a group of commands
                         {{"run # c:\\", "mpirun a"}, 2},   // a comment continues nothing
                         {{"run \\", "  a 'b", "c' d", "e"}, 2},
                         {{"x=$((1 + (2)))", "e"}, 2}}) {
    CAPTURE(row.lines.front());
    CHECK(read_shell_lines(row.lines).size() == row.joined);
  }
}

TEST_SUITE_END();
