// SPDX-License-Identifier: MIT
// The shell of a job script: commands that the interpreter lacks, hidden failures, harm to others.
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/convert_body.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace ddlrun::job_scripts {

namespace {

bool runs_under_sh(const JobScript& script) {
  const std::string_view first = trim(std::string_view(script.shebang).substr(0, script.shebang.find(" -")));
  return first == "#!/bin/sh" || first == "#! /bin/sh" || first == "#!/usr/bin/sh" ||
         first == "#!/usr/bin/env sh" || first == "#!/bin/dash";
}

// The script's first line for bash, with the options that it has.
std::string bash_line(std::string_view shebang, bool login) {
  const std::size_t at = shebang.find(" -");
  std::string options(at == std::string_view::npos ? "" : trim(shebang.substr(at)));
  const bool is_login =
      options == "--login" || (!options.starts_with("--") && options.find('l') != std::string::npos);
  if (login && !is_login) options += options.empty() ? "-l" : "l";  // the kernel passes one word
  return options.empty() ? "#!/bin/bash" : "#!/bin/bash " + options;
}

void check_interpreter(const ScriptView& view, std::vector<Finding>& findings) {
  if (!runs_under_sh(view.script)) return;
  static const std::set<std::string> words = {"source", "module", "ml",    "[[",   "declare",
                                              "pushd",  "popd",   "shopt", "conda"};
  static const std::set<std::string> of_login = {"module", "ml", "conda"};  // functions of a login shell
  std::vector<std::pair<std::string, Place>> seen;
  bool login = false;
  for (const PlacedCommand& placed : view.commands) {
    const std::string name = placed.command.name();
    if (!words.contains(name) ||
        std::ranges::find(seen, name, &std::pair<std::string, Place>::first) != seen.end())
      continue;
    seen.emplace_back(name, placed.place);
    login = login || of_login.contains(name);
  }
  const std::string remedy = bash_line(view.script.shebang, login);
  for (const auto& [name, place] : seen)
    findings.push_back({"bash-under-sh", Severity::warning, place,
                        fmt::format("\"{}\" under {}", name, view.script.shebang),
                        fmt::format("where /bin/sh is dash: {}: not found", name), remedy});
}

bool is_letter(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)); }

// As far as it is a variable's name.
std::string_view name_part(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && (is_letter(text[end]) || (end > 0 && text[end] >= '0' && text[end] <= '9')))
    ++end;
  return text.substr(0, end);
}

// "export NAME,1" sets nothing; the shell goes on, a strict one ends.
void check_exports(const PlacedCommand& placed, std::vector<Finding>& findings) {
  const ShellCommand& command = placed.command;
  if (command.name() != "export" && command.name() != "readonly") return;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string& text = command.words[i].text;
    if (text.starts_with('-')) continue;
    if (text.find_first_of("$`") != std::string::npos) return;  // what it becomes is not known
    const std::string_view name = name_part(text), rest = std::string_view(text).substr(name.size());
    if (!name.empty() && (rest.empty() || rest[0] == '=' || rest.starts_with("+="))) continue;
    const bool pair = !name.empty() && rest.size() > 1 && rest.find('=') == std::string_view::npos;
    findings.push_back({"export-no-name", Severity::error, place_of(placed, command.words[i]),
                        fmt::format("{} {} sets no variable", command.name(), text),
                        fmt::format("bash: {}: `{}': not a valid identifier", command.name(), text),
                        pair ? fmt::format("{} {}={}", command.name(), name, rest.substr(1))
                             : fmt::format("{} NAME=VALUE, without blanks around =", command.name())});
    return;
  }
}

// Words that ought to be quoted: a directory with a blank in its name parts them.
void check_quotes(const ScriptView& view, std::vector<Finding>& findings) {
  static const std::set<std::string> paths = {
      "PBS_O_WORKDIR", "PBS_NODEFILE", "SLURM_SUBMIT_DIR", "TMPDIR", "SLURM_TMPDIR", "PBS_JOBDIR", "HOME"};
  for (const ScriptLine& line : view.script.body) {
    if (line.here_text) continue;
    for (const VariableUse& use : find_variables(line)) {
      if (!use.bare || use.braces || !paths.contains(use.name)) continue;
      const bool assigned = use.at > 0 && line.text[use.at - 1] == '=';
      if (assigned) continue;
      findings.push_back({"unquoted-path", Severity::note, place_in(line, use.at),
                          fmt::format("${} is not quoted", use.name),
                          "a directory name with a blank becomes two words",
                          fmt::format("\"${}\"", use.name)});
    }
  }
}

