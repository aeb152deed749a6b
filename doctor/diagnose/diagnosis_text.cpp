// SPDX-License-Identifier: MIT
#include "base/text/text.hpp"
#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/sanitize.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_also_seen = 8;
constexpr std::size_t max_other_lines = 3;
constexpr std::size_t line_width = 160;  // of evidence; --json has it whole

std::string render_place(const Place& place) {
  if (place.empty()) return "";
  if (!place.rank) return "host " + sanitize(place.host);
  const std::string rank = fmt::format("rank {}", *place.rank);
  return place.host.empty() ? rank : rank + " on " + sanitize(place.host);
}

// "host n3; in all on n1, n2, n3"
std::string render_where(const Finding& finding, std::uint32_t ranks_of_run) {
  std::string text = render_place(finding.place);
  if (finding.fails_alike) {
    const std::string all = fmt::format("all {} ranks failed alike", ranks_of_run);
    return text.empty() ? all : all + "; the lines are those of " + text;
  }
  // Another rank than that of the first line may have failed first.
  if (ranks_of_run > 1 && finding.all_ranks.size() == ranks_of_run)
    return fmt::format("all {} ranks; the lines are those of {}", ranks_of_run, text);
  if (finding.all_hosts.size() > 1) text += "; also on " + sanitize(join(finding.all_hosts, ", "), 600);
  if (finding.all_ranks.size() > 1) {
    const std::vector<int> ranks(finding.all_ranks.begin(), finding.all_ranks.end());
    text += (text.empty() ? "ranks " : "; ranks ") + render_ranges(ranks);
  }
  return text;
}

// "stderr:7"
std::string render_source(const LogLine& line) {
  return line.line == 0 ? line.source : fmt::format("{}:{}", line.source, line.line);
}

std::string render_lines(const std::vector<LogLine>& lines) {
  std::string text;
  for (const LogLine& line : lines)
    text += fmt::format("  {}: {}\n", render_source(line), shorten(sanitize(line.text), line_width));
  return text;
}

// The evidence and what follows it, as in the log.
std::vector<LogLine> lines_in_order(const Finding& finding) {
  std::vector<LogLine> lines = finding.evidence;
  lines.insert(lines.end(), finding.following.begin(), finding.following.end());
  const bool of_one_log = std::all_of(lines.begin(), lines.end(), [&lines](const LogLine& line) {
    return line.source == lines.front().source;
  });
  if (of_one_log)
    std::sort(lines.begin(), lines.end(), [](const LogLine& a, const LogLine& b) { return a.line < b.line; });
  return lines;
}

std::string render_reference(const std::string& reference) {
  return reference.empty() ? std::string() : fmt::format("reference: {}\n", reference);
}

// Lines that may explain more than the evidence: for a cause of general rules, and for an end without its
// reason.
std::string render_other_lines(const Diagnosis& diagnosis, const Finding& cause) {
  std::vector<LogLine> others;
  for (const LogLine& line : diagnosis.salient_lines) {
    const auto& known = cause.evidence;
    const bool shown = std::any_of(known.begin(), known.end(), [&line](const LogLine& one) {
      return one.source == line.source && one.line == line.line;
    });
    const bool later = cause.kind == SignatureClass::ending && !known.empty() &&
                       known.front().source == line.source && line.line > known.front().line;
    if (!shown && !later && others.size() < max_other_lines) others.push_back(line);
  }
  const std::string_view head = cause.kind == SignatureClass::ending    ? "lines before it:"
                                : cause.kind <= SignatureClass::generic ? "errors before it:"
                                                                        : "other likely lines:";
  return others.empty() ? std::string() : fmt::format("{}\n", head) + render_lines(others);
}

std::string render_cause(const Diagnosis& diagnosis) {
  const Finding& cause = *diagnosis.cause;
  const bool likely = cause.kind == SignatureClass::likely;
  std::string text = fmt::format("{}: {} [{}]\n", likely ? "most likely" : "cause", cause.title, cause.id);
  text += fmt::format("  {}\n", cause.cause);
  const std::string where = render_where(cause, diagnosis.end.ranks);
  if (!where.empty()) text += fmt::format("at: {}\n", where);
  if (!cause.evidence.empty()) text += "evidence:\n" + render_lines(lines_in_order(cause));
  text += render_other_lines(diagnosis, cause) + "try:\n";
  for (const std::string& remedy : cause.remedies) text += fmt::format("  {}\n", remedy);
  return text + render_reference(cause.reference);
}

