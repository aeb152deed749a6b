// SPDX-License-Identifier: MIT
// Mistyped scripts that the job starts, also behind a launcher: "srun -n 4 python3 trian.py".
#include "base/text/interpreter.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/launch_step.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace ddlrun::job_scripts {

namespace {

bool enters_submit_directory(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 4> places{"$PBS_O_WORKDIR", "${PBS_O_WORKDIR}",
                                                          "$SLURM_SUBMIT_DIR", "${SLURM_SUBMIT_DIR}"};
  return command.words.size() == 2 && std::ranges::find(places, command.words[1].text) != places.end();
}

// A name that the shell leaves as it is, from the working directory.
bool is_plain_path(std::string_view text) {
  return !text.empty() && text.front() != '/' && text.front() != '-' &&
         text.find_first_of("$`~*?[]{}=:") == std::string_view::npos;
}

bool is_script_of_user(std::string_view text) {
  return text.starts_with("./") && (text.ends_with(".py") || text.ends_with(".sh"));
}

// The index of the script that the words from `begin` on start: "python3 -u train.py", "./run.sh".
std::optional<std::size_t> script_from(const std::vector<std::string>& words, std::size_t begin) {
  if (begin >= words.size()) return std::nullopt;
  const std::vector<std::string> command(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end());
  const auto script = find_script(command);
  if (!script || (*script == 0 && !is_script_of_user(command[0]))) return std::nullopt;
  return begin + *script;
}

bool changes_directory(const ShellCommand& command) {
  return has_option(command, {"--chdir", "-D", "--wdir", "-wdir", "-wd"});
}

// The word of the script; nothing where the command starts none. Behind a launcher, or a program such as
// numactl, the first name of an interpreter counts: values of their options have no such name.
const ShellWord* find_started_script(const ShellCommand& command) {
  const std::vector<std::string> words = command.texts();
  if (words.empty() || changes_directory(command)) return nullptr;
  const auto step = read_launch_step(command);
  std::optional<std::size_t> script;
  if (!step && !starts_another(words[0])) {
    script = script_from(words, 0);
  } else {
    if (step && step->program > 0) script = script_from(words, step->program);
    for (std::size_t i = 1; i < words.size() && !script; ++i)
      if (is_python(words[i]) || is_shell(words[i])) script = script_from(words, i);
  }
  return script ? &command.words[*script] : nullptr;
}

class FileRules : private RuleSet {
 public:
  explicit FileRules(const ScriptView& view) : RuleSet(view) {}

  std::vector<Finding> check() {
    if (view_.context.files == nullptr || !directives_of(view_, "chdir", '\0').empty()) return {};
    bool is_at_submission = view_.slurm();  // PBS starts a job in the home directory
    for (const PlacedCommand& placed : view_.commands) {
      const std::string name = placed.command.name();
      if (name == "cd" || name == "pushd") {
        if (!enters_submit_directory(placed.command)) break;
        is_at_submission = true;
      }
      const ShellWord* script = is_at_submission ? find_started_script(placed.command) : nullptr;
      if (script != nullptr && is_plain_path(script->text) && !named_.contains(script->text))
        check_script(placed, *script);
      remember_names(placed.command);
    }
    return std::move(findings_);
  }

 private:
  void check_script(const PlacedCommand& placed, const ShellWord& script) {
    const ScriptFiles& files = *view_.context.files;
    if (files.exists(script.text)) return;
    // Without a similar name the script may be where the job is submitted, which need not be here.
    if (const auto near = files.nearest(script.text))
      add("script-missing", Severity::warning, place_of(placed, script),
          fmt::format("the script {} does not exist", script.text),
          "it is looked up in the directory from which the job is submitted",
          *near + "   # did you mean this?");
  }

  // A line of the job may make a file that a later line starts.
  void remember_names(const ShellCommand& command) {
    for (const ShellWord& word : command.words) named_.insert(word.text);
    for (const ShellWord& target : command.redirections) named_.insert(target.text);
  }

  std::set<std::string> named_;  // in the commands so far
};

}  // namespace

std::vector<Finding> lint_files(const ScriptView& view) { return FileRules(view).check(); }

}  // namespace ddlrun::job_scripts
