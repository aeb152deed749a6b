// SPDX-License-Identifier: MIT
// Directive lines: what the scheduler refuses, ignores, or reads otherwise than it looks.
#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace ddlrun::job_scripts {

namespace {

Place place_of_directive(const Directive& directive) { return {directive.line, directive.column}; }
const char* system_name(const ScriptView& view) { return view.slurm() ? "sbatch" : "qsub"; }

void check_shebang(const ScriptView& view, std::vector<Finding>& findings) {
  const JobScript& script = view.script;
  if (!script.shebang.empty()) return;
  for (std::size_t i = 1; i < std::min<std::size_t>(script.lines.size(), 20); ++i) {
    if (!script.lines[i].starts_with("#!")) continue;
    findings.push_back({"shebang-not-first",
                        view.pbs() ? Severity::warning : Severity::error,
                        {static_cast<int>(i) + 1, 1},
                        "the #! line is not the first line",
                        "only the first two bytes of the file name an interpreter",
                        "move it to the top"});
    return;
  }
  findings.push_back(
      {"shebang-missing",
       view.pbs() ? Severity::note : Severity::error,
       {1, 1},
       "there is no #! line",
       view.pbs() ? "PBS uses the user's login shell, whatever that is; other schedulers reject the script"
                  : "sbatch: This does not look like a batch script",
       "#!/bin/bash as the first line"});
}

const char* why_unread(Unread unread) {
  switch (unread) {
    case Unread::after_command:
      return "directives are read up to the first command only";
    case Unread::leading_blank:
      return "sbatch ignores, without a warning, a directive that does not start in the first column";
    case Unread::misspelt:
      return "the line is a comment: a directive starts with #SBATCH or #PBS, without a blank";
    case Unread::other_dialect:
      return "the directive is for the other scheduler";
    case Unread::no:
      break;
  }
  return "";
}

std::string id_of(Unread unread) {
  switch (unread) {
    case Unread::after_command:
      return "directive-after-command";
    case Unread::leading_blank:
      return "directive-behind-blank";
    case Unread::misspelt:
      return "directive-misspelt";
    case Unread::other_dialect:
      return "directive-of-other-scheduler";
    case Unread::no:
      break;
  }
  return "directive-unread";
}

void check_unread(const ScriptView& view, std::vector<Finding>& findings) {
  int last_line = 0;
  for (const Directive& directive : view.script.ignored_directives) {
    if (directive.line == last_line) continue;
    last_line = directive.line;
    const bool other = directive.unread == Unread::other_dialect;
    const std::string& text = view.script.lines[static_cast<std::size_t>(directive.line) - 1];
    findings.push_back({id_of(directive.unread),
                        other ? Severity::note : Severity::warning,
                        {directive.line, 1},
                        fmt::format("not read by the scheduler: {}", trim(text)),
                        why_unread(directive.unread),
                        other ? "one scheduler per script; ddlrun convert writes the script for the other"
                              : "move it to the top, starting in the first column"});
  }
}

bool wants_value(const ScriptView& view, const Directive& directive) {
  if (!view.slurm()) return directive.option.size() == 2 && takes_value_pbs(directive.option[1]);
  return takes_value_slurm(directive.option);
}

// "#SBATCH --mem=64G": the whole line.
std::string render_option(const ScriptView& view, const Directive& directive, const std::string& value) {
  return fmt::format("{} {}{}{}", view.slurm() ? "#SBATCH" : "#PBS", directive.option,
                     directive.option.starts_with("--") ? "=" : " ", value);
}

// "= 2" -> "2", "64 GB" -> "64G", "select = 2:ncpus=4" -> "select=2:ncpus=4"; else '_' in the place of a
// blank.
std::string value_without_blanks(const ScriptView& view, std::string_view value) {
  std::string text;
  constexpr std::string_view joints = "=,:+";
  for (std::size_t i = 0; i < value.size(); ++i) {
    const bool joined =
        value[i] == ' ' && (text.empty() || joints.find(text.back()) != joints.npos ||
                            (i + 1 < value.size() && joints.find(value[i + 1]) != joints.npos));
    if (!joined && !(text.empty() && value[i] == '=')) text += value[i];
  }
  const std::size_t blank = text.find(' ');
  if (blank == std::string::npos) return text;
  const std::size_t number = text.find_last_of("=:", blank) + 1;  // 0 where there is none
  std::string unit = text.substr(blank + 1);
  for (char& c : unit) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static const std::set<std::string> units{"K", "KB", "M", "MB", "G", "GB", "T", "TB"};
  if (units.contains(unit) && parse_unsigned(std::string_view(text).substr(number, blank - number)))
    return text.substr(0, blank) + (view.slurm() ? unit.substr(0, 1) : unit.substr(0, 1) + "B");
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

// Words in a row that belong to no option are one error: mostly a value with blanks in it.
void check_stray_words(const ScriptView& view, std::size_t at, std::vector<Finding>& findings) {
  const std::vector<Directive>& all = view.script.directives;
  const Directive& first = all[at];
  const Directive* const before = at > 0 && all[at - 1].line == first.line ? &all[at - 1] : nullptr;
  if (before != nullptr && before->option.empty()) return;  // reported with the first of them
  if (first.value.starts_with("\xE2\x80")) return;          // an odd dash, reported already
  if (view.pbs() && first.value.starts_with('#')) return;   // a comment, reported with the hash
  std::string words = first.value;
  for (std::size_t i = at + 1; i < all.size() && all[i].line == first.line && all[i].option.empty(); ++i)
    words += " " + all[i].value;
  const auto add = [&](std::string what, std::string hint) {
    findings.push_back(
        {"word-in-directive", Severity::error, place_of_directive(first), std::move(what),
         view.slurm() ? "sbatch: Invalid directive found in batch script" : "qsub: directive error",
         std::move(hint)});
  };
  const bool is_value = before != nullptr && !first.value.starts_with('-') &&
                        (!before->value.empty() || wants_value(view, *before));
  if (!is_value) {
    add(fmt::format("\"{}\" belongs to no option", words),
        view.pbs() ? "an option of qsub is a hyphen and one letter: man qsub" : "man sbatch");
    return;
  }
  const std::string joined = before->value + " " + words;
  add(fmt::format("the value of {} contains blanks: {}", before->option, joined),
      render_option(view, *before, value_without_blanks(view, joined)));
}

void check_words(const ScriptView& view, const Directive& directive, std::vector<Finding>& findings) {
  const std::string& line = view.script.lines[static_cast<std::size_t>(directive.line) - 1];
  const Place place = place_of_directive(directive);
  const auto add = [&](const char* id, std::string what, std::string why, std::string hint) {
    findings.push_back({id, Severity::error, place, std::move(what), std::move(why), std::move(hint)});
  };
  if (view.slurm()) {
    if (slurm_option_name(directive.option)) return;
    const auto like = slurm_options_like(directive.option);
    if (like.size() > 1) {
      add("option-ambiguous", fmt::format("{} may be {}", directive.option, join(like, ", ")),
          "sbatch rejects an abbreviation that fits several options", "--" + like.front());
      return;
    }
    const auto near = closest_match(directive.option, all_slurm_options());
    add("option-unknown", fmt::format("sbatch has no option {}", directive.option),
        "sbatch rejects the script with status 255", near ? *near : "man sbatch");
  } else if (directive.option.size() < 2 || !is_pbs_option(directive.option[1])) {
    const bool of_torque = directive.option.size() > 1 && is_torque_option(directive.option[1]);
    if (of_torque && view.torque()) return;
    if (of_torque) {
      add("option-unknown",
          fmt::format("OpenPBS's qsub has no option {}, which is Torque's", directive.option),
          fmt::format("qsub: directive error: {}", trim(line.substr(0, 60))),
          directive.option == "-t"   ? "-J " + directive.value
          : directive.option == "-d" ? fmt::format("cd {} || exit", quote_shell(directive.value))
                                     : "--scheduler torque, if it is for Torque");
      return;
    }
    add("option-unknown", fmt::format("qsub has no option {}", directive.option),
        fmt::format("qsub: directive error: {}", trim(line.substr(0, 60))), "man qsub");
  }
}

void check_value(const ScriptView& view, const Directive& directive, std::vector<Finding>& findings) {
  const Place place = place_of_directive(directive);
  if (directive.value.empty() && wants_value(view, directive) && !has_split_value(view, directive))
    findings.push_back(
        {"value-missing", Severity::error, place, fmt::format("{} without a value", directive.option),
         fmt::format("{} rejects the script", system_name(view)), directive.option + " VALUE"});
  const std::size_t dollar = directive.value.find('$');
  if (dollar != std::string::npos && dollar + 1 < directive.value.size())
    findings.push_back({"variable-in-directive", Severity::warning, place,
                        fmt::format("{} {} is not expanded", directive.option, directive.value),
                        "the shell does not read directives: the scheduler gets the dollar sign",
                        view.slurm()
                            ? "the value itself; %x %j %a %u in file names; or give the option to sbatch"
                            : "the value itself; or give the option to qsub on the command line"});
}

// A hash behind the last option before it.
void check_hash(const ScriptView& view, const Directive& directive, std::vector<Finding>& findings) {
  const std::string& line = view.script.lines[static_cast<std::size_t>(directive.line) - 1];
  const std::size_t hash = line.find('#', static_cast<std::size_t>(std::max(directive.column - 1, 1)));
  if (hash == std::string::npos) return;
  const bool behind_blank = line[hash - 1] == ' ' || line[hash - 1] == '\t';
  if (view.slurm() && !behind_blank && line.find('"') == std::string::npos &&
      line.find('\'') == std::string::npos)
    findings.push_back({"hash-in-value",
                        Severity::warning,
                        {directive.line, static_cast<int>(hash) + 1},
                        fmt::format("\"#\" cuts the value to \"{}\"", directive.value),
                        "sbatch takes the rest of the line for a comment",
                        "use another character, or quote the value"});
  if (view.pbs() && behind_blank)
    findings.push_back({"comment-in-directive",
                        Severity::error,
                        {directive.line, static_cast<int>(hash) + 1},
                        "a comment after a directive",
                        "qsub: directive error: it takes \"#\" and the words behind it for arguments",
                        "put the comment on a line of its own"});
}

// The last of an option counts; earlier ones with another value were probably forgotten.
void check_twice(const ScriptView& view, std::vector<Finding>& findings) {
  std::map<std::string, const Directive*> seen;
  for (const Directive& directive : view.script.directives) {
    if (directive.option.empty()) continue;  // a stray word, reported as such
    std::string key = directive.option;
    if (view.slurm()) key = slurm_option_name(directive.option).value_or(directive.option);
    std::vector<std::string> keys{key};
    if (view.pbs() && directive.option == "-l") {
      keys.clear();
      for (const std::string_view item : split(directive.value, ','))
        keys.push_back("-l " + std::string(item.substr(0, item.find('='))));
    }
    if (view.pbs() && (directive.option == "-W" || directive.option == "-v")) continue;
    for (const std::string& each : keys) {
      const auto [place, fresh] = seen.emplace(each, &directive);
      if (fresh) continue;
      if (place->second->value != directive.value)
        findings.push_back({"option-twice", Severity::warning, place_of_directive(directive),
                            fmt::format("{} is given twice, first in line {}", each, place->second->line),
                            "the last one applies", "keep one"});
      place->second = &directive;
    }
  }
}

}  // namespace

std::vector<Finding> lint_directive_lines(const ScriptView& view) {
  std::vector<Finding> findings;
  if (view.script.directives.empty())
    findings.push_back({"no-directives",
                        Severity::note,
                        {0, 0},
                        "the script has no directives for a scheduler",
                        "there is no #SBATCH and no #PBS line before the first command",
                        "#SBATCH --nodes=2 or #PBS -l select=2:ncpus=8, right under the #! line"});
  check_shebang(view, findings);
  check_unread(view, findings);
  for (std::size_t i = 0; i < view.script.directives.size(); ++i) {
    const Directive& directive = view.script.directives[i];
    if (directive.option.empty()) {
      check_stray_words(view, i, findings);
      continue;
    }
    check_words(view, directive, findings);
    check_value(view, directive, findings);
    const Directive* const next =
        i + 1 < view.script.directives.size() ? &view.script.directives[i + 1] : nullptr;
    if (next == nullptr || next->line != directive.line || next->option.empty())
      check_hash(view, directive, findings);
  }
  check_twice(view, findings);
  return findings;
}

}  // namespace ddlrun::job_scripts