// "cd $PBS_O_WORKDIR" under Slurm: without a word, cd enters the home directory. `guarded`: only where it is
// set.
bool enters_variable(const PlacedCommand& placed, const std::string& name) {
  const auto& words = placed.command.words;
  const bool enters = placed.command.name() == "cd" && words.size() == 2 && placed.depth == 0 &&
                      (words[1].text == "$" + name || words[1].text == "${" + name + "}");
  return enters && placed.line->text.find("&&") == std::string::npos;
}

std::string_view counterpart_of(const ScriptView& view, const std::string& name) {
  if (view.slurm()) return name == "PBS_O_WORKDIR" ? "SLURM_SUBMIT_DIR" : "";
  return name == "SLURM_SUBMIT_DIR" ? "PBS_O_WORKDIR" : "";
}

// True where a cd of the script depends on the variable, which is a finding of its own.
bool check_foreign_cd(const ScriptView& view, const std::string& name, std::vector<Finding>& findings) {
  const std::string_view own = counterpart_of(view, name);
  if (own.empty()) return false;
  const auto cd = std::ranges::find_if(
      view.commands, [&](const PlacedCommand& placed) { return enters_variable(placed, name); });
  if (cd == view.commands.end()) return false;
  const bool quoted = cd->command.words[1].quoted;
  if (quoted && view.slurm()) return false;  // cd "" stays, and Slurm starts the job where it was submitted
  findings.push_back({"cd-to-home", Severity::error, cd->place,
                      fmt::format("${} is not set under {}: cd {}", name, view.slurm() ? "Slurm" : "PBS",
                                  quoted ? "does nothing" : "without a directory enters the home directory"),
                      quoted ? "PBS starts a job in the home directory, and the rest of the script runs there"
                             : "the rest of the script runs there, and not where the job was submitted",
                      fmt::format("cd \"${}\" || exit 1", own)});
  return true;
}

void check_variables(const ScriptView& view, std::vector<Finding>& findings) {
  if (view.dialect == Dialect::none) return;
  const std::string_view foreign = view.slurm() ? "PBS_" : "SLURM_";
  std::set<std::string> reported;
  for (const ScriptLine& line : view.script.body) {
    for (const VariableUse& use : find_variables(line)) {
      if (!std::string_view(use.name).starts_with(foreign) || view.script.exports.contains(use.name))
        continue;
      const std::size_t behind = use.name_at + use.name.size();
      if (use.braces && behind < line.text.size() &&
          (line.text[behind] == ':' || line.text[behind] == '-' || line.text[behind] == '+'))
        continue;
      if (!reported.insert(use.name).second || check_foreign_cd(view, use.name, findings)) continue;
      const std::string_view own = counterpart_of(view, use.name);
      findings.push_back(
          {"variable-of-other-scheduler", Severity::warning, place_in(line, use.at),
           fmt::format("${} is not set under {}", use.name, view.slurm() ? "Slurm" : "PBS"),
           "it expands to nothing",
           !own.empty()   ? fmt::format("\"${}\"", own)
           : view.slurm() ? "SLURM_SUBMIT_DIR, SLURM_JOB_ID, SLURM_ARRAY_TASK_ID are the counterparts"
                          : "PBS_O_WORKDIR, PBS_JOBID, PBS_ARRAY_INDEX, PBS_NODEFILE are the counterparts"});
    }
  }
}

bool is_relative(const std::string& word) { return word.starts_with("./") || word.starts_with("../"); }

// "python train.py": the interpreter reads the script from the directory in which the job starts.
bool is_relative_script(const ShellCommand& command, const ShellWord& word) {
  constexpr std::array<std::string_view, 6> endings{".py", ".sh", ".R", ".jl", ".prototxt", ".yaml"};
  const std::string& text = word.text;
  if (&word == &command.words.front() || text.find_first_of("/$~`*=:") != std::string::npos) return false;
  if (command.name() == "export" || command.name() == "echo" || command.name() == "module") return false;
  return !text.starts_with('-') && std::ranges::any_of(endings, [&](std::string_view end) {
    return text.size() > end.size() && text.ends_with(end);
  });
}

