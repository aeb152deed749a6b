// SPDX-License-Identifier: MIT
// The variables that a script sets for its ranks, on their way into a job file.
#pragma once

#include "base/text/shell_lexer.hpp"
#include "schedulers/scripts/rank_variables.hpp"
#include "schedulers/scripts/request.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ddlrun::job_scripts {

class JobFileVariables {
 public:
  // Adds to `notes` and `setup`, which must outlive this object.
  JobFileVariables(bool starts_ranks, std::vector<Unsupported>& notes, std::vector<std::string>& setup)
      : starts_ranks_(starts_ranks), notes_(notes), setup_(setup) {}

  // "NAME=value", `typed` as the script has it. A computed value is computed in the job, by setup.
  void take(int line, const std::string& text, const std::string& typed);
  // "-x A" of the words before `end` passes on what the script or its shell has set, "-x A=1" sets it.
  void take_exports(const ScriptLine& line, const ShellCommand& launcher, std::size_t end);
  // `name` reaches the ranks, with the value that it has in the job.
  void pass_on(const std::string& name);
  // ddlrun launch sets them; with another runner the program has its own.
  void place_thread_variables(bool has_other_runner);

  // True for a value that the batch shell has from a variable of one rank: reported, since it is none for
  // all.
  bool leave_rank_value(int line, const std::string& text, const std::string& name,
                        const std::string& written);
  // Whether another process than the script's own has the program.
  bool starts_ranks() const { return starts_ranks_; }

  std::vector<std::string> entries;  // of the key environment
  std::uint64_t threads = 0;         // by OMP_NUM_THREADS
  RankVariableFlow rank_values;      // of the lines so far
  bool sets_rendezvous = false;      // MASTER_ADDR and its like, which framework pytorch sets

 private:
  bool has(const std::string& name) const;

  bool starts_ranks_;
  std::vector<Unsupported>& notes_;
  std::vector<std::string>& setup_;
  std::vector<std::pair<int, std::string>> thread_variables_;  // "KMP_AFFINITY=compact" of a line
};

}  // namespace ddlrun::job_scripts
