// SPDX-License-Identifier: MIT
// Scripts that catch a signal while the program runs.
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace ddlrun::job_scripts {

namespace {

bool is_in(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// The functions of a script, and whether each ends the script or waits.
class ScriptFunctions {
 public:
  explicit ScriptFunctions(const std::vector<PlacedCommand>& commands);
  // Of a command: "exit", "wait", or a function in whose body one of them is.
  bool exits_or_waits(const std::string& name);

 private:
  std::size_t find_end(std::size_t head) const;

  const std::vector<PlacedCommand>& commands_;
  std::map<std::string, std::size_t> heads_;
  std::map<std::string, bool> known_;
};

// "NAME() {" and "function NAME {".
ScriptFunctions::ScriptFunctions(const std::vector<PlacedCommand>& commands) : commands_(commands) {
  for (std::size_t i = 0; i + 1 < commands.size(); ++i) {
    const auto& words = commands[i].command.words;
    const ShellCommand& next = commands[i + 1].command;
    const bool has_parentheses = next.words.empty() && next.keywords == std::vector<std::string>{"("};
    if (words.size() > 1 && words[0].text == "function") heads_[words[1].text] = i;
    if (words.size() == 1 && has_parentheses) heads_[words[0].text] = i;
  }
}

// The index of the command that closes the function's brace.
std::size_t ScriptFunctions::find_end(std::size_t head) const {
  std::ptrdiff_t open = has_word(commands_[head].command, "{") ? 1 : 0;
  for (std::size_t i = head + 1; i < commands_.size(); ++i) {
    const auto& keywords = commands_[i].command.keywords;
    const auto closed = std::ranges::count(keywords, "}");
    open += std::ranges::count(keywords, "{") - closed;
    if (closed > 0 && open <= 0) return i;
  }
  return commands_.size();
}

bool ScriptFunctions::exits_or_waits(const std::string& name) {
  constexpr std::size_t most_functions = 50;  // each is read to its end: the time of all is bounded
  if (name == "exit" || name == "wait") return true;
  const auto head = heads_.find(name);
  if (head == heads_.end()) return false;
  if (!known_.contains(name) && known_.size() == most_functions) return true;
  const auto [known, is_new] = known_.try_emplace(name, false);
  if (!is_new) return known->second;  // also of a function that calls itself
  const std::size_t end = find_end(head->second);
  for (std::size_t i = head->second + 1; i < end && !known->second; ++i)
    known->second = exits_or_waits(commands_[i].command.name());
  return known->second;
}

// bash(1) takes the names of signals without regard to case.
bool is_pseudo_signal(const ShellWord& word) {
  constexpr std::array<std::string_view, 5> names{"EXIT", "0", "ERR", "DEBUG", "RETURN"};
  return std::ranges::find(names, to_upper(word.text)) != names.end();
}

// `trap ACTION USR1` whose action lets the script go on: it neither exits nor waits itself.
bool catches_signal(ScriptFunctions& functions, const ShellCommand& command) {
  const auto& words = command.words;
  if (command.name() != "trap" || words.size() < 3) return false;
  if (std::all_of(words.begin() + 2, words.end(), is_pseudo_signal)) return false;
  ScriptLine action;
  action.text = words[1].text;
  if (action.text.empty() || action.text == "-" || action.text == "--" || is_in(action.text, "exit") ||
      is_in(action.text, "wait"))
    return false;
  return std::ranges::none_of(parse_commands(action), [&functions](const ShellCommand& part) {
    return functions.exits_or_waits(part.name());
  });
}

}  // namespace

// bash(1): a signal for which a trap is set ends `wait` at once, with a status above 128.
std::vector<Finding> lint_signals(const ScriptView& view) {
  bool is_caught = false, runs_beside = false;
  const PlacedCommand* only_wait = nullptr;
  ScriptFunctions functions(view.commands);
  for (const PlacedCommand& placed : view.commands) {
    is_caught = is_caught || catches_signal(functions, placed.command);
    runs_beside =
        runs_beside || (placed.command.background && launch_tool_of(placed.command) != LaunchTool::none);
    if (placed.command.name() != "wait") continue;
    if (placed.depth > 0 || only_wait != nullptr) return {};
    only_wait = &placed;
  }
  if (!is_caught || !runs_beside || only_wait == nullptr) return {};
  return {{"wait-once", Severity::warning, only_wait->place, "one wait, and a trap for a signal",
           "bash returns from wait at the signal: the script ends, and the job with it, before the program "
           "has saved",
           std::string(wait_loop)}};
}

}  // namespace ddlrun::job_scripts
