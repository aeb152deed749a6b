// SPDX-License-Identifier: MIT
#include "base/text/completion.hpp"

#include "base/text/text.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;

namespace {

OptionReference option(std::vector<std::string> names, std::string value, std::string source = "") {
  OptionReference made;
  made.names = std::move(names);
  made.values = value.empty() ? 0 : value == "NAME VALUE" ? 2 : 1;
  made.choices = choices_of_value(value);
  made.source = source.empty() ? std::string(source_of_value(value)) : source;
  made.value = std::move(value);
  return made;
}

CommandReference make_command() {
  CommandReference command;
  command.name = "p";
  command.options = {
      option({"--mode", "-m"}, "auto|off|N"), option({"--verify"}, ""), option({"--mca"}, "NAME VALUE"),
      option({"--file"}, "NAME|FILE"),        option({"--dir"}, "DIR"), option({"-x"}, "VAR", "variables")};
  command.options[5].repeatable = true;
  command.arguments = {option({"DIMS"}, ""), option({"HOSTS"}, "", "hosts")};
  command.takes_program = true;
  return command;
}

std::vector<Candidate> sources(std::string_view source) {
  if (source == "hosts") return {{"h1"}, {"h2"}, {"$(reboot)"}, {"a b"}, {"h2"}, {"x;y"}, {"`id`"}};
  return {{"HOME"}};
}

std::string completed(std::string_view line) {
  std::vector<std::string> words;
  for (const std::string_view word : split(line, ' ')) words.emplace_back(word);
  std::string text = render_completion(complete_command(make_command(), words, sources));
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("base/text/completion");

TEST_CASE("values, names and arguments by what was typed before") {
  struct Row {
    const char* line;
    const char* answer;
  };
  for (const Row& row : {
           Row{"--m", ":words --mode --mca "},
           {"--mode ", ":words auto off "},
           {"-m o", ":words off "},
           {"--mode=o", ":words --mode=off "},
           {"--mode=x", ":words "},
           {"--verify --ver", ":words "},  // given, and not repeatable
           {"-x A -", ":words --mode -m --verify --mca --file --dir -x --\tthe program follows "},
           {"--mca a --mo", ":words "},  // the second value of --mca
           {"--mca a b --mo", ":words --mode "},
           {"--file ", ":files "},
           {"--file=a", ":files --file= "},
           {"--dir a", ":directories "},
           {"", ":words "},
           {"4 ", ":words open h1 h2 "},     // no shell text of other people's files
           {"4 h1,", ":words open h1,h2 "},  // not twice
           {"--verify 4 h", ":words open h1 h2 "},
           {"4 $(x),h", ":words open "},
           {"4 h1 ", ":words "},  // no third argument
           {"-- ", ":program 1 "},
           {"4 h1 -- ./x --m", ":program 3 "},
           {"--unknown 4 h", ":words open h1 h2 "},
           {"-x ", ":words HOME "},
       }) {
    CAPTURE(row.line);
    CHECK(completed(row.line) == row.answer);
  }
  CHECK(complete_command(make_command(), {}, sources).candidates.empty());
}

TEST_CASE("only letters, digits and some signs are offered") {
  const std::vector<Candidate> all{{"a.b_c:d/e@f%g+h=i,j-k"},
                                   {"a\tb"},
                                   {"a\nb"},
                                   {"a'b"},
                                   {"a\"b"},
                                   {"a$b"},
                                   {"a*"},
                                   {"a?"},
                                   {"~a"},
                                   {"a&b"},
                                   {"a|b"},
                                   {"a<b"},
                                   {"a\\b"},
                                   {"a!b"},
                                   {"a{b}"},
                                   {""}};
  const auto selected = select_candidates(all, "");
  REQUIRE(selected.size() == 1);
  CHECK(selected[0].word == all[0].word);
}

TEST_CASE("value names") {
  CHECK(choices_of_value("yes|no|N") == std::vector<std::string>{"yes", "no"});
  CHECK(choices_of_value("N").empty());
  CHECK(choices_of_value("text").empty());
  CHECK(source_of_value("NAME|FILE") == "files");
  CHECK(source_of_value("DIR") == "directories");
  CHECK(source_of_value("PROFILE") == "");
}

TEST_SUITE_END();
