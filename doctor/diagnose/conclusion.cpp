// SPDX-License-Identifier: MIT
#include "doctor/diagnose/conclusion.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/exit_status.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/log_end.hpp"
#include "doctor/diagnose/message_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t few_lines = 3;
constexpr int min_explaining_score = 75;  // a crash in the launcher's words has less
constexpr int min_likely_score = 60;      // where the run certainly failed; else min_failure_score

// The command that prints each line's rank before it, for the launcher of this run.
std::string tagging_command(const Diagnosis& diagnosis) {
  if (diagnosis.end.of_launch) return "ddlrun launch --rank-output prefix";
  return diagnosis.of_srun ? "srun --label" : "mpirun --tag-output";
}

LogLine in_source(LogLine line, const LogFacts& log, std::uint32_t source) {
  line.source = log.sources[source];
  return line;
}

bool ended_well(const RunStatus& end) { return end.status && *end.status == 0; }

// The host that a remedy means where its message names none: the one that failed, or the only one of the log.
std::string likely_host(const LogFacts& log) {
  const auto ended = log.matches.first_failed_rank(log.sources);
  if (ended && !ended->place.host.empty()) return ended->place.host;
  return log.hosts.size() == 1 ? *log.hosts.begin() : std::string();
}

// A finding with the texts of `signature` for a message; the caller adds title and evidence.
Finding finding_for(const Signature& signature, Place place, const std::string& message, const LogFacts& log,
                    const Diagnosis& diagnosis) {
  TemplateValues with;
  with.place = place;
  with.tagged = tagging_command(diagnosis);
  with.value = value_in(signature, message);
  if (with.value.empty()) with.value = diagnosis.status_meaning;
  with.path = path_in(message);
  with.library = library_in(message);
  if (with.place.host.empty()) with.place.host = likely_host(log);
  Finding finding = finding_of(signature, with);
  finding.place = std::move(place);
  return finding;
}

// The lines after an error's own, where they were kept.
std::string text_after(const LogFacts& log, std::uint32_t source, std::uint64_t line) {
  std::string text;
  for (const SalientLine& kept : log.salient.kept()) {
    if (kept.source != source || kept.line.line != line) continue;
    for (const EvidenceLine& next : kept.following) text += '\n' + next.text;
  }
  return text;
}

// What the message itself advises comes first.
void add_advice(Finding& finding, const std::string& message) {
  const std::string advice = advice_in(message);
  if (!advice.empty()) finding.remedies.insert(finding.remedies.begin(), "as the log advises: " + advice);
}

// Where no line has a rank before it, the next log of several ranks should have.
void add_tagging(Finding& finding, const LogFacts& log, const Diagnosis& diagnosis) {
  const bool has_launcher =
      log.of_mpi || diagnosis.of_srun || diagnosis.end.of_launch || diagnosis.end.from == LogSource::mpirun;
  if (!log.names_ranks && has_launcher)
    finding.remedies.push_back(tagging_command(diagnosis) + " ...   # prints the rank on each line");
}

void insert_before(std::vector<Finding>& findings, SignatureClass kind, Finding finding) {
  const auto at =
      std::find_if(findings.begin(), findings.end(), [kind](const Finding& f) { return f.kind >= kind; });
  findings.insert(at, std::move(finding));
}

