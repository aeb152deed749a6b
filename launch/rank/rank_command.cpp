// SPDX-License-Identifier: MIT
#include "launch/rank/rank_command.hpp"

#include "base/os/self_executable.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ddlrun::launch {

namespace {

// A word that stands for ":" and is none of the program's own.
std::string colon_stand_in(const Command& program) {
  std::string word = "%colon%";
  while (std::find(program.begin(), program.end(), word) != program.end()) word += "%";
  return word;
}

bool has_colon(const Command& program) {
  return std::find(program.begin(), program.end(), ":") != program.end();
}

// Called with ddlrun's path as $0: where there is none, the program starts by itself.
constexpr std::string_view without_ddlrun =
    R"(&& exec "$0" "$@"; while [ "$1" != -- ]; do shift; done; shift; exec "$@")";

std::string script_without_ddlrun(bool checks) {
  return (checks ? std::string(trusted_function) + R"([ -x "$0" ] && trusted "$0" )" : R"([ -x "$0" ] )") +
         std::string(without_ddlrun);
}

}  // namespace

std::string wrapper_reason(const RankProgram& program) {
  std::vector<std::string> does;
  if (!program.rank_map.empty()) does.emplace_back("applies the rank map to each rank");
  if (!program.placement_token.empty()) {
    does.emplace_back(program.keep ? "reports the place of each rank"
                                   : "each rank reports its place, then becomes the program");
  }
  if (program.keep)
    does.emplace_back(
        "supervises each rank: reports its state, and ends all its processes when the job ends");
  if (does.empty()) return "a word \":\" would start another program for mpirun";
  return join(does, ", then ");
}

Command plan_rank_command(const RankProgram& program) {
  const bool colons = has_colon(program.program);
  const bool needed = !program.placement_token.empty() || colons ||
                      (!program.rank_map.empty() && program.needs_rank_map) || !program.output_token.empty();
  if (!needed && !program.keep) return program.program;
  Command command;
  if (program.may_lack_ddlrun && !needed)
    command = {"/bin/sh", "-c", script_without_ddlrun(program.checks_ddlrun), program.ddlrun, "exec"};
  else if (program.checks_ddlrun)
    command = guard_own_path({program.ddlrun, "exec"});
  else
    command = {program.ddlrun, "exec"};
  command.insert(command.end(), program.rank_map.begin(), program.rank_map.end());
  if (!program.placement_token.empty())
    command.insert(command.end(), {"--report-placement", program.placement_token});
  if (program.keep) command.push_back("--supervise");
  if (program.keep && !program.status_token.empty()) {
    command.insert(command.end(), {"--monitor", program.status_token});
    if (program.stall_after > 0) {
      command.insert(command.end(), {"--stall-timeout", fmt::format("{}", program.stall_after)});
    }
  }
  if (program.keep && !program.output_token.empty())
    command.insert(command.end(), {"--frame-output", program.output_token});
  else if (program.keep && !program.stderr_token.empty())
    command.insert(command.end(), {"--frame-stderr", program.stderr_token});
  const std::string stand_in = colon_stand_in(program.program);
  if (colons) command.insert(command.end(), {"--colon", stand_in});
  command.push_back("--");
  for (const std::string& word : program.program) command.push_back(word == ":" ? stand_in : word);
  return command;
}

Command restore_colons(Command program, std::string_view stand_in) {
  for (std::string& word : program) {
    if (word == stand_in) word = ":";
  }
  return program;
}

}  // namespace ddlrun::launch
