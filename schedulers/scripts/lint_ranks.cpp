// SPDX-License-Identifier: MIT
// The number of a rank, taken where there is no rank yet: by the batch shell.
#include "schedulers/scripts/lint_internal.hpp"
#include "schedulers/scripts/rank_variables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

bool starts_ranks_at(const PlacedCommand& placed) {
  const LaunchTool tool = launch_tool_of(placed.command);
  return tool == LaunchTool::srun || tool == LaunchTool::mpirun || tool == LaunchTool::horovodrun;
}

std::string_view written_of(const PlacedCommand& placed, const ShellWord& word) {
  return std::string_view(placed.line->text).substr(word.at, word.end - word.at);
}

class RankRules : private RuleSet {
 public:
  explicit RankRules(const ScriptView& view) : RuleSet(view) {}
  std::vector<Finding> check() {
    // Without ranks the script is the only process, and its number is right.
    if (std::ranges::none_of(view_.commands, starts_ranks_at)) return {};
    for (const PlacedCommand& placed : view_.commands) {
      if (starts_ranks_at(placed)) check_words(placed);
      check_exports(placed);
      values_.take(*placed.line, placed.command);
    }
    return std::move(findings_);
  }

 private:
  // srun bash -c "echo $SLURM_PROCID"
  void check_words(const PlacedCommand& placed) {
    for (const ShellWord& word : placed.command.words) {
      const std::string source = values_.find_source(written_of(placed, word));
      if (source.empty()) continue;
      add("rank-variable-early", Severity::warning, place_of(placed, word),
          fmt::format("${} is expanded by the batch shell", source),
          "every rank gets the same value: that of the batch shell, 0 or nothing",
          "bash -c '...' in single quotes");
    }
  }

  // "export RANK=$SLURM_PROCID", "RANK=$SLURM_PROCID; export RANK" and "RANK=$SLURM_PROCID srun"
  void check_exports(const PlacedCommand& placed) {
    const ShellCommand& command = placed.command;
    const bool exports = command.name() == "export" || (command.sets_variables() && has_word(command, "-x"));
    if (!exports && !starts_ranks_at(placed)) return;
    for (const ShellWord& word : command.assignments)
      report(placed, word, word.text.substr(0, word.text.find('=')),
             values_.find_source(written_of(placed, word)));
    if (!exports) return;
    for (const ShellWord& word : command.words)
      report(placed, word, word.text, values_.find_source("$" + word.text));
  }

  void report(const PlacedCommand& placed, const ShellWord& word, const std::string& name,
              const std::string& source) {
    if (source.empty() || name == source) return;
    add("rank-variable-early", Severity::warning, place_of(placed, word),
        fmt::format("{} has the batch shell's ${}", name, source),
        "the shell expands it once, before the ranks start: every rank gets that value, 0 or nothing",
        fmt::format("without it: {} bash -c '{}=${} exec PROGRAM', in single quotes",
                    view_.slurm() ? "srun" : "mpirun", name, source));
  }

  RankVariableFlow values_;
};

}  // namespace

std::vector<Finding> lint_ranks(const ScriptView& view) { return RankRules(view).check(); }

}  // namespace ddlrun::job_scripts