bool fact_holds(const FactRule& fact, const Signature& signature, const LogFacts& log,
                const Diagnosis& diagnosis) {
  const auto& end = diagnosis.end;
  // PBS's negative statuses are its own codes, not signals.
  if (end.from == LogSource::pbs && end.status.value_or(0) < 0 && fact.from.empty()) return false;
  std::uint64_t noise = 0;
  for (const Finding& finding : diagnosis.also_seen)
    noise += finding.kind == SignatureClass::benign ? finding.count : 0;
  const bool is_silent = log.last_lines.empty() || diagnosis.lines <= noise;
  // A signal in the status is not the cause where the log has a likely explanation, even an unknown one.
  const bool by_status_alone = !fact.log_is_empty && fact.last_line_has.empty();
  const bool is_explained = log.salient.highest_score() >= min_explaining_score;
  if (signature.kind == SignatureClass::fact && by_status_alone && is_explained) return false;
  if (fact.log_is_empty && !is_silent) return false;
  if (!fact.last_line_has.empty() &&
      (log.last_lines.empty() || log.last_lines.back().text.find(fact.last_line_has) == std::string::npos))
    return false;
  if (!fact.from.empty() && log_source_named(fact.from) != end.from) return false;
  const auto& all = fact.statuses;
  return all.empty() || (end.status && std::find(all.begin(), all.end(), *end.status) != all.end());
}

bool exited_itself(const FailingRank& rank) {
  return rank.how.starts_with("exit status ") || rank.how.starts_with("Exited with exit code ");
}

// Rules on facts rank behind causes that a text has shown.
void add_facts(Diagnosis& diagnosis, const LogFacts& log) {
  // Where a rank exited with a status, the launcher ended the other ranks: their signal is not the cause.
  const auto ended = log.matches.first_failed_rank(log.sources);
  const bool by_status = ended && ended->how.starts_with("exit status ");
  for (const Signature& signature : log.signatures.signatures) {
    if (by_status && signature.kind == SignatureClass::fact) continue;
    const bool holds = std::any_of(signature.facts.begin(), signature.facts.end(), [&](const FactRule& fact) {
      return fact_holds(fact, signature, log, diagnosis);
    });
    if (!holds) continue;
    const auto known = [&](const Finding& finding) { return finding.id == signature.id; };
    if (std::any_of(diagnosis.also_seen.begin(), diagnosis.also_seen.end(), known)) continue;
    Finding finding = finding_for(signature, ended ? ended->place : Place(), "", log, diagnosis);
    finding.kind = SignatureClass::fact;
    for (const auto& found : log.salient.best(4))
      finding.evidence.push_back(in_source(found.line, log, found.source));
    insert_before(diagnosis.also_seen, SignatureClass::ending, std::move(finding));
  }
}

bool shows_line(const Finding& finding, const std::string& source, std::uint64_t line) {
  return std::any_of(finding.evidence.begin(), finding.evidence.end(),
                     [&](const LogLine& l) { return l.source == source && l.line == line; });
}

// The first exception that is the cause of what follows it, or nullptr.
const PythonException* causing_exception(const std::vector<Finding>& findings, const LogFacts& log) {
  const PythonException* first = nullptr;
  for (const PythonException& one : log.tracebacks.exceptions()) {
    const std::uint64_t line = one.evidence.back().line;
    const bool is_consequence =
        one.is_consequence || std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
          return f.kind >= SignatureClass::ending && shows_line(f, log.sources[one.source], line);
        });
    if (!is_consequence && (first == nullptr || is_earlier(one.moment, first->moment))) first = &one;
  }
  return first;
}

