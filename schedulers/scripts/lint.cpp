// SPDX-License-Identifier: MIT
#include "schedulers/scripts/lint.hpp"

#include "base/text/printable_path.hpp"
#include "base/text/text.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

constexpr std::size_t most_of_a_kind = 50;

// Repeats of one error are reported so often, then counted.
std::vector<Finding> thin_out(std::vector<Finding> findings) {
  std::map<std::string, std::size_t> counts;
  for (const Finding& finding : findings) ++counts[finding.id];
  std::map<std::string, std::size_t> reported;
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const std::size_t number = ++reported[finding.id];
    if (number > most_of_a_kind) continue;
    if (number == most_of_a_kind && counts[finding.id] > number)
      finding.what += fmt::format(" (and {} more of this kind)", counts[finding.id] - number);
    kept.push_back(std::move(finding));
  }
  return kept;
}

}  // namespace

std::string_view name_of(Severity severity) {
  return severity == Severity::error ? "error" : severity == Severity::warning ? "warning" : "note";
}

std::vector<Finding> lint_script(const JobScript& script, const LintContext& context) {
  const ScriptView view = make_script_view(script, context);
  std::vector<Finding> all;
  for (const auto lint :
       {lint_text, lint_directive_lines, lint_request, lint_memory, lint_shell, lint_launch, lint_ranks,
        lint_threads, lint_torch, lint_steps, lint_signals, lint_affinity, lint_files, lint_site}) {
    for (Finding& finding : lint(view)) all.push_back(std::move(finding));
  }
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
  });
  return thin_out(std::move(all));
}

bool needs_attention(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.severity != Severity::note; });
}

std::string render_counts(const std::vector<Finding>& findings) {
  std::string text;
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    const auto count = std::ranges::count(findings, severity, &Finding::severity);
    if (count > 0)
      text +=
          fmt::format("{}{} {}{}", text.empty() ? "" : ", ", count, name_of(severity), count > 1 ? "s" : "");
  }
  return text.empty() ? "nothing" : text;
}

std::string render_finding(std::string_view file, const Finding& finding) {
  std::string text = printable_path(file);
  if (finding.place.line > 0)
    text += fmt::format(":{}:{}", finding.place.line, std::max(1, finding.place.column));
  text += fmt::format(": {}: {} [{}]\n", name_of(finding.severity), printable(finding.what, 400), finding.id);
  if (!finding.why.empty()) text += fmt::format("  why: {}\n", printable(finding.why, 400));
  return text + fmt::format("  try: {}\n", printable(finding.hint, 400));
}

}  // namespace ddlrun::job_scripts
