// SPDX-License-Identifier: MIT
#include "schedulers/scripts/lint_fix.hpp"

#include "base/text/shell_lexer.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::job_scripts {

namespace {

struct Replacement {
  std::string_view bytes, by;
};
constexpr std::array replacements{
    Replacement{"\xC2\xA0", " "},      Replacement{"\xE3\x80\x80", " "},  Replacement{"\xE2\x80\x8B", ""},
    Replacement{"\xE2\x80\x93", "-"},  Replacement{"\xE2\x80\x94", "--"}, Replacement{"\xE2\x88\x92", "-"},
    Replacement{"\xE2\x80\x9C", "\""}, Replacement{"\xE2\x80\x9D", "\""}, Replacement{"\xE2\x80\x98", "'"},
    Replacement{"\xE2\x80\x99", "'"},
};

void trim_end(std::string& line) { line.resize(line.find_last_not_of(" \t") + 1); }

bool replace_odd_bytes(std::string& line, std::size_t at) {
  for (const Replacement& one : replacements) {
    if (line.compare(at, one.bytes.size(), one.bytes) != 0) continue;
    line.replace(at, one.bytes.size(), one.by);
    return true;
  }
  return false;
}

// "$NAME" at `at` in double quotes.
bool quote_variable(std::string& line, std::size_t at) {
  if (at >= line.size() || line[at] != '$') return false;
  std::size_t end = at + 1;
  while (end < line.size() && is_name(line[end])) ++end;
  line.insert(end, "\"");
  line.insert(at, "\"");
  return true;
}

// "cd $PBS_O_WORKDIR" at `at` by the line of the hint; what follows the directory stays.
bool replace_cd(const Finding& finding, std::string& line, std::size_t at) {
  const std::size_t word = line.find_first_not_of(" \t", line.find_first_of(" \t", at));
  if (word == std::string::npos) return false;
  const std::size_t end = std::min(line.find_first_of(" \t;", word), line.size());
  const bool alone = line.find_first_not_of(" \t", end) == std::string::npos;
  line.replace(at, end - at, alone ? finding.hint : finding.hint.substr(0, finding.hint.find(" || ")));
  return true;
}

// The value of "export NAME=VALUE", the finding's remedy, in the line's own assignment; all else stays.
bool replace_value(const Finding& finding, std::string& line) {
  constexpr std::string_view keyword = "export ";
  if (!finding.hint.starts_with(keyword)) return false;
  const std::string assignment = finding.hint.substr(keyword.size());
  const std::string name = assignment.substr(0, assignment.find('=') + 1);
  ScriptLine shell;
  shell.text = line;
  for (const ShellCommand& command : parse_commands(shell)) {
    for (const ShellWord& word : command.assignments) {
      if (!word.text.starts_with(name)) continue;
      line.replace(word.at, word.end - word.at, assignment);
      return true;
    }
  }
  return false;
}

bool fix_line(const Finding& finding, std::string& line) {
  const std::size_t at = finding.place.column > 0 ? static_cast<std::size_t>(finding.place.column) - 1 : 0;
  const std::string& id = finding.id;
  if (at > line.size()) return false;
  if (id == "odd-blank" || id == "odd-dash" || id == "odd-quote") return replace_odd_bytes(line, at);
  if (id == "unquoted-path") return quote_variable(line, at);
  if (id == "cd-to-home") return replace_cd(finding, line, at);
  if (id == "kmp-trailing" || id == "kmp-compact" || id == "blocktime" || id == "master-is-localhost")
    return replace_value(finding, line);
  if (id == "backslash-blank") {
    trim_end(line);
    return true;
  }
  if (id == "web-page-remains") {
    line.resize(at);
    trim_end(line);
    line += " \\";
    return true;
  }
  return false;
}

// From the last byte of the file to the first, so that a place stays where it was found.
std::vector<Finding> fix_lines(const std::vector<Finding>& findings, std::vector<std::string>& lines) {
  std::vector<Finding> fixed;
  for (auto finding = findings.rbegin(); finding != findings.rend(); ++finding) {
    const auto number = static_cast<std::size_t>(std::max(0, finding->place.line));
    if (finding->id == "byte-order-mark") {
      lines.front().erase(0, 3);
    } else if (finding->id == "bash-under-sh") {
      lines.front() = finding->hint;
    } else if (finding->id != "crlf" &&
               (number == 0 || number > lines.size() || !fix_line(*finding, lines[number - 1]))) {
      continue;
    }
    fixed.insert(fixed.begin(), *finding);
  }
  return fixed;
}

// Before the first command: behind all directives, and in no branch.
void insert_first(const ScriptView& view, const std::string& line, std::vector<std::string>& lines) {
  const auto first = static_cast<std::ptrdiff_t>(view.commands.front().line->line) - 1;
  lines.insert(lines.begin() + first, line);
}

// One host for each chunk is meant where a chunk has several ranks. Chunks of one rank may be meant to share
// hosts, and with place=scatter they might never start.
bool means_hosts(const ResourceRequest& request) {
  return std::ranges::all_of(request.chunks, [](const Chunk& chunk) { return chunk.tasks > 1; });
}

// A directive, behind that of the finding.
void insert_directive(const Finding& finding, std::vector<std::string>& lines) {
  lines.insert(lines.begin() + finding.place.line, finding.hint);
}

// "place=scatter" of an -l option, with the option where it has nothing else, and the line likewise.
bool remove_place(const JobScript& script, std::vector<std::string>& lines) {
  constexpr std::string_view place = "place=scatter";
  for (const Directive& directive : script.directives) {
    const auto items = split(directive.value, ',');
    if (directive.option != "-l" || std::ranges::find(items, place) == items.end()) continue;
    const auto number = static_cast<std::ptrdiff_t>(directive.line) - 1;
    std::string& line = lines[static_cast<std::size_t>(number)];
    const auto option = static_cast<std::size_t>(directive.column) - 1;
    std::size_t at = line.find(place, option), length = place.size();
    if (at == std::string::npos) return false;
    if (items.size() == 1) {
      const std::size_t from = line[option - 1] == ' ' ? option - 1 : option;
      length += at - from;
      at = from;
    } else {
      ++length;  // its comma
      if (line[at - 1] == ',') --at;
    }
    line.erase(at, length);
    trim_end(line);
    if (line == "#PBS") lines.erase(lines.begin() + number);
    return true;
  }
  return false;
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

JobScript parsed(const std::vector<std::string>& lines, const JobScript& script) {
  return parse_job_script(joined_lines(lines), script.file);
}

}  // namespace

namespace {

// Corrections that add or remove a line.
bool fix_lines_around(const Finding& finding, const ScriptView& view, std::vector<std::string>& lines) {
  const std::string& id = finding.id;
  if (id == "no-cd")
    insert_first(view, "cd \"$PBS_O_WORKDIR\" || exit 1", lines);
  else if (id == "export-starves-ranks")
    insert_first(view, finding.hint, lines);
  else if (id == "requeue-truncates" || (id == "place-missing" && means_hosts(view.request)))
    insert_directive(finding, lines);
  else
    return id == "mixed-styles" && finding.hint == place_is_implied && remove_place(view.script, lines);
  return true;
}

}  // namespace

FixedScript fix_script(const JobScript& script, const LintContext& context) {
  FixedScript result;
  std::vector<std::string> lines = script.lines;
  result.fixed = fix_lines(lint_script(script, context), lines);
  // What the bytes of a line hid is found only now.
  for (Finding& finding : fix_lines(lint_script(parsed(lines, script), context), lines))
    result.fixed.push_back(std::move(finding));
  const JobScript clean = parsed(lines, script);
  const ScriptView view = make_script_view(clean, context);
  const auto findings = lint_script(clean, context);
  bool has_unset = false;  // one line serves all steps
  for (auto finding = findings.rbegin(); finding != findings.rend(); ++finding) {
    const bool is_there = finding->id == "export-starves-ranks" && std::exchange(has_unset, true);
    if (is_there || fix_lines_around(*finding, view, lines)) result.fixed.push_back(*finding);
  }
  result.text = joined_lines(lines);
  result.remaining = lint_script(parsed(lines, script), context);
  return result;
}

}  // namespace ddlrun::job_scripts