// An exception is a cause unless a signature explains its text.
void add_exception(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const PythonException* exception = causing_exception(findings, log);
  const Signature* signature = find_signature(log.signatures, python_exception_id);
  if (exception == nullptr || signature == nullptr) return;
  const std::string& source = log.sources[exception->source];
  const EvidenceLine& frame = exception->evidence.front();
  const auto explains = [&](const Finding& finding) {
    return finding.kind <= SignatureClass::generic &&
           shows_line(finding, source, exception->evidence.back().line);
  };
  const auto explained = std::find_if(findings.begin(), findings.end(), explains);
  if (explained != findings.end()) {
    // The signature explains it; the place is that of the program.
    if (!shows_line(*explained, source, frame.line))
      explained->evidence.insert(explained->evidence.begin(), {source, frame.line, frame.text});
    return;
  }

  Place place = exception->place;
  if (place.host.empty() && place.rank) place.host = log.matches.host_of(*place.rank);
  const std::string message = exception->headline();
  const Signature* error = error_class(log.signatures, message);
  Finding finding = finding_for(error == nullptr ? *signature : *error, place, message, log, diagnosis);
  finding.id = signature->id;
  finding.kind = SignatureClass::generic;
  finding.reference = signature->reference;
  finding.title = message;
  if (!exception->file.empty()) finding.title += fmt::format(" ({}:{})", exception->file, exception->line);
  for (const EvidenceLine& line : exception->evidence)
    finding.evidence.push_back({source, line.line, line.text});

  if (!exception->file.empty()) {
    const std::uint64_t line = exception->line;
    finding.remedies.insert(
        finding.remedies.begin(),
        fmt::format("sed -n {},{}p {}   # the program's last line before the exception, line {}",
                    line > 2 ? line - 2 : 1, line + 2, quote_shell(exception->file), line));
  }
  add_advice(finding, message + text_after(log, exception->source, exception->evidence.back().line));
  add_tagging(finding, log, diagnosis);
  // One process ends by one exception: what it printed before of another one, without a traceback, it
  // survived.
  const auto is_survived = [&](const Finding& other) {
    if (log.names_ranks || other.evidence.empty() || other.evidence.back().source != source) return false;
    const LogLine& line = other.evidence.back();
    return line.line < frame.line && exception_text(line.text) &&
           std::none_of(log.tracebacks.exceptions().begin(), log.tracebacks.exceptions().end(),
                        [&](const PythonException& one) { return one.evidence.front().line <= line.line; });
  };
  // Behind the causes that came before it; before those that may be its consequences.
  const auto at = std::find_if(findings.begin(), findings.end(), [&](const Finding& other) {
    if (other.kind > SignatureClass::generic || is_survived(other)) return true;
    const bool later = !other.evidence.empty() && other.evidence.front().source == source &&
                       other.evidence.front().line > frame.line;
    const Signature* known = find_signature(log.signatures, other.id);
    return later && (other.kind == SignatureClass::generic || (known != nullptr && known->may_follow));
  });
  findings.insert(at, std::move(finding));
}

// What general rules find where no signature gives a cause.
void add_likely(Diagnosis& diagnosis, const LogFacts& log, bool certainly_failed) {
  if (!certainly_failed && run_completes(log)) return;
  const int min_score = certainly_failed       ? min_likely_score
                        : ends_in_trouble(log) ? min_end_score
                                               : min_failure_score;
  auto& findings = diagnosis.also_seen;
  if (!findings.empty() && findings.front().kind <= SignatureClass::fact) return;
  const SalientLine* line = most_telling(log.salient.kept(), min_score);
  if (line == nullptr) return;
  const std::string headline = error_headline(*line);
  const Signature* error = error_class(log.signatures, headline);
  if (error == nullptr) return;
  if (error->unless_run_continues && !certainly_failed && run_continues(log)) return;
  Place place = line->place;
  const auto ended = log.matches.first_failed_rank(log.sources);
  // Before the message on a rank's end also a line in words that are less sure.
  const bool precedes_end = !error->may_follow && !findings.empty() &&
                            findings.front().kind == SignatureClass::ending &&
                            !findings.front().evidence.empty() &&
                            findings.front().evidence.front().source == log.sources[line->source] &&
                            findings.front().evidence.front().line > line->line.line;
  const bool explains = line->score >= min_explaining_score || precedes_end;
  // A crash after a rank exited with a status of its own is a consequence.
  if (!explains && ended && ended->evidence.line < line->line.line && exited_itself(*ended)) return;
  if (place.host.empty() && place.rank) place.host = log.matches.host_of(*place.rank);
  if (place.empty() && ended) place = ended->place;
  const std::string message = line->line.text + text_after(log, line->source, line->line.line);
  Finding finding = finding_for(*error, place, line->line.text, log, diagnosis);
  finding.title = headline;
  finding.evidence.push_back(in_source(line->line, log, line->source));
  for (const EvidenceLine& next : line->following) {
    if (finding.evidence.size() > few_lines) break;
    finding.evidence.push_back({log.sources[line->source], next.line, next.text});
  }
  add_advice(finding, message);
  add_tagging(finding, log, diagnosis);
  insert_before(findings, explains ? SignatureClass::ending : SignatureClass::secondary, std::move(finding));
}