// PBS starts a job in the home directory.
void check_dir(const ScriptView& view, std::vector<Finding>& findings) {
  if (!view.pbs()) return;
  for (const PlacedCommand& placed : view.commands) {
    if (placed.command.name() == "cd" || placed.command.name() == "pushd") return;
    for (const ShellWord& word : placed.command.words) {
      if (!is_relative(word.text) && !is_relative_script(placed.command, word)) continue;
      findings.push_back({"no-cd", Severity::warning, place_of(placed, word),
                          fmt::format("{} is looked up in the home directory", word.text),
                          "PBS starts a job there, not where it was submitted",
                          "cd \"$PBS_O_WORKDIR\" before it"});
      return;
    }
  }
}

// What a whole line has, read once for all of its commands.
struct LineMarks {
  bool removes = false;             // "xargs rm -f"
  bool looks_up_processes = false;  // "kill $(pgrep train)"
};

LineMarks read_marks(std::string_view text) {
  const auto has = [text](std::string_view part) { return text.find(part) != std::string_view::npos; };
  return {has("rm -"), has("grep") || has("pidof")};
}

void check_harm(const PlacedCommand& placed, LineMarks marks, std::vector<Finding>& findings) {
  const ShellCommand& command = placed.command;
  const std::string name = command.base_name();
  const bool remove = name == "rm" || marks.removes;
  for (const ShellWord& word : command.words) {
    if (remove && (word.text.find("/dev/shm/*") != std::string::npos || word.text == "/dev/shm" ||
                   word.text == "/tmp/*"))
      findings.push_back({"wipes-shared-directory", Severity::error, place_of(placed, word),
                          fmt::format("removes {}", word.text),
                          "that is also the shared memory of other jobs and of the running MPI",
                          "remove files of your own by name"});
    if (word.text.find("StrictHostKeyChecking=no") != std::string::npos ||
        word.text.find("StrictHostKeyChecking no") != std::string::npos)
      findings.push_back(
          {"host-key-unchecked", Severity::warning, place_of(placed, word), "ssh trusts any host",
           "any machine that answers for a node gets the job's data and the use of your ssh agent",
           "ssh-keyscan the nodes once; ddlrun doctor checks the keys"});
  }
  const bool by_name = name == "killall" || name == "pkill";
  const bool by_grep = name == "kill" && marks.looks_up_processes;
  if (by_name || by_grep)
    findings.push_back({"kills-by-name", Severity::warning, placed.place,
                        fmt::format("{} ends processes by their name", name),
                        "on a shared node this also ends processes of your other jobs",
                        "child=$!, then: kill \"$child\""});
  else if (name == "kill" &&
           (has_word(command, "-9") || has_word(command, "-KILL") || has_word(command, "-SIGKILL")))
    findings.push_back({"kill-9", Severity::warning, placed.place,
                        "kill -9 leaves no time to save or to clean up",
                        "children and shared memory stay behind", "kill (TERM), and -9 only after a while"});
}

// Secrets typed into a script are in every copy of it; both schedulers keep one.
void check_secrets(const ScriptView& view, std::vector<Finding>& findings) {
  for (const auto& [name, line] : view.script.exports) {
    if (!is_secret_name(name) || line.text.empty() || line.text[0] == '$' || line.text[0] == '`') continue;
    findings.push_back({"secret-in-script",
                        Severity::warning,
                        {line.line, 1},
                        fmt::format("the value of {} is in the script", name),
                        "scripts are copied, kept by the scheduler and shown to administrators",
                        fmt::format("{}=$(cat ~/.config/{})", name, "secret")});
  }
}

// Commands that only the other scheduler brings.
constexpr std::array<std::string_view, 7> slurm_commands{"scontrol", "sbatch", "squeue", "scancel",
                                                         "sacct",    "sinfo",  "sbcast"};

bool names_slurm(std::string_view text) {
  return to_lower(text).find("slurm") != std::string::npos ||
         std::ranges::any_of(slurm_commands, [text](std::string_view name) {
           return text.find(name) != std::string_view::npos;
         });
}

// "[ -n "$SLURM_JOB_ID" ]", "command -v scontrol", `case "$SCHED" in slurm)`.
bool tests_for_slurm(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 8> tests{"[",    "[[",    "test", "command",
                                                         "type", "which", "hash", "case"};
  return std::ranges::find(tests, command.base_name()) != tests.end() &&
         std::ranges::any_of(command.words, [](const ShellWord& word) { return names_slurm(word.text); });
}

