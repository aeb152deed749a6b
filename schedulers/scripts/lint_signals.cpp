// SPDX-License-Identifier: MIT
// Scripts that catch a signal while the program runs.
#include "schedulers/scripts/lint_internal.hpp"

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

bool is_in(std::string_view text, std::string_view word) { return text.find(word) != std::string_view::npos; }

// `trap ACTION USR1` whose action lets the script go on: it neither exits nor waits itself.
bool catches_signal(const ShellCommand& command) {
  const auto& words = command.words;
  if (command.name() != "trap" || words.size() < 3) return false;
  const std::string& action = words[1].text;
  if (action.empty() || action == "-" || action == "--" || is_in(action, "exit") || is_in(action, "wait"))
    return false;
  return std::any_of(words.begin() + 2, words.end(), [](const ShellWord& word) {
    return word.text != "EXIT" && word.text != "0" && word.text != "ERR" && word.text != "DEBUG" &&
           word.text != "RETURN";
  });
}

}  // namespace

// bash(1): a signal for which a trap is set ends `wait` at once, with a status above 128.
std::vector<Finding> lint_signals(const ScriptView& view) {
  bool is_caught = false, runs_beside = false;
  const PlacedCommand* only_wait = nullptr;
  for (const PlacedCommand& placed : view.commands) {
    is_caught = is_caught || catches_signal(placed.command);
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
           "while kill -0 \"$child\" 2>/dev/null; do wait \"$child\"; done"}};
}

}  // namespace ddlrun::job_scripts