// Ranks that wait in different collectives: more specific than a collective that did not end in time.
void add_mismatch(Diagnosis& diagnosis, const LogFacts& log) {
  const auto mismatch = log.collectives.mismatch();
  const Signature* signature = find_signature(log.signatures, collective_mismatch_id);
  if (!mismatch || signature == nullptr) return;
  auto& findings = diagnosis.also_seen;
  const auto timeout = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.id == collective_timeout_id;
  });
  if (timeout == findings.end()) return;
  Finding finding =
      finding_for(*signature, {mismatch->rank, log.matches.host_of(mismatch->rank)}, "", log, diagnosis);
  finding.kind = SignatureClass::generic;
  finding.title += ": " + mismatch->text;
  finding.evidence.push_back(
      {log.sources[mismatch->source], mismatch->evidence.line, mismatch->evidence.text});
  findings.insert(timeout, std::move(finding));
}

// A crash is in the function that the stack names, and a remedy for its library comes first.
void add_crash_site(Finding& cause, const LogFacts& log) {
  const Signature* known = find_signature(log.signatures, cause.id);
  const auto& site = log.stack.crash_site();
  if (known == nullptr || !known->shows_stack || !site) return;
  const std::string where = render_frame(*site);
  cause.title += " in " + where;
  const EvidenceLine& line = log.stack.evidence();
  const std::string& source = log.sources[log.stack.source()];
  if (!shows_line(cause, source, line.line)) cause.evidence.push_back({source, line.line, line.text});
  const Signature* library = error_class(log.signatures, where);
  if (library == nullptr || library->patterns.empty()) return;
  TemplateValues with;
  with.place = cause.place;
  with.library = site->image;
  const auto remedies = finding_of(*library, with).remedies;
  cause.remedies.insert(cause.remedies.begin(), remedies.begin(), remedies.end());
}

void fill_salient(Diagnosis& diagnosis, const LogFacts& log) {
  const auto& last = log.lines_before_end.empty() ? log.last_lines : log.lines_before_end;
  for (const auto& found : log.salient.best(8))
    diagnosis.salient_lines.push_back(in_source(found.line, log, found.source));
  if (diagnosis.salient_lines.size() >= few_lines) return;
  // Few lines look like errors: the last lines before the launcher's message may be errors in other words.
  for (const LogLine& line : last) {
    const auto& known = diagnosis.salient_lines;
    if (std::find(known.begin(), known.end(), line) == known.end()) diagnosis.salient_lines.push_back(line);
  }
  const auto order = [&log](const LogLine& line) {
    return std::pair(std::find(log.sources.begin(), log.sources.end(), line.source), line.line);
  };
  std::sort(diagnosis.salient_lines.begin(), diagnosis.salient_lines.end(),
            [&order](const LogLine& a, const LogLine& b) { return order(a) < order(b); });
}

// Where nothing else failed and the run continues, a failure that programs survive is a note.
void demote_survived(std::vector<Finding>& findings, const LogFacts& log) {
  const auto is_survivable = [&log](const Finding& finding) {
    const Signature* known = find_signature(log.signatures, finding.id);
    return known != nullptr && known->unless_run_continues;
  };
  const bool all = std::all_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.kind == SignatureClass::benign || is_survivable(finding);
  });
  if (!all || log.matches.first_failed_rank(log.sources) || !run_continues(log)) return;
  for (Finding& finding : findings) finding.kind = SignatureClass::benign;
}

