// SPDX-License-Identifier: MIT
#include "schedulers/scripts/compound_commands.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::job_scripts {

namespace {

constexpr std::size_t longest_text = 300;  // as much as is shown; a line may open many commands

bool is_opening(const std::string& word) {
  constexpr std::array<std::string_view, 7> openings{"for", "select", "while", "until", "if", "case", "{"};
  return std::ranges::find(openings, word) != openings.end();
}

// The words of a command that open or close one; "for" and "case" are its first word.
std::vector<std::string> heads_of(const ShellCommand& command) {
  std::vector<std::string> heads = command.keywords;
  heads.push_back(command.name());
  return heads;
}

bool is_loop(const CompoundCommand& command) {
  return command.keyword == "for" || command.keyword == "select" || command.keyword == "while" ||
         command.keyword == "until";
}

CompoundCommand opened_by(const std::string& keyword, const ScriptLine& line, const ShellCommand& command) {
  CompoundCommand opened{keyword, std::string(trim(line.text).substr(0, longest_text)), {}, {}, line.line};
  const auto& words = command.words;
  if (keyword != "for" || words.size() < 3 || words[2].text != "in") return opened;
  opened.variable = words[1].text;
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i].text.find_first_of("$`*?[{") != std::string::npos)
      return {keyword, opened.text, {}, {}, line.line};
    opened.words.push_back(words[i].text);
  }
  return opened;
}

void take_command(std::vector<CompoundCommand>& open, const ScriptLine& line, const ShellCommand& command) {
  constexpr std::array<std::string_view, 4> closings{"fi", "done", "esac", "}"};
  for (const std::string& word : heads_of(command)) {
    if (is_opening(word)) open.push_back(opened_by(word, line, command));
    if (std::ranges::find(closings, word) != closings.end() && !open.empty()) open.pop_back();
  }
}

}  // namespace

void CompoundCommands::take(const ScriptLine& line, const std::vector<ShellCommand>& commands) {
  for (const ShellCommand& command : commands) take_command(open_, line, command);
}

std::optional<CompoundCommand> CompoundCommands::around(const ScriptLine& line,
                                                        const std::vector<ShellCommand>& commands) const {
  auto open = open_;
  for (const ShellCommand& command : commands)
    for (const std::string& word : heads_of(command))
      if (is_opening(word)) open.push_back(opened_by(word, line, command));
  if (open.empty()) return std::nullopt;
  const auto loop = std::find_if(open.rbegin(), open.rend(), is_loop);
  return loop == open.rend() ? open.back() : *loop;
}

std::string explain_compound(const CompoundCommand& command) {
  if (!is_loop(command))
    return "around the program: left out with its lines; a job starts its program in any case";
  const std::string left =
      "a loop around the program: left out with its lines; a job starts its program once; ";
  if (command.words.empty())
    return left + "array: 0-N starts a task for each turn, and DDLRUN_ARRAY_INDEX is its number";
  std::vector<std::string> values;
  for (const std::string& word : command.words) values.push_back(quote_shell(word));
  return left + fmt::format(
                    "array: 0-{} starts a task for each value, with setup: VALUES=({}); "
                    "{}=${{VALUES[$DDLRUN_ARRAY_INDEX]}}",
                    values.size() - 1, join(values, " "), command.variable);
}

}  // namespace ddlrun::job_scripts
