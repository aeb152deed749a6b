// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_program.hpp"

#include "schedulers/scripts/compound_commands.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace ddlrun::job_scripts {

namespace {

bool is_word_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// `trap 'kill "$child"' TERM`: ddlrun passes signals on to the ranks.
bool passes_signal_on(const ShellCommand& command) {
  if (command.name() != "trap" || command.words.size() < 3) return false;
  ScriptLine action;
  action.text = command.words[1].text;
  return std::ranges::all_of(parse_commands(action), [](const ShellCommand& part) {
    return is_word_of(part.name(), {"kill", "wait", "exit", "echo", ":"});
  });
}

bool ends(const ShellCommand& command) {
  if (command.piped) return false;
  if (passes_signal_on(command)) return true;
  const std::string name = command.name();
  if (name == "kill") return command.words.size() > 1 && command.words[1].text == "-0";
  if (!command.redirections.empty()) return false;
  const auto is_of_shell = [](const ShellWord& word) {
    return word.text.ends_with("=$!") || word.text.ends_with("=$?") || word.text.ends_with("=${?}");
  };
  if (command.words.empty())
    return (!command.assignments.empty() || !command.keywords.empty()) &&
           std::ranges::all_of(command.assignments, is_of_shell);
  return is_word_of(name, {"exit", "wait", ":", "true", "[", "[[", "test", "for", "break"});
}

bool prints(const ShellCommand& command) {
  return command.redirections.empty() && is_word_of(command.name(), {"echo", "date", "hostname", "printf"});
}

// What makes ready for a program, and is none.
bool prepares(const ShellCommand& command) {
  return command.words.empty() || command.sets_variables() ||
         is_word_of(command.name(), {"cd",    "source", ".",     "set",   "ulimit", "module", "ml",
                                     "conda", "mkdir",  "unset", "shopt", "umask",  "trap",   "alias",
                                     "eval",  "cp",     "mv",    "rm",    "ln",     "sleep",  "while"});
}

bool is_loop_at(const CompoundCommands& open, const ScriptLine& line,
                const std::vector<ShellCommand>& before) {
  const auto around = open.around(line, before);
  return around && is_word_of(around->keyword, {"for", "while", "until", "select"});
}

// The command of the line that is neither a part of the end nor a loop's head; nothing for several.
std::optional<std::size_t> find_only_command(const std::vector<ShellCommand>& commands) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    if (ends(commands[i])) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

bool is_end_of_script(const std::vector<ShellCommand>& commands) {
  return std::ranges::all_of(commands, ends);
}

bool only_prints(const std::vector<ShellCommand>& commands) { return std::ranges::all_of(commands, prints); }

std::size_t find_end_of_script(const std::vector<ShellCommand>& commands) {
  std::size_t at = commands.size();
  while (at > 0 && ends(commands[at - 1])) --at;
  return at;
}

std::size_t count_background(const JobScript& script) {
  std::size_t count = 0;
  for (const ScriptLine& line : script.body)
    count += static_cast<std::size_t>(std::ranges::count_if(parse_commands(line), &ShellCommand::background));
  return count;
}

std::optional<OwnProgram> find_own_program(const JobScript& script) {
  const auto& body = script.body;
  std::size_t at = body.size();
  std::vector<ShellCommand> commands;
  for (; at > 0; --at) {
    commands = parse_commands(body[at - 1]);
    const bool is_trap = commands.size() == 1 && commands[0].name() == "trap";
    const bool is_behind = std::ranges::all_of(
        commands, [](const ShellCommand& command) { return ends(command) || prints(command); });
    if (body[at - 1].here_text || !(is_trap || is_behind)) break;
  }
  if (at == 0 || body[at - 1].here_text) return std::nullopt;
  const ScriptLine& line = body[at - 1];
  const auto number = find_only_command(commands);
  if (!number) return std::nullopt;
  const ShellCommand& command = commands[*number];
  if (prepares(command) || command.piped || !command.here_ends.empty()) return std::nullopt;
  CompoundCommands open;
  for (std::size_t i = 0; i + 1 < at; ++i) open.take(body[i], parse_commands(body[i]));
  const std::vector<ShellCommand> before(commands.begin(),
                                         commands.begin() + static_cast<std::ptrdiff_t>(*number) + 1);
  const bool is_inside = open.is_open() || open.around(line, before).has_value();
  if (is_inside && !(command.background && is_loop_at(open, line, before))) return std::nullopt;
  // Beside others, and not in front of them.
  if (command.background && count_background(script) > 1) return std::nullopt;
  return OwnProgram{line.line, *number};
}

}  // namespace ddlrun::job_scripts
