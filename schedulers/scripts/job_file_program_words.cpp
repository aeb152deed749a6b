// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_file_program_words.hpp"

#include "base/text/text.hpp"
#include "schedulers/scripts/convert_body.hpp"
#include "schedulers/scripts/rank_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ddlrun::job_scripts {

namespace {

// "NAME=..." and "for NAME in" within the text: its own variable, which no job has to pass on.
bool sets_itself(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; at += name.size()) {
    const std::size_t end = at + name.size();
    const bool begins =
        at == 0 || std::string_view(" \t\n;&|('\"").find(text[at - 1]) != std::string_view::npos;
    if (begins && end < text.size() && text[end] == '=') return true;
    if (begins && text.substr(0, at).ends_with("for ")) return true;
  }
  return false;
}

}  // namespace

ProgramWords read_program_words(const ScriptLine& line, const ShellCommand& command, std::size_t first,
                                const Command& before, bool is_ranks) {
  ProgramWords program;
  const std::size_t begin = command.words[first].at, end = command.words.back().end;
  const std::string written = line.text.substr(begin, end - begin);
  bool is_expanded = false;
  for (const VariableUse& use : find_variables(line)) {
    if (use.at < begin || use.at >= end) continue;
    const std::string used = (use.braces ? "${" : "$") + use.name;
    const bool is_by_shell = shell_expands(written, used);
    is_expanded = is_expanded || is_by_shell;
    if (is_ranks && !own_variable_for(use.name).empty()) continue;
    const bool is_known = std::ranges::find(program.passed_on, use.name) != program.passed_on.end();
    if (!is_known && !is_rank_variable(use.name) && (is_by_shell || !sets_itself(written, use.name)))
      program.passed_on.push_back(use.name);
  }
  const auto rename = [&](const std::string& text) {
    return is_ranks ? rename_rank_variables(text, program.renamed) : text;
  };
  program.words = before;
  if (is_expanded) {
    const std::string head = before.empty() ? "" : render_shell(before) + " ";
    program.words = {"bash", "-c", head + rename(written)};
  } else {
    for (std::size_t i = first; i < command.words.size(); ++i)
      program.words.push_back(rename(command.words[i].text));
  }
  return program;
}

std::string explain_renamed(const std::vector<std::string>& renamed) {
  std::vector<std::string> own;
  for (const std::string& name : renamed) own.push_back("$" + std::string(own_variable_for(name)));
  return fmt::format("replaced by {}, which ddlrun sets for each rank under every launcher", join(own, ", "));
}

}  // namespace ddlrun::job_scripts
