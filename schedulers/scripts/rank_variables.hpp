// SPDX-License-Identifier: MIT
// Variables by which launchers number their ranks. Each rank has its own; the batch shell has those of none,
// or of the first.
#pragma once

#include "base/text/shell_lexer.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::job_scripts {

// Of a launcher, and different from rank to rank: "SLURM_PROCID", "PMI_RANK".
bool is_rank_variable(std::string_view name);

// The number that ddlrun launch gives each rank under every launcher: "DDLRUN_RANK" for "SLURM_PROCID",
// "DDLRUN_SIZE" for "SLURM_NTASKS"; "" where it gives none.
std::string_view own_variable_for(std::string_view name);

// `text` with "$SLURM_PROCID" and "${SLURM_PROCID}" renamed to ddlrun's; the old names are added to
// `renamed`, each once.
std::string rename_rank_variables(std::string_view text, std::vector<std::string>& renamed);

// Which variables of the batch shell have the number of one rank, by its lines in their order.
class RankVariableFlow {
 public:
  // Remembers the assignments of a command that stay in the shell.
  void take(const ScriptLine& line, const ShellCommand& command);
  // The launcher's variable that the shell expands in a word, as written, itself or by another variable of
  // the shell: "SLURM_PROCID"; "" for none.
  std::string find_source(std::string_view written) const;

 private:
  std::map<std::string, std::string, std::less<>> sources_;  // "RANK" has "SLURM_PROCID"
};

}  // namespace ddlrun::job_scripts
