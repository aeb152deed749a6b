// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_signal.hpp"

#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/convert_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace ddlrun::job_scripts {

namespace {

// What a trap does; `has_more`: beside that, or at other signals too.
struct TrapAction {
  bool requeues = false, passes_on = false, has_more = false;
};

// "SIGUSR1" and "10" -> "USR1"
std::string_view plain_signal(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  if (name == "10") return "USR1";
  if (name == "12") return "USR2";
  return name == "15" ? "TERM" : name;
}

TrapAction action_of(const std::vector<ShellCommand>& commands) {
  const auto is_requeue = [](const ShellCommand& command) {
    return command.base_name() == "scontrol" && command.words.size() > 1 &&
           command.words[1].text.starts_with("requeue");
  };
  const auto passes_on = [](const ShellCommand& command) {
    const std::string name = command.base_name();
    return name == "kill" || name == "pkill" || name == "killall" || name == "scancel";
  };
  const auto is_needless = [](const ShellCommand& command) {
    constexpr std::array names{"echo",  "printf", "date", "wait", "exit", "return",
                               "sleep", "trap",   ":",    "true", "{",    "}"};
    return command.words.empty() || std::ranges::find(names, command.base_name()) != names.end();
  };
  TrapAction action;
  for (const ShellCommand& command : commands) {
    if (is_requeue(command))
      action.requeues = true;
    else if (passes_on(command))
      action.passes_on = true;
    else if (!is_needless(command))
      action.has_more = true;
  }
  return action;
}

// The commands of a function of the script: from "NAME() {" to the line that begins with its brace.
std::vector<ShellCommand> commands_of_function(const JobScript& script, const std::string& name) {
  std::vector<ShellCommand> found;
  bool is_inside = false;
  for (const ScriptLine& line : script.body) {
    const std::string_view text = trim(line.text);
    const bool begins = text.starts_with(name + "()") || text.starts_with(name + " ()") ||
                        text.starts_with("function " + name);
    if (is_inside && text.starts_with('}')) break;
    is_inside = is_inside || begins;
    if (!is_inside || line.here_text) continue;
    ScriptLine inner = line;
    if (const std::size_t brace = line.text.find('{'); begins && brace != std::string::npos)
      inner.text = line.text.substr(brace + 1);
    else if (begins)
      continue;
    for (ShellCommand& command : parse_commands(inner)) found.push_back(std::move(command));
    if (begins && text.ends_with('}')) break;
  }
  return found;
}

// What `trap ACTION SIGNAL...` does at the signal; nothing for another command or another signal.
std::optional<TrapAction> trap_action(const JobScript& script, const ShellCommand& command,
                                      std::string_view signal) {
  const auto& words = command.words;
  if (command.name() != "trap" || words.size() < 3) return std::nullopt;
  const std::size_t first = words[1].text == "--" ? 2 : 1;
  const auto is_signal = [&](const ShellWord& word) { return plain_signal(word.text) == signal; };
  if (std::none_of(words.begin() + static_cast<std::ptrdiff_t>(first) + 1, words.end(), is_signal))
    return std::nullopt;
  ScriptLine action;
  action.text = words[first].text;
  std::vector<ShellCommand> commands = parse_commands(action);
  if (commands.size() == 1 && commands[0].words.size() == 1) {
    auto inner = commands_of_function(script, commands[0].name());
    if (!inner.empty()) commands = std::move(inner);
  }
  TrapAction found = action_of(commands);
  found.has_more = found.has_more || words.size() > first + 2;
  return found;
}

struct SignalTrap {
  int line = 0;
  std::string text;
  TrapAction action;
};

// The last one counts, as for the shell.
std::optional<SignalTrap> find_trap(const JobScript& script, std::string_view signal, std::set<int>& lines) {
  std::optional<SignalTrap> found;
  for (const ScriptLine& line : script.body) {
    if (line.here_text) continue;
    const auto commands = parse_commands(line);
    if (commands.size() != 1) continue;
    const auto action = trap_action(script, commands[0], signal);
    if (!action) continue;
    found = {line.line, std::string(trim(line.text)), *action};
    lines.insert(line.line);
  }
  return found;
}

}  // namespace

CarriedSignal carry_signal(const JobScript& script, const ResourceRequest& request) {
  CarriedSignal carried;
  const bool is_of_script = request.signal.starts_with("B:");
  const std::string text = is_of_script ? request.signal.substr(2) : request.signal;
  if (text.empty()) return carried;
  const std::size_t at = text.find('@');
  const std::string signal(plain_signal(std::string_view(text).substr(0, at)));
  const std::string before = at == std::string::npos ? "" : text.substr(at);
  const auto trap = find_trap(script, signal, carried.trap_lines);
  const auto leave = [&](int line, std::string what, std::string why, bool wrong) {
    carried.notes.push_back({line, std::move(what), std::move(why), wrong});
  };
  const bool requeues = trap && trap->action.requeues, passes_on = trap && trap->action.passes_on;
  const bool has_more = trap && trap->action.has_more;
  const std::string_view more = has_more ? ". What else it does is not carried over" : "";
  carried.signal = text;
  if (!is_of_script) {
    // The trap never ran; the script of ddlrun has the signal and would run it.
    if (requeues)
      leave(trap->line, trap->text, "never ran, as the signal without B: goes to the ranks alone: left out",
            false);
    if (!requeues && !passes_on) carried.trap_lines.clear();
    return carried;
  }
  if (requeues && passes_on) {
    carried.requeues = true;
    leave(trap->line, trap->text,
          fmt::format("left out: signal: {} goes to the ranks, and `requeue` starts the job again{}", text,
                      more),
          has_more);
  } else if (requeues) {
    carried.requeues = true;
    carried.signal = "TERM" + before;
    leave(trap->line, trap->text,
          fmt::format(
              "left out: `signal` and `requeue` do the same. signal: TERM{0} ends the ranks, as scontrol "
              "requeue does, and not with {1}, which B: kept from them; signal: {1}{0} is for a program "
              "that saves on {1}{2}",
              before, signal, more),
          has_more);
  } else if (passes_on) {
    leave(trap->line, trap->text, fmt::format("left out: signal: {} goes to the ranks{}", text, more),
          has_more);
  } else {
    carried.signal.clear();
    carried.trap_lines.clear();
    leave(trap ? trap->line : 0, "--signal=" + request.signal,
          fmt::format(
              "left out: it went to the script alone, and `signal` goes to the ranks, which it ends where "
              "they do not handle it. signal: TERM{} ends them then, and {}",
              before, trap ? "the trap in `setup` runs after that" : "the job with them"),
          true);
  }
  return carried;
}

}  // namespace ddlrun::job_scripts