// Without a known failure: a line is bad enough, or bad and the last.
bool shows_failure(const Diagnosis& diagnosis, const LogFacts& log) {
  if (diagnosis.end.status) return diagnosis.shows_error;
  return (diagnosis.shows_error && !run_continues(log)) || ends_in_trouble(log);
}

// No sign of a failure: lists the few lines that may still be errors.
void add_doubtful(Diagnosis& diagnosis, const LogFacts& log) {
  for (const auto& found : log.salient.best(3)) {
    if (found.score >= min_doubtful_score)
      diagnosis.salient_lines.push_back(in_source(found.line, log, found.source));
  }
}

void find_first_failing(Diagnosis& diagnosis, const LogFacts& log) {
  diagnosis.first_failing = log.matches.first_failed_rank(log.sources);
  if (diagnosis.first_failing) return;
  const bool has_rank = diagnosis.cause && diagnosis.cause->place.rank && !diagnosis.cause->evidence.empty();
  const auto& error = log.salient.first_of_a_rank();
  if (has_rank) {
    diagnosis.first_failing =
        FailingRank{diagnosis.cause->place, diagnosis.cause->title, diagnosis.cause->evidence.front()};
  } else if (error && diagnosis.verdict != Verdict::no_trouble) {
    Place place = error->place;
    if (place.host.empty()) place.host = log.matches.host_of(*place.rank);
    diagnosis.first_failing = FailingRank{std::move(place), "the first rank to report an error",
                                          in_source(error->line, log, error->source)};
  }
}

}  // namespace

Diagnosis conclude(const LogFacts& log, const RunStatus& end) {
  Diagnosis diagnosis;
  diagnosis.lines = log.lines;
  diagnosis.bytes = log.bytes;
  diagnosis.end = end.status ? end : log.matches.logged_status();
  if (end.from != LogSource::unknown) diagnosis.end.from = end.from;
  diagnosis.status_meaning = status_meaning(diagnosis.end);
  diagnosis.of_srun = log.of_srun || diagnosis.end.from == LogSource::slurm;
  diagnosis.shows_error = log.salient.highest_score() >= min_failure_score;
  diagnosis.names_ranks = log.names_ranks;
  diagnosis.also_seen = log.matches.ranked(log.sources, tagging_command(diagnosis), likely_host(log));
  add_facts(diagnosis, log);
  add_exception(diagnosis, log);
  add_mismatch(diagnosis, log);

  auto& findings = diagnosis.also_seen;
  if (!end.status) demote_survived(findings, log);
  const bool certainly_failed =
      diagnosis.end.status.value_or(0) != 0 || log.matches.first_failed_rank(log.sources).has_value() ||
      std::any_of(findings.begin(), findings.end(),
                  [](const Finding& f) { return f.kind <= SignatureClass::secondary; });
  if (!ended_well(end)) add_likely(diagnosis, log, certainly_failed);
  // After exit status 0 the findings are notes.
  const bool has_cause =
      !ended_well(end) && !findings.empty() && findings.front().kind <= SignatureClass::ending;
  if (has_cause) {
    diagnosis.cause = std::move(findings.front());
    findings.erase(findings.begin());
    add_crash_site(*diagnosis.cause, log);
    const bool likely = diagnosis.cause->kind == SignatureClass::likely;
    diagnosis.verdict = likely ? Verdict::likely_cause : Verdict::cause_found;
  } else if (!ended_well(end) && (certainly_failed || shows_failure(diagnosis, log))) {
    diagnosis.verdict = Verdict::unknown;
  }
  if (diagnosis.verdict == Verdict::unknown || (has_cause && diagnosis.cause->kind >= SignatureClass::likely))
    fill_salient(diagnosis, log);
  if (diagnosis.verdict == Verdict::no_trouble && !end.status) add_doubtful(diagnosis, log);
  find_first_failing(diagnosis, log);
  return diagnosis;
}

}  // namespace ddlrun::diagnose
