// SPDX-License-Identifier: MIT
// The shell lines of a script, changed in place: only what names the scheduler is touched.
#pragma once

#include "base/text/shell_lexer.hpp"
#include "schedulers/scripts/job_script.hpp"
#include "schedulers/scripts/request.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::job_scripts {

// Replaces bytes of one physical line.
struct Edit {
  int line = 0;
  std::size_t at = 0;  // 0-based
  std::size_t length = 0;
  std::string text;
};

// A variable of a scheduler in shell text: $NAME or ${NAME...}.
struct VariableUse {
  std::string name;
  std::size_t at = 0;  // of the '$'
  std::size_t name_at = 0;
  bool braces = false;
  bool bare = false;  // outside quotes and arithmetic
};
std::vector<VariableUse> find_variables(const ScriptLine& line);

Edit edit_at(const ScriptLine& line, std::size_t at, std::size_t length, std::string text);
// The physical lines with the edits done; one inside another gives way to the larger one.
std::vector<std::string> apply_edits(std::vector<std::string> lines, std::vector<Edit> edits);

// What both directions share.
struct BodyChange {
  std::vector<Edit> edits;
  std::vector<Unsupported> unsupported;
  std::set<std::string> kept_names;  // variables of the old scheduler that are still used
};
// Renames variables by `names`; those of the family (`prefix`) without a counterpart stay and are collected.
void rename_variables(const JobScript& script, const std::map<std::string, std::string>& names,
                      std::string_view prefix, BodyChange& change);
// Commands within words: of "$(...)", of backquotes, and of what trap, eval and sh -c are given.
std::vector<ShellCommand> nested_commands(const ShellCommand& command);
// Mends "</p>" at line ends.
void mend_damage(const JobScript& script, BodyChange& change);

BodyChange change_body_to_slurm(const JobScript& script, const ResourceRequest& request);
BodyChange change_body_to_pbs(const JobScript& script, const ResourceRequest& request);
// Shell lines in front of the body; empty if there is nothing to prepare.
std::vector<std::string> prepare_for_slurm(const JobScript& script, const ResourceRequest& request,
                                           const BodyChange& change);
std::vector<std::string> prepare_for_pbs(const JobScript& script, const ResourceRequest& request,
                                         const BodyChange& change);

}  // namespace ddlrun::job_scripts
