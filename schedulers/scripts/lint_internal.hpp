// SPDX-License-Identifier: MIT
// Private to the linter: the script as its rules see it, and the rules by theme.
#pragma once

#include "base/text/shell_lexer.hpp"
#include "schedulers/scripts/lint.hpp"
#include "schedulers/scripts/request.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddlrun::job_scripts {

struct PlacedCommand {
  const ScriptLine* line = nullptr;
  ShellCommand command;
  int depth = 0;  // in if, for, while, case, {...}, (...)
  Place place;
};

// What starts the ranks.
enum class LaunchTool { none, mpirun, srun, horovodrun, ddlrun, script };

struct ScriptView {
  const JobScript& script;
  const LintContext& context;
  Dialect dialect;
  ResourceRequest request;
  std::vector<PlacedCommand> commands;

  bool pbs() const { return dialect == Dialect::pbs; }
  bool torque() const {
    return pbs() &&
           (context.pbs_kind == PbsKind::torque ||
            (context.pbs_kind == PbsKind::unspecified && request.torque && request.style != Style::select));
  }
  bool slurm() const { return dialect == Dialect::slurm; }
};
ScriptView make_script_view(const JobScript& script, const LintContext& context);

// Whether the command asks if the program exists ("command -v srun"), or tests a variable whose name begins
// with `variables`: the script is made for several schedulers.
bool asks_for(const ShellCommand& command, std::string_view program, std::string_view variables);

LaunchTool launch_tool_of(const ShellCommand& command);
// The value of "-n 4", "-n4", "--ntasks=4"; nothing if the option is not there.
std::optional<std::string> option_value(const ShellCommand& command,
                                        std::initializer_list<std::string_view> names);
bool has_option(const ShellCommand& command, std::initializer_list<std::string_view> names);
bool has_word(const ShellCommand& command, std::string_view text);
bool launches_by_ddlrun(const ScriptView& view);
// Of a node: as given, or the centre's; 0: not known.
std::uint64_t node_cores(const ScriptView& view);
// Words that only Intel MPI's or MPICH's mpirun understands.
std::vector<ShellWord> intel_options(const ShellCommand& command);
// Whether the words give mpirun several cores for each rank: an option of its own, --map-by or its MCA
// parameter, or a rankfile.
bool gives_cores_of_rank(const ShellCommand& command);
Place place_of(const PlacedCommand& command, const ShellWord& word);
// The directives that set the long Slurm option or the PBS letter.
std::vector<const Directive*> directives_of(const ScriptView& view, std::string_view slurm_name,
                                            char pbs_letter);

// Words behind it belong to no option: its value was written with blanks in it, which has a finding of its
// own.
bool has_split_value(const ScriptView& view, const Directive& directive);

// The remedy of mixed-styles that `--fix` applies: PBS itself scatters the nodes of -l nodes=.
constexpr std::string_view place_is_implied = "without -l place=scatter, which -l nodes= means anyway";

// The status is that of the last wait: a loop that asks `kill -0` first loses it where the child ends before.
constexpr std::string_view wait_loop =
    "until wait \"$child\"; s=$?; ! kill -0 \"$child\" 2>/dev/null; do :; done; exit \"$s\"";

// The input of the rules of a theme: the script, and the findings.
class RuleSet {
 protected:
  explicit RuleSet(const ScriptView& view) : view_(view) {}
  void add(const char* id, Severity severity, Place place, std::string what, std::string why,
           std::string hint) {
    findings_.push_back({id, severity, place, std::move(what), std::move(why), std::move(hint)});
  }

  const ScriptView& view_;
  std::vector<Finding> findings_;
};

std::vector<Finding> lint_text(const ScriptView& view);
std::vector<Finding> lint_directive_lines(const ScriptView& view);
std::vector<Finding> lint_request(const ScriptView& view);
std::vector<Finding> lint_memory(const ScriptView& view);
std::vector<Finding> lint_shell(const ScriptView& view);
std::vector<Finding> lint_launch(const ScriptView& view);
std::vector<Finding> lint_ranks(const ScriptView& view);
std::vector<Finding> lint_threads(const ScriptView& view);
std::vector<Finding> lint_torch(const ScriptView& view);
std::vector<Finding> lint_steps(const ScriptView& view);
std::vector<Finding> lint_signals(const ScriptView& view);
std::vector<Finding> lint_affinity(const ScriptView& view);
std::vector<Finding> lint_files(const ScriptView& view);
std::vector<Finding> lint_site(const ScriptView& view);

}  // namespace ddlrun::job_scripts
