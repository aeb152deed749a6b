// SPDX-License-Identifier: MIT
// Bytes that neither scheduler nor shell takes as meant: line ends, odd blanks, what a web page left.
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

namespace ddlrun::job_scripts {

namespace {

struct OddBytes {
  std::string_view bytes;
  std::string_view id;
  std::string_view what;
  std::string_view hint;
};
constexpr OddBytes odd_bytes[] = {
    {"\xC2\xA0", "odd-blank", "a no-break space", "a plain blank"},
    {"\xE3\x80\x80", "odd-blank", "an ideographic space", "a plain blank"},
    {"\xE2\x80\x8B", "odd-blank", "a zero-width space", "delete it"},
    {"\xE2\x80\x93", "odd-dash", "an en dash", "a plain hyphen, -"},
    {"\xE2\x80\x94", "odd-dash", "an em dash", "two plain hyphens, --"},
    {"\xE2\x88\x92", "odd-dash", "a minus sign", "a plain hyphen, -"},
    {"\xE2\x80\x9C", "odd-quote", "a typographic quote", "a plain quote, \""},
    {"\xE2\x80\x9D", "odd-quote", "a typographic quote", "a plain quote, \""},
    {"\xE2\x80\x98", "odd-quote", "a typographic quote", "a plain quote, '"},
    {"\xE2\x80\x99", "odd-quote", "a typographic quote", "a plain quote, '"},
};

// In comments anything goes; a dash matters only where an option begins.
void check_line(const std::string& line, int number, bool directive, std::vector<Finding>& findings) {
  const std::size_t comment = directive ? std::string::npos : line.find(" #");
  for (const OddBytes& odd : odd_bytes) {
    const std::size_t at = line.find(odd.bytes);
    if (at == std::string::npos || at > comment) continue;
    if (odd.id == "odd-dash" && at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t') continue;
    findings.push_back({std::string(odd.id),
                        Severity::error,
                        {number, static_cast<int>(at) + 1},
                        fmt::format("{}, from a web page or a word processor", odd.what),
                        directive ? "the scheduler refuses the line or reads another value"
                                  : "the shell takes it for part of a word",
                        std::string(odd.hint)});
  }
}

void check_continuation(const ScriptView& view, std::size_t index, std::vector<Finding>& findings) {
  const std::string& line = view.script.lines[index];
  const int number = static_cast<int>(index) + 1;
  const std::size_t end = line.find_last_not_of(" \t");
  if (end == std::string::npos || line[end] != '\\') return;
  const bool has_blank = end + 1 < line.size();
  const std::string_view next =
      index + 1 < view.script.lines.size() ? trim(view.script.lines[index + 1]) : std::string_view();
  if (has_blank) {
    findings.push_back(
        {"backslash-blank",
         Severity::error,
         {number, static_cast<int>(end) + 1},
         "a blank after the backslash: the line is not continued",
         "the command ends here with a blank as its last argument; the next line is a command of its "
         "own",
         "delete the blanks at the end of the line"});
  } else if (next.starts_with('#')) {
    findings.push_back({"continued-into-comment",
                        Severity::warning,
                        {number, static_cast<int>(end) + 1},
                        "the command continues in a comment line",
                        "the text after the comment is lost",
                        "delete the backslash, or move the comment"});
  } else if (next.empty()) {
    findings.push_back({"continued-into-nothing",
                        Severity::note,
                        {number, static_cast<int>(end) + 1},
                        "a backslash before an empty line",
                        "the command ends here",
                        "delete the backslash"});
  }
}

// stdin has no file that could be changed in place.
bool is_stdin(const JobScript& script) { return script.file == "-"; }

}  // namespace

std::vector<Finding> lint_text(const ScriptView& view) {
  std::vector<Finding> findings;
  const JobScript& script = view.script;
  if (script.has_carriage_returns)
    findings.push_back({"crlf",
                        Severity::error,
                        {1, 1},
                        "lines end with CR LF",
                        "qsub reports \"script contains cr, lf\", sbatch refuses DOS line breaks",
                        is_stdin(script) ? "tr -d '\\r' < FILE"
                                         : fmt::format("sed -i 's/\\r$//' {}", quote_shell(script.file))});
  if (!script.lines.empty() && script.lines.front().starts_with("\xEF\xBB\xBF"))
    findings.push_back({"byte-order-mark",
                        Severity::error,
                        {1, 1},
                        "the file begins with a byte order mark",
                        "the system then does not find the #! line",
                        is_stdin(script)
                            ? "tail -c +4 FILE"
                            : fmt::format("sed -i '1s/^\\xEF\\xBB\\xBF//' {}", quote_shell(script.file))});
  std::vector<bool> here(script.lines.size() + 1, false);
  for (const ScriptLine& line : script.body)
    if (line.here_text) here[static_cast<std::size_t>(line.line)] = true;
  std::vector<bool> directives(script.lines.size() + 1, false);
  for (const Directive& directive : script.directives)
    directives[static_cast<std::size_t>(directive.line)] = true;
  for (std::size_t i = 0; i < script.lines.size(); ++i) {
    const int number = static_cast<int>(i) + 1;
    if (here[static_cast<std::size_t>(number)]) continue;
    const bool directive = directives[static_cast<std::size_t>(number)];
    if (!directive && trim(script.lines[i]).starts_with('#')) continue;
    check_line(script.lines[i], number, directive, findings);
    if (!directive) check_continuation(view, i, findings);
    const std::string_view tail = damaged_tail(script.lines[i]);
    if (!tail.empty())
      findings.push_back(
          {"web-page-remains",
           Severity::error,
           {number, static_cast<int>(script.lines[i].size() - tail.size()) + 1},
           fmt::format("\"{}\" at the end of the line stands in place of a backslash", trim(tail)),
           "the shell reads \"<\" as a redirection: No such file or directory",
           "a single \\ as the last character"});
  }
  return findings;
}

}  // namespace ddlrun::job_scripts
