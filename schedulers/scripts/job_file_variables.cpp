// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_variables.hpp"

#include "base/text/text.hpp"
#include "schedulers/scripts/job_file_words.hpp"
#include "schedulers/scripts/rank_variables.hpp"
#include "schedulers/scripts/torch_start.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

void JobFileVariables::take(int line, const std::string& text, const std::string& typed) {
  const auto assignment = split_assignment(text);
  const auto& name = assignment.first;
  const auto& value = assignment.second;
  if (starts_ranks_ && is_rendezvous_variable(name)) {
    notes_.push_back({line, text, "ddlrun sets it for each rank (framework: pytorch)", false});
    sets_rendezvous = true;
  } else if (is_thread_variable(name)) {
    if (name == "OMP_NUM_THREADS") threads = parse_unsigned(value, max_count).value_or(0);
    thread_variables_.emplace_back(line, text);
  } else if (is_rank_variable(name)) {
    notes_.push_back({line, text, "left out: the launcher sets it for each rank", false});
  } else if (value.find_first_of("$`") != std::string::npos) {
    if (leave_rank_value(line, text, name, typed)) return;
    setup_.push_back("export " + typed);
    pass_on(name);
  } else {
    std::erase_if(entries, [&](const std::string& entry) { return split_assignment(entry).first == name; });
    entries.push_back(text);
  }
}

bool JobFileVariables::leave_rank_value(int line, const std::string& text, const std::string& name,
                                        const std::string& written) {
  const std::string source = starts_ranks_ ? rank_values.find_source(written) : "";
  if (source.empty()) return false;
  const std::string own(own_variable_for(source));
  notes_.push_back(
      {line, text,
       fmt::format("left out: the batch shell expands ${}, one value for all ranks; for the rank's "
                   "own: program: [bash, -c, '{}=${} exec PROGRAM']",
                   source, name, own.empty() ? source : own),
       true});
  return true;
}

bool JobFileVariables::has(const std::string& name) const {
  return std::ranges::any_of(entries,
                             [&](const std::string& entry) { return split_assignment(entry).first == name; });
}

void JobFileVariables::take_exports(const ScriptLine& line, const ShellCommand& launcher, std::size_t end) {
  for (const auto& [text, typed] : exports_of_launcher(line, launcher, end)) {
    const std::string name = split_assignment(text).first;
    if (has(name) || is_rank_variable(name) || name == "PATH" || name == "LD_LIBRARY_PATH")
      continue;  // launch passes on the paths
    if (text != name)
      take(line.line, text, typed);
    else if (is_rendezvous_variable(name))
      sets_rendezvous = true;
    else if (!is_thread_variable(name))
      entries.push_back(name);
  }
}

void JobFileVariables::pass_on(const std::string& name) {
  if (starts_ranks_ && is_rendezvous_variable(name))
    sets_rendezvous = true;
  else if (!has(name) && !is_thread_variable(name) && !is_rank_variable(name))
    entries.push_back(name);
}

void JobFileVariables::place_thread_variables(bool has_other_runner) {
  for (const auto& [line, text] : thread_variables_) {
    const auto [name, value] = split_assignment(text);
    const bool is_count = name == "OMP_NUM_THREADS", is_plain = value.find_first_of("$`") == value.npos;
    if (has_other_runner && !is_count && is_plain)
      entries.push_back(text);
    else
      notes_.push_back({line, text, explain_thread_variable(name, threads), false});
  }
}

}  // namespace ddlrun::job_scripts