// "slurm)" of case, also in "slurm|pbs)".
bool is_slurm_pattern(const std::vector<PlacedCommand>& commands, std::size_t at) {
  const ShellCommand& command = commands[at].command;
  if (command.words.size() != 1 || !names_slurm(command.name())) return false;
  if (std::ranges::find(command.keywords, "(") != command.keywords.end()) return false;
  const PlacedCommand* next = &commands[at];
  while (next->command.piped && next != &commands.back()) ++next;
  if (next == &commands.back()) return false;
  const auto& keywords = (next + 1)->command.keywords;
  return !keywords.empty() && keywords.front() == ")";
}

// A script that asks where it runs is for both schedulers.
bool is_for_both(const ScriptView& view) {
  for (std::size_t i = 0; i < view.commands.size(); ++i) {
    const PlacedCommand& placed = view.commands[i];
    if (tests_for_slurm(placed.command) || is_slurm_pattern(view.commands, i)) return true;
    if (std::ranges::any_of(nested_commands(placed.command), tests_for_slurm)) return true;
    const std::string name = placed.command.name();  // "[[ a && -n $SLURM_JOB_ID ]]" is two commands
    if (name == "[[" && placed.line->text.find("SLURM") != std::string::npos) return true;
  }
  return false;
}

void check_commands(const ScriptView& view, std::vector<Finding>& findings) {
  if (!view.pbs() || is_for_both(view)) return;
  for (const PlacedCommand& placed : view.commands) {
    std::vector<ShellCommand> commands = nested_commands(placed.command);
    commands.push_back(placed.command);
    for (const ShellCommand& command : commands) {
      const std::string name = command.base_name();
      if (std::ranges::find(slurm_commands, name) == slurm_commands.end()) continue;
      findings.push_back({"command-of-other-scheduler", Severity::warning, placed.place,
                          fmt::format("{} under PBS", name), fmt::format("bash: {}: command not found", name),
                          "qsub, qstat, qdel, qrerun, or the hosts in \"$PBS_NODEFILE\""});
    }
  }
}

bool has_pipefail(const ScriptView& view) {
  return std::any_of(view.commands.begin(), view.commands.end(), [](const PlacedCommand& placed) {
    return placed.command.name() == "set" && has_word(placed.command, "pipefail");
  });
}

// What makes a failed job look like a good one.
void check_status(const ScriptView& view, std::vector<Finding>& findings) {
  const PlacedCommand* last_launch = nullptr;
  const bool has_status = has_pipefail(view);
  bool waits = false;
  for (const PlacedCommand& placed : view.commands) {
    const bool launch = launch_tool_of(placed.command) != LaunchTool::none;
    if (launch && placed.command.piped && !has_status)
      findings.push_back({"pipe-hides-status", Severity::warning, placed.place,
                          "the launch is piped into another command",
                          "the status is that of the last command of the pipe: a failure looks like success",
                          "set -o pipefail"});
    if (launch) last_launch = &placed;
    waits = waits || placed.command.name() == "wait";
  }
  if (last_launch == nullptr) return;
  if (last_launch->command.background && !waits)
    findings.push_back({"background-unwaited", Severity::error, last_launch->place,
                        "the launch runs in the background, and no wait follows",
                        "the script ends at once, and the scheduler ends the job", "wait as the last line"});
  const PlacedCommand& last = view.commands.back();
  if (last.depth == 0 && last.command.name() == "exit" && last.command.words.size() > 1 &&
      last.command.words[1].text == "0")
    findings.push_back({"exit-0", Severity::warning, last.place, "\"exit 0\" at the end",
                        "the job succeeds whatever the program returned, and dependent jobs start",
                        "remove it, or: exit $?"});
}

}  // namespace

std::vector<Finding> lint_shell(const ScriptView& view) {
  std::vector<Finding> findings;
  check_interpreter(view, findings);
  check_quotes(view, findings);
  check_variables(view, findings);
  check_dir(view, findings);
  const ScriptLine* line = nullptr;
  LineMarks marks;
  for (const PlacedCommand& placed : view.commands) {
    if (placed.line != line) marks = read_marks(placed.line->text);
    line = placed.line;
    check_harm(placed, marks, findings);
    check_exports(placed, findings);
  }
  check_commands(view, findings);
  check_secrets(view, findings);
  check_status(view, findings);
  return findings;
}

}  // namespace ddlrun::job_scripts