std::string_view role_of(const Finding& finding) {
  if (finding.is_survived) return "earlier; the run went on";
  switch (finding.kind) {
    case SignatureClass::primary:
      return "another cause";
    case SignatureClass::generic:
      return "less specific";
    case SignatureClass::likely:
      return "likely";
    case SignatureClass::fact:
      return "fits the status";
    case SignatureClass::ending:
      return "how it ended";
    case SignatureClass::secondary:
      return "a consequence";
    case SignatureClass::benign:
      return "harmless by itself";
  }
  return "";
}

std::string render_also_seen(const std::vector<Finding>& findings) {
  if (findings.empty()) return "";
  std::string text = "also seen:\n";
  for (std::size_t i = 0; i < findings.size() && i < max_also_seen; ++i) {
    const Finding& finding = findings[i];
    text += fmt::format("  [{}] {} ({}", finding.id, finding.title, role_of(finding));
    if (!finding.evidence.empty()) {
      text += "; " + render_source(finding.evidence.front());
    }
    text += finding.count > 1 ? fmt::format(", {} times)\n", finding.count) : ")\n";
  }
  if (findings.size() > max_also_seen) {
    text += fmt::format("  and {} more; --json lists all\n", findings.size() - max_also_seen);
  }
  return text;
}

std::string render_first_failing(const FailingRank& failing) {
  const std::string how = failing.how.empty() ? "" : ": " + failing.how;
  return fmt::format("first to fail: {}{} ({})\n", render_place(failing.place), how,
                     render_source(failing.evidence));
}

// The command whose log has the rank on each line.
std::string tagged_run(const Diagnosis& diagnosis) {
  if (!diagnosis.end.tagging.empty()) return diagnosis.end.tagging + " ...";
  return diagnosis.of_srun ? "srun --label ... 2>&1 | tee job.log"
                           : "mpirun --tag-output ... 2>&1 | tee job.log";
}

// Only exit status 0 proves success; without it the log may hold an error that no signature matches.
std::string render_no_trouble(const Diagnosis& diagnosis) {
  const std::string lines = fmt::format("{} line{}", diagnosis.lines, diagnosis.lines == 1 ? "" : "s");
  const auto is_error = [](const Finding& finding) {
    return finding.kind <= SignatureClass::ending && !finding.is_survived;
  };
  if (diagnosis.end.status && std::ranges::any_of(diagnosis.also_seen, is_error))
    return fmt::format(
        "exit status 0 in spite of errors, in a log of {}: the program went on, or its status was lost on "
        "the way\n",
        lines);
  if (diagnosis.end.status) return fmt::format("no trouble found in {}\n", lines);
  std::string text = fmt::format("no known failure in {}\n", lines);
  if (!diagnosis.salient_lines.empty())
    text += "most likely error lines:\n" + render_lines(diagnosis.salient_lines);
  return text + "try, if it failed:\n  ddlrun diagnose ... --status N   # its exit status\n";
}

std::string render_unknown(const Diagnosis& diagnosis) {
  std::string text = "cause: unknown: ";
  const std::string how = diagnosis.first_failing ? diagnosis.first_failing->how : "";
  if (how.starts_with("signal ") || how.starts_with("exit status ") || how.starts_with("error code ") ||
      how.starts_with("Exited with exit code "))
    text += fmt::format("{} ended with {}{}", render_place(diagnosis.first_failing->place),
                        how.starts_with("Exited with ") ? how.substr(12) : how,
                        diagnosis.only_consequences ? " by itself, without an error of its own"
                        : diagnosis.shows_error     ? ""
                                                    : "; its own output may show the reason");
  else if (diagnosis.first_failing && !how.empty() && !how.starts_with("the first rank "))
    text += fmt::format("{} ended: {}", render_place(diagnosis.first_failing->place), how);
  else if (diagnosis.end.status.value_or(0) != 0)
    text += "the run failed, but no known failure matches";
  else
    text += "it looks as if it failed, but no known failure matches";
  text += '\n';
  if (diagnosis.salient_lines.empty()) {
    return text +
           "  the log contains no line that looks like an error\ntry:\n  log the whole output, stderr "
           "included: " +
           tagged_run(diagnosis) + "\n";
  }
  text += diagnosis.only_consequences ? "errors of the other ranks, which are consequences:\n"
                                      : "most likely error lines:\n";
  text += render_lines(diagnosis.salient_lines) + "try:\n";
  if (diagnosis.only_consequences)
    text += fmt::format("  look in the program for what ends it with {}\n",
                        how.starts_with("Exited with ") ? how.substr(12) : how);
  if (!diagnosis.names_ranks && !diagnosis.is_tagged)
    text += "  " + tagged_run(diagnosis) + "   # prints the rank on each line\n";
  return text + "  ddlrun doctor HOSTS   # check the hosts\n";
}

