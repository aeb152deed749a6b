// SPDX-License-Identifier: MIT
#include "schedulers/scripts/job_script.hpp"

#include "base/text/error.hpp"
#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"

#include <fmt/format.h>

#include <set>

namespace ddlrun::job_scripts {

namespace {

constexpr std::string_view slurm_sentinel = "#SBATCH", pbs_sentinel = "#PBS";

std::size_t skip_blanks(std::string_view line) {
  const std::size_t at = line.find_first_not_of(" \t\v\f\r");
  return at == std::string_view::npos ? line.size() : at;
}

bool is_command(std::string_view line) {
  const std::size_t at = skip_blanks(line);
  return at < line.size() && line[at] != '#';
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return result;
}

// "# PBS -N x", "#sbatch -N 2", "##SBATCH": not a directive, though meant as one, or switched off.
Dialect misspelt_dialect(std::string_view line, std::size_t& from) {
  std::size_t at = skip_blanks(line);
  if (at >= line.size() || line[at] != '#') return Dialect::none;
  ++at;
  // Two hashes switch a directive off on purpose: no error.
  while (at < line.size() && (line[at] == ' ' || line[at] == '\t')) ++at;
  const std::string word = upper(line.substr(at, 6));
  Dialect found = Dialect::none;
  std::size_t length = 0;
  if (word == "SBATCH" || word == "SBACTH" || word == "SBTACH" || word == "SBACH ") {
    found = Dialect::slurm;
    length = word == "SBACH " ? 5 : 6;
  } else if (word.starts_with("PBS") && word.size() > 3 &&
             !std::isalnum(static_cast<unsigned char>(word[3]))) {
    found = Dialect::pbs;
    length = 3;
  }
  if (found == Dialect::none) return found;
  from = at + length;
  const std::size_t value = line.find_first_not_of(" \t", from);
  // Prose such as "# PBS is used here" is no directive.
  return value != std::string_view::npos && line[value] == '-' ? found : Dialect::none;
}

void cut_lines(std::string_view text, JobScript& script) {
  for (std::string_view line : split(text, '\n')) {
    if (line.ends_with('\r')) {
      script.has_carriage_returns = true;
      line.remove_suffix(1);
    }
    script.lines.emplace_back(line);
  }
  if (script.lines.size() > 1 && script.lines.back().empty()) script.lines.pop_back();
}

bool has_slurm_directive(const JobScript& script) {
  for (const std::string& line : script.lines) {
    if (line.starts_with(slurm_sentinel)) return true;
    if (is_command(line)) return false;
  }
  return false;
}

// sbatch falls back to #PBS only where there is no #SBATCH; a script with either is taken for that system's.
Dialect find_dialect(const JobScript& script) {
  if (has_slurm_directive(script)) return Dialect::slurm;
  Dialect late = Dialect::none;
  for (const std::string& line : script.lines) {
    if (std::string_view(line).substr(skip_blanks(line)).starts_with(pbs_sentinel)) return Dialect::pbs;
    std::size_t from = 0;
    if (late == Dialect::none) late = misspelt_dialect(line, from);
  }
  return late;
}

// The byte behind the sentinel, and whether the scheduler reads it.
struct Sentinel {
  Dialect dialect = Dialect::none;
  std::size_t behind = 0;
  Unread unread = Unread::no;
};

Sentinel find_sentinel(std::string_view line, Dialect dialect) {
  Sentinel result;
  const std::size_t blanks = skip_blanks(line);
  const std::string_view bare = line.substr(blanks);
  if (bare.starts_with(slurm_sentinel)) {
    result = {Dialect::slurm, blanks + slurm_sentinel.size(), Unread::no};
    if (blanks > 0) result.unread = Unread::leading_blank;  // qsub skips blanks, sbatch does not
  } else if (bare.starts_with(pbs_sentinel)) {
    result = {Dialect::pbs, blanks + pbs_sentinel.size(), Unread::no};
  } else {
    std::size_t from = 0;
    result.dialect = misspelt_dialect(line, from);
    result.behind = from;
    result.unread = Unread::misspelt;
  }
  if (result.dialect != Dialect::none && result.dialect != dialect) result.unread = Unread::other_dialect;
  return result;
}

void read_directives(JobScript& script) {
  // A script that writes another one: what stands in a here-document is not ours.
  std::set<int> here_texts;
  for (const ScriptLine& line : script.body)
    if (line.here_text) here_texts.insert(line.line);
  bool commanded = false;
  for (std::size_t i = 0; i < script.lines.size(); ++i) {
    const std::string& line = script.lines[i];
    const int number = static_cast<int>(i) + 1;
    if (here_texts.contains(number)) continue;
    Sentinel sentinel = find_sentinel(line, script.dialect);
    if (sentinel.dialect == Dialect::none) {
      commanded = commanded || is_command(line);
      continue;
    }
    if (commanded && sentinel.unread != Unread::other_dialect) sentinel.unread = Unread::after_command;
    auto options = sentinel.dialect == Dialect::slurm ? read_slurm_options(line, sentinel.behind, number)
                                                      : read_pbs_options(line, sentinel.behind, number);
    for (Directive& option : options) {
      option.unread = sentinel.unread;
      (sentinel.unread == Unread::no ? script.directives : script.ignored_directives)
          .push_back(std::move(option));
    }
  }
}

void read_exports(JobScript& script) {
  for (const ScriptLine& line : script.body) {
    for (const ShellCommand& command : parse_commands(line)) {
      for (const ShellWord& word : command.assignments) {
        // NAME=value in front of a command is for that command alone.
        if (!command.words.empty() && !command.sets_variables()) continue;
        const std::size_t equals = word.text.find('=');
        // Without the line's text and pieces: a line may set many variables.
        script.exports[word.text.substr(0, equals)] = {
            line.line, word.text.substr(equals + 1), line.last_line, line.damaged, line.here_text, {}};
      }
    }
  }
}

}  // namespace

void refuse_outsized(const JobScript& script) {
  const std::size_t count = script.directives.size() + script.ignored_directives.size();
  if (count <= max_directives) return;
  throw Error(
      ErrorKind::request,
      {fmt::format("the script has {} directives; ddlrun reads at most {}", count, max_directives),
       script.file, "a script without repeated lines: grep -E '^#(SBATCH|PBS)' FILE | sort | uniq -c"});
}

JobScript parse_job_script(std::string_view text, std::string file_name) {
  JobScript script;
  script.file = std::move(file_name);
  cut_lines(text, script);
  if (!script.lines.empty() && script.lines.front().starts_with("#!")) script.shebang = script.lines.front();
  script.dialect = find_dialect(script);
  script.body = read_shell_lines(script.lines);
  read_directives(script);
  read_exports(script);
  return script;
}

}  // namespace ddlrun::job_scripts
