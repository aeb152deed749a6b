// SPDX-License-Identifier: MIT
#include "schedulers/scripts/rank_variables.hpp"

#include "base/text/shell_lexer.hpp"

#include <algorithm>
#include <array>

namespace ddlrun::job_scripts {

namespace {

struct RankVariable {
  std::string_view name, own;
  bool differs = true;  // from rank to rank
};

constexpr auto rank_variables = std::to_array<RankVariable>({
    {"SLURM_PROCID", "DDLRUN_RANK"},
    {"SLURM_LOCALID", "DDLRUN_LOCAL_RANK"},
    {"SLURM_NODEID", "DDLRUN_NODE_RANK"},
    {"SLURM_TASK_PID", ""},
    {"OMPI_COMM_WORLD_RANK", "DDLRUN_RANK"},
    {"OMPI_COMM_WORLD_LOCAL_RANK", "DDLRUN_LOCAL_RANK"},
    {"OMPI_COMM_WORLD_NODE_RANK", "DDLRUN_LOCAL_RANK"},
    {"PMIX_RANK", "DDLRUN_RANK"},
    {"PMIX_LOCAL_RANK", "DDLRUN_LOCAL_RANK"},
    {"PMI_RANK", "DDLRUN_RANK"},
    {"PMI_ID", "DDLRUN_RANK"},
    {"MPI_LOCALRANKID", "DDLRUN_LOCAL_RANK"},
    {"MPI_LOCALNRANKS", "DDLRUN_LOCAL_SIZE", false},
    {"MV2_COMM_WORLD_RANK", "DDLRUN_RANK"},
    {"MV2_COMM_WORLD_LOCAL_RANK", "DDLRUN_LOCAL_RANK"},
    {"HOROVOD_RANK", "DDLRUN_RANK"},
    {"HOROVOD_LOCAL_RANK", "DDLRUN_LOCAL_RANK"},
    {"SLURM_NTASKS", "DDLRUN_SIZE", false},
    {"SLURM_NPROCS", "DDLRUN_SIZE", false},
    {"SLURM_STEP_NUM_TASKS", "DDLRUN_SIZE", false},
    {"OMPI_COMM_WORLD_SIZE", "DDLRUN_SIZE", false},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", "DDLRUN_LOCAL_SIZE", false},
    {"PMI_SIZE", "DDLRUN_SIZE", false},
});

const RankVariable* find_variable(std::string_view name) {
  const auto found = std::ranges::find(rank_variables, name, &RankVariable::name);
  return found == rank_variables.end() ? nullptr : &*found;
}

// The names that the shell expands in a word, as written.
std::vector<std::string> expanded_names(std::string_view written) {
  std::vector<std::string> names;
  for (const std::size_t at : find_expansions(written)) {
    const std::size_t begin = at + (written.substr(at).starts_with("${") ? 2 : 1);
    std::size_t end = begin;
    while (end < written.size() && is_name(written[end])) ++end;
    names.emplace_back(written.substr(begin, end - begin));
  }
  return names;
}

}  // namespace

void RankVariableFlow::take(const ScriptLine& line, const ShellCommand& command) {
  if (!command.words.empty() && !command.sets_variables()) return;
  for (const ShellWord& word : command.assignments) {
    const std::string name = word.text.substr(0, word.text.find('='));
    const bool is_array = word.text.find("=(") == name.size();
    const std::string source =
        is_array ? "" : find_source(std::string_view(line.text).substr(word.at, word.end - word.at));
    if (source.empty())
      sources_.erase(name);
    else
      sources_[name] = source;
  }
}

std::string RankVariableFlow::find_source(std::string_view written) const {
  for (const std::string& name : expanded_names(written)) {
    if (const auto known = sources_.find(name); known != sources_.end()) return known->second;
    if (is_rank_variable(name)) return name;
  }
  return {};
}

bool is_rank_variable(std::string_view name) {
  const RankVariable* const found = find_variable(name);
  return found != nullptr && found->differs;
}

std::string_view own_variable_for(std::string_view name) {
  const RankVariable* const found = find_variable(name);
  return found == nullptr ? std::string_view() : found->own;
}

std::string rename_rank_variables(std::string_view text, std::vector<std::string>& renamed) {
  std::string result;
  std::size_t taken = 0;
  for (std::size_t at = 0; (at = text.find('$', at)) != std::string_view::npos;) {
    ++at;
    const std::size_t begin = at + (text.substr(at).starts_with('{') ? 1 : 0);
    std::size_t end = begin;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string name(text.substr(begin, end - begin));
    const std::string_view own = own_variable_for(name);
    if (own.empty()) continue;
    result.append(text.substr(taken, begin - taken)).append(own);
    taken = at = end;
    if (std::ranges::find(renamed, name) == renamed.end()) renamed.push_back(name);
  }
  return result.append(text.substr(taken));
}

}  // namespace ddlrun::job_scripts