std::string_view class_in_words(SignatureClass kind) {
  switch (kind) {
    case SignatureClass::primary:
      return "a cause";
    case SignatureClass::generic:
      return "general: any other cause in the same log comes first";
    case SignatureClass::likely:
      return "a class of errors: for the most telling line of a log that no other signature explains";
    case SignatureClass::fact:
      return "found by the exit status or by missing output";
    case SignatureClass::ending:
      return "how a rank or the job ended, without the reason";
    case SignatureClass::secondary:
      return "a consequence of another failure, never the cause";
    case SignatureClass::benign:
      return "harmless unless something else failed";
  }
  return "";
}

// What is known before a run; the places to fill in are left as words.
std::string without_braces(std::string_view text) {
  TemplateValues dots;
  dots.value = dots.advice = "...";
  return fill_in(text, dots);
}

}  // namespace

std::string render_signature_line(const Signature& signature) {
  return fmt::format("{:<4} {} {}\n", signature.id, letter_of(signature.kind),
                     without_braces(signature.title));
}

std::string render_signature(const Signature& signature) {
  std::string text = fmt::format("{}: {}\n  {}\n", signature.id, without_braces(signature.title),
                                 without_braces(signature.cause));
  text += fmt::format("class: {} ({})\n", letter_of(signature.kind), class_in_words(signature.kind));
  if (!signature.patterns.empty()) text += "found by:\n";
  for (const MessagePattern& pattern : signature.patterns) {
    std::string lines;
    for (const LinePattern& line : pattern)
      lines += (lines.empty() ? "" : "  then  ") + printable(render_line_pattern(line), SIZE_MAX);
    text += fmt::format("  {}\n", lines);
  }
  for (const HelpTopic& topic : signature.topics) text += fmt::format("  {} / {}\n", topic.file, topic.topic);
  for (const FactRule& fact : signature.facts) {
    text += fmt::format("  exit status {}{}\n", fmt::join(fact.statuses, ", "),
                        fact.from.empty() ? "" : " of " + fact.from);
  }
  text += "try:\n";
  for (const std::string& remedy : signature.remedies) text += fmt::format("  {}\n", without_braces(remedy));
  return text + render_reference(signature.reference);
}

std::string render_diagnosis(const Diagnosis& diagnosis) {
  std::string text;
  if (diagnosis.cause) text += render_cause(diagnosis);
  if (diagnosis.verdict == Verdict::unknown) text += render_unknown(diagnosis);
  if (diagnosis.verdict == Verdict::no_trouble) text += render_no_trouble(diagnosis);
  const bool is_shown =
      diagnosis.cause && diagnosis.first_failing && diagnosis.first_failing->how == diagnosis.cause->title;
  const std::string how = diagnosis.first_failing ? diagnosis.first_failing->how : "";
  // The launcher ends the other ranks by these signals: beside a known cause they would mislead.
  const bool cleaned_up = diagnosis.verdict == Verdict::cause_found &&
                          diagnosis.cause->kind <= SignatureClass::generic &&
                          (how.starts_with("signal 9 ") || how.starts_with("signal 15 "));
  const bool fails_alike = diagnosis.cause && diagnosis.cause->fails_alike;
  if (diagnosis.first_failing && !is_shown && !cleaned_up && !fails_alike)
    text += render_first_failing(*diagnosis.first_failing);
  if (diagnosis.end.status && *diagnosis.end.status != 0) {
    text += fmt::format("exit status: {}{}{}\n", *diagnosis.end.status,
                        diagnosis.status_meaning.empty() ? "" : ": ", diagnosis.status_meaning);
  }
  return text + render_also_seen(diagnosis.also_seen);
}

}  // namespace ddlrun::diagnose
