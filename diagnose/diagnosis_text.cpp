// SPDX-License-Identifier: MIT
#include "base/text.hpp"
#include "diagnose/diagnosis.hpp"
#include "diagnose/finding_book.hpp"
#include "diagnose/line_pattern.hpp"
#include "diagnose/shown_text.hpp"

#include <fmt/format.h>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t also_seen_at_most = 8;

std::string render_place(const Place& place) {
  if (place.empty()) return "";
  if (!place.rank) return "host " + shown(place.host);
  const std::string rank = fmt::format("rank {}", *place.rank);
  return place.host.empty() ? rank : rank + " on " + shown(place.host);
}

// "host n3; in all on n1, n2, n3"
std::string render_where(const Finding& finding) {
  std::string text = render_place(finding.place);
  if (finding.all_hosts.size() > 1) text += "; seen on " + shown(join(finding.all_hosts, ", "), 600);
  if (finding.all_ranks.size() > 1) {
    const std::vector<int> ranks(finding.all_ranks.begin(), finding.all_ranks.end());
    text += "; ranks " + render_ranges(ranks);
  }
  return text;
}

std::string render_lines(const std::vector<LogLine>& lines) {
  std::string text;
  for (const LogLine& line : lines) text += fmt::format("  {}:{}: {}\n", line.source, line.line, line.text);
  return text;
}

std::string render_cause(const Finding& cause) {
  std::string text = fmt::format("cause: {} [{}]\n", cause.title, cause.id);
  text += fmt::format("  {}\n", cause.cause);
  const std::string where = render_where(cause);
  if (!where.empty()) text += fmt::format("at: {}\n", where);
  if (!cause.evidence.empty()) text += "evidence:\n" + render_lines(cause.evidence);
  text += "try:\n";
  for (const std::string& remedy : cause.remedies) text += fmt::format("  {}\n", remedy);
  return text + fmt::format("reference: {}\n", cause.reference);
}

std::string_view weight_of(SignatureClass kind) {
  switch (kind) {
    case SignatureClass::primary:
      return "a cause too";
    case SignatureClass::generic:
      return "says less";
    case SignatureClass::fact:
      return "fits the status";
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
  for (std::size_t i = 0; i < findings.size() && i < also_seen_at_most; ++i) {
    const Finding& finding = findings[i];
    text += fmt::format("  [{}] {} ({}", finding.id, finding.title, weight_of(finding.kind));
    if (!finding.evidence.empty()) {
      text += fmt::format("; {}:{}", finding.evidence.front().source, finding.evidence.front().line);
    }
    text += finding.count > 1 ? fmt::format(", {} times)\n", finding.count) : ")\n";
  }
  if (findings.size() > also_seen_at_most) {
    text += fmt::format("  and {} more; --json lists all\n", findings.size() - also_seen_at_most);
  }
  return text;
}

std::string render_first_failing(const FailingRank& failing) {
  const std::string how = failing.how.empty() ? "" : ": " + failing.how;
  return fmt::format("first to fail: {}{} ({}:{})\n", render_place(failing.place), how,
                     failing.evidence.source, failing.evidence.line);
}

// How to get a log that tells which rank says what.
std::string tagged_again(const Diagnosis& diagnosis) {
  return diagnosis.of_srun ? "srun --label ... 2>&1 | tee job.log"
                           : "mpirun --tag-output ... 2>&1 | tee job.log";
}

// Only a status of 0 says that all went well; without it there may be trouble in words that nobody knows.
std::string render_no_trouble(const Diagnosis& diagnosis) {
  const std::string lines = fmt::format("{} line{}", diagnosis.lines, diagnosis.lines == 1 ? "" : "s");
  if (diagnosis.end.status) return fmt::format("no trouble found in {}\n", lines);
  std::string text = fmt::format("nothing that I know in {}\n", lines);
  if (!diagnosis.telling.empty()) text += "most telling lines:\n" + render_lines(diagnosis.telling);
  return text + "try, if it failed:\n  ddlrun diagnose ... --status N   # its exit status\n";
}

std::string render_unknown(const Diagnosis& diagnosis) {
  std::string text = "cause: not known: it failed, but no signature matches\n";
  const std::string how = diagnosis.first_failing ? diagnosis.first_failing->how : "";
  if (how.starts_with("signal ") || how.starts_with("exit status ")) {
    text += fmt::format("  {} ended with {}{}\n", render_place(diagnosis.first_failing->place), how,
                        diagnosis.shows_error ? "" : "; its own output says more than this log");
  }
  if (diagnosis.telling.empty()) {
    return text +
           "  the log holds no line that looks like an error\ntry:\n  the whole output of the run, stderr "
           "too: " +
           tagged_again(diagnosis) + "\n";
  }
  text += "most telling lines:\n" + render_lines(diagnosis.telling);
  text += "try:\n";
  if (!diagnosis.names_ranks) text += "  " + tagged_again(diagnosis) + "   # shows which rank says what\n";
  return text + "  ddlrun doctor HOSTS   # is it the hosts?\n";
}

std::string_view class_in_words(SignatureClass kind) {
  switch (kind) {
    case SignatureClass::primary:
      return "a cause";
    case SignatureClass::generic:
      return "true, but any cause in the same log says more";
    case SignatureClass::fact:
      return "told by the exit status or by what is missing";
    case SignatureClass::secondary:
      return "a consequence of another failure, never the cause";
    case SignatureClass::benign:
      return "harmless unless something else failed";
  }
  return "";
}

// What is known before a run; the places to fill in are left as words.
std::string without_braces(std::string_view text) {
  const FillIns dots{Place(), "...", "..."};
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
      lines += (lines.empty() ? "" : "  then  ") + render_line_pattern(line);
    text += fmt::format("  {}\n", lines);
  }
  for (const HelpTopic& topic : signature.topics) text += fmt::format("  {} / {}\n", topic.file, topic.topic);
  for (const FactRule& fact : signature.facts) {
    text += fmt::format("  exit status {}{}\n", fmt::join(fact.statuses, ", "),
                        fact.from.empty() ? "" : " of " + fact.from);
  }
  text += "try:\n";
  for (const std::string& remedy : signature.remedies) text += fmt::format("  {}\n", without_braces(remedy));
  return text + fmt::format("reference: {}\n", signature.reference);
}

std::string render_diagnosis(const Diagnosis& diagnosis) {
  std::string text;
  if (diagnosis.cause) text += render_cause(*diagnosis.cause);
  if (diagnosis.verdict == Verdict::unknown) text += render_unknown(diagnosis);
  if (diagnosis.verdict == Verdict::no_trouble) text += render_no_trouble(diagnosis);
  const bool told =
      diagnosis.cause && diagnosis.first_failing && diagnosis.first_failing->how == diagnosis.cause->title;
  if (diagnosis.first_failing && !told) text += render_first_failing(*diagnosis.first_failing);
  if (diagnosis.end.status && *diagnosis.end.status != 0) {
    text += fmt::format("exit status: {}{}{}\n", *diagnosis.end.status,
                        diagnosis.status_meaning.empty() ? "" : ": ", diagnosis.status_meaning);
  }
  return text + render_also_seen(diagnosis.also_seen);
}

}  // namespace ddlrun::diagnose
