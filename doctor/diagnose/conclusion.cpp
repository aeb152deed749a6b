// SPDX-License-Identifier: MIT
#include "doctor/diagnose/conclusion.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/abort_reason.hpp"
#include "doctor/diagnose/alike_failure.hpp"
#include "doctor/diagnose/collective_cause.hpp"
#include "doctor/diagnose/exception_cause.hpp"
#include "doctor/diagnose/exit_status.hpp"
#include "doctor/diagnose/finding_text.hpp"
#include "doctor/diagnose/harmless_notes.hpp"
#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/log_end.hpp"
#include "doctor/diagnose/log_finding.hpp"
#include "doctor/diagnose/module_name.hpp"
#include "doctor/diagnose/named_ranks.hpp"
#include "doctor/diagnose/promoted_cause.hpp"
#include "doctor/diagnose/remedy_text.hpp"
#include "doctor/diagnose/result_lines.hpp"
#include "doctor/diagnose/shown_lines.hpp"
#include "doctor/diagnose/status_causes.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t few_lines = 3, most_before = 6;
constexpr std::string_view options_id = "L14";       // its remedy is --help, which explains no input file
constexpr std::string_view failed_rule_id = "Y154";  // Snakemake may start the rule again
constexpr std::string_view nul_end_id = "J101";
constexpr int min_likely_score = 60;  // where the run certainly failed, unless a message ends the log

bool ended_well(const RunStatus& end) { return end.status && *end.status == 0; }

// A run survived what came before the last episode that contains a cause.
LastEpisodes last_episodes(const LogFacts& log) {
  if (log.sources.size() != 1) return {};
  LastEpisodes last{log.matches.last_episode_with_cause(), log.episodes.last_start()};
  for (const PythonException& one : log.tracebacks.exceptions()) {
    if (!one.is_consequence && one.type != "KeyboardInterrupt")
      last.of_cause = std::max(last.of_cause, log.episodes.start_of(one.sequence));
  }
  return last;
}

// What general rules find where no signature gives a cause.
void add_likely(Diagnosis& diagnosis, const LogFacts& log, bool certainly_failed) {
  if (!certainly_failed && (run_completes(log) || run_survives(log))) return;
  auto& findings = diagnosis.also_seen;
  if (!findings.empty() && findings.front().kind <= SignatureClass::fact) return;
  const int min_score = log.tracebacks.is_cut_off()             ? min_doubtful_score
                        : certainly_failed && !findings.empty() ? min_likely_score
                        : ends_in_trouble(log)                  ? min_end_score
                        : certainly_failed                      ? min_likely_score
                                                                : min_failure_score;
  std::vector<SalientLine> candidates = log.salient.kept();
  std::erase_if(candidates, [&](const auto& one) {
    return is_head_of_known(in_source(one.line, log, one.source), findings);
  });
  if (shows_only_consequences(log))
    std::erase_if(candidates, [&](const SalientLine& one) {
      return log.tracebacks.ends_stack(one.source, one.line.line) ||
             log.tracebacks.is_of_stack(one.source, one.line.line);
    });
  const SalientLine* line = most_telling(candidates, min_score);
  if (line == nullptr) line = line_before_abort(findings, log);
  if (line == nullptr) line = line_after_abort(findings, log);
  if (line != nullptr) line = with_reason(*line, candidates);
  if (line == nullptr || (!certainly_failed && is_of_setup(line->line.text) && !ends_in_trouble(log))) return;
  const std::string headline = error_headline(*line);
  const std::string message = line->line.text + text_after(log, line->source, line->line.line);
  const Signature* error = error_class(log.signatures, headline);
  // The class may be in the lines below.
  if (error != nullptr && error->patterns.empty()) error = error_class(log.signatures, message);
  if (error == nullptr || (error->unless_run_continues && !certainly_failed && run_continues(log))) return;
  Place place = line->place;
  const auto ended = log.matches.first_failed_rank(log.sources);
  // Before the message on a rank's end also a line in words that are less sure.
  const bool precedes_end = !error->may_follow && !findings.empty() &&
                            findings.front().kind == SignatureClass::ending &&
                            !findings.front().evidence.empty() &&
                            findings.front().evidence.front().source == log.sources[line->source] &&
                            findings.front().evidence.front().line > line->line.line;
  const SalientLine* behind_abort = line_after_abort(findings, log);
  const bool is_behind_abort = behind_abort != nullptr && behind_abort->source == line->source &&
                               behind_abort->line.line == line->line.line;
  // What other ranks report of a rank: its own words explain it, wherever they stand.
  const bool explains = line->score >= min_explaining_score || precedes_end || is_behind_abort ||
                        (!findings.empty() && is_missed_rank(findings.front()));
  // A crash after a rank exited with a status of its own is a consequence.
  if (!explains && ended && ended->evidence.line < line->line.line && exited_itself(*ended)) return;
  if (place.host.empty() && place.rank) place.host = log.matches.host_of(*place.rank);
  // The rank that reports its end first need not have failed first.
  if (const Finding* gone = find_gone_rank(findings); place.empty() && gone != nullptr)
    place = gone->place;
  else if (place.empty() && ended && !diagnosis.end.is_first_unsure)
    place = ended->place;
  Finding finding = finding_for(*error, place, message, log, diagnosis);
  finding.title = headline;
  finding.evidence.push_back(in_source(line->line, log, line->source));
  for (const EvidenceLine& next : line->following) {
    if (finding.evidence.size() > few_lines) break;
    finding.evidence.push_back({log.sources[line->source], next.line, next.text});
  }
  if (error->patterns.empty()) add_search(finding, headline);
  add_named_parts(finding, error_headline(*line, npos), log);
  add_advice(finding, message, 0);
  add_tagging(finding, log, diagnosis);
  insert_before(findings, explains ? SignatureClass::ending : SignatureClass::secondary, std::move(finding));
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
  if (site->source.find(".py:") != npos)  // this stack is Python's
    std::erase_if(cause.remedies,
                  [](const std::string& remedy) { return has(remedy, "PYTHONFAULTHANDLER"); });
  const Signature* library = error_class(log.signatures, where);
  if (library == nullptr || library->patterns.empty()) return;
  TemplateValues with;
  with.place = cause.place;
  with.library = site->image;
  const auto remedies = finding_of(*library, with).remedies;
  cause.remedies.insert(cause.remedies.begin(), remedies.begin(), remedies.end());
}

// "NAMD stopped: the table cannot be written": the remedies of the class of that error come first.
void add_class_of_stop(Finding& cause, const LogFacts& log, const Diagnosis& diagnosis) {
  constexpr std::size_t most = 2;
  const Signature* known = find_signature(log.signatures, cause.id);
  if (known == nullptr || !known->title.ends_with(": {value}") || !has(known->title, " stopped")) return;
  const std::string message = cause.title.substr(
      std::min(known->title.size() - std::string_view("{value}").size(), cause.title.size()));
  const Signature* error = error_class(log.signatures, message);
  if (error == nullptr || error->patterns.empty() || error->may_follow || error->id == options_id) return;
  const Finding inner = finding_for(*error, cause.place, message, log, diagnosis);
  // The class of the message is more exact than "a Julia program stopped".
  if (known->kind == SignatureClass::generic) cause.cause = inner.cause;
  auto remedies = inner.remedies;
  remedies.resize(std::min(remedies.size(), most));
  cause.remedies.insert(cause.remedies.begin(), remedies.begin(), remedies.end());
}

// What the message of a known cause advises stands behind the known remedies.
void add_advice_of_log(Finding& cause) {
  // What the program prints behind the one sentence of ddl_last_error() is no advice.
  if (cause.evidence.empty() || is_call_mismatch(cause)) return;
  std::string message;
  for (const LogLine& line : cause.evidence) message += line.text + '\n';
  for (const LogLine& line : cause.following) {
    const bool goes_on = !line.text.empty() && std::islower(static_cast<unsigned char>(line.text.front()));
    if (goes_on) message.back() = ' ';  // a sentence over two lines
    message += line.text + '\n';
  }
  add_advice(cause, message, cause.remedies.size());
}

// Errors before a known cause that no signature explains: the cause may be their consequence.
void add_errors_before(Diagnosis& diagnosis, const LogFacts& log) {
  const auto& evidence = diagnosis.cause->evidence;
  if (evidence.empty()) return;
  for (const SalientLine& found : log.salient.best(most_before)) {
    const LogLine line = in_source(found.line, log, found.source);
    if (found.score >= min_explaining_score && line.source == evidence.front().source &&
        line.line < evidence.front().line && !is_head_of_known(line, {*diagnosis.cause}))
      diagnosis.salient_lines.push_back(line);
  }
}

// The line reports that a process, a job or a host is gone: what follows it is the output of others.
bool ends_process(const LogLine& line) {
  constexpr std::string_view ends[] = {"Killed",
                                       "killed",
                                       "oom",
                                       "OOM",
                                       "CANCELLED",
                                       "ancelled",
                                       "exceeded",
                                       "Node failure",
                                       "NODE FAIL",
                                       "fallen off",
                                       "signal ",
                                       "SIG",
                                       "egmentation",
                                       "Aborted",
                                       "Bus error",
                                       "terminated",
                                       "Terminated",
                                       "srun: error:",
                                       "exit code",
                                       "Fatal",
                                       "FATAL",
                                       "fatal",
                                       "Error executing process"};
  // A workflow manager starts the task again.
  return has_any(line.text, ends) && !has_any(line.text, {"is retried", "re-submitted", "Error is ignored"});
}

// Where nothing else failed and the run continues, a failure that programs survive is a note; where the log
// ends with results, any but an exception and the end of a process.
void demote_survived(std::vector<Finding>& findings, const LogFacts& log) {
  const bool completes = run_completes(log), recovers = run_recovers(log);
  const auto& exceptions = log.tracebacks.exceptions();
  const auto ends_by_exception = [&](const Finding& finding) {
    return std::any_of(exceptions.begin(), exceptions.end(), [&](const PythonException& one) {
      return !one.is_consequence && shows_line(finding, log.sources[one.source], one.evidence.back().line);
    });
  };
  const auto is_survivable = [&](const Finding& finding) {
    const Signature* known = find_signature(log.signatures, finding.id);
    if (known != nullptr && known->unless_run_continues) return true;
    const bool ends = finding.kind == SignatureClass::ending && finding.id != failed_rule_id;
    if (recovers) return !ends && finding.id != python_exception_id;
    return completes && !ends && finding.kind != SignatureClass::fact && finding.id != python_exception_id &&
           !ends_by_exception(finding) && !(known != nullptr && known->ends_use) &&
           std::none_of(finding.evidence.begin(), finding.evidence.end(), ends_process);
  };
  const bool all = std::all_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.kind == SignatureClass::benign || is_survivable(finding);
  });
  if (!all || log.matches.first_failed_rank(log.sources) || !run_continues(log)) return;
  for (Finding& finding : findings) finding.kind = SignatureClass::benign;
}

// What another process notices, at the level of a warning: processes also leave after a run that ended well.
bool is_mere_warning(const Finding& finding) {
  return finding.kind == SignatureClass::secondary && !finding.evidence.empty() &&
         has_warning_letter(finding.evidence.front().text);
}

// A log without an error whose last line waits: the run hangs there, or was stopped.
void add_wait(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const bool is_known = !findings.empty() && findings.front().kind < SignatureClass::benign;
  const Signature* wait = find_signature(log.signatures, wait_id);
  if (is_known || wait == nullptr || !ends_waiting(log)) return;
  const LogLine& last = log.last_lines.back();
  Finding finding = finding_for(*wait, {}, last.text, log, diagnosis);
  finding.title += ": " + last.text;
  finding.evidence.push_back(last);
  insert_before(findings, SignatureClass::ending, std::move(finding));
}

// A log that ends in NUL bytes was not written to its end, so what stopped the run is not in it.
void add_nul_end(Diagnosis& diagnosis, const LogFacts& log) {
  auto& findings = diagnosis.also_seen;
  const bool is_known = !findings.empty() && findings.front().kind <= SignatureClass::secondary;
  const Signature* broken = find_signature(log.signatures, nul_end_id);
  if (!log.ends_in_nul || is_known || broken == nullptr || log.last_lines.empty()) return;
  Finding finding = finding_for(*broken, {}, "", log, diagnosis);
  finding.evidence.push_back(log.last_lines.back());
  insert_before(findings, SignatureClass::ending, std::move(finding));
}

// "Signal 9 (SIGKILL) received by PID 7": the lines of the same message name the rank and its host.
void place_by_end(Diagnosis& diagnosis) {
  constexpr std::uint64_t near = 12;  // lines
  const auto& end = diagnosis.first_failing;
  if (!diagnosis.cause || !end || diagnosis.cause->evidence.empty() || !end->how.starts_with("signal "))
    return;
  const LogLine& line = diagnosis.cause->evidence.front();
  const std::uint64_t first = std::min(line.line, end->evidence.line),
                      last = std::max(line.line, end->evidence.line);
  if (diagnosis.cause->place.empty() && line.source == end->evidence.source && last - first <= near)
    diagnosis.cause->place = end->place;
}

// Without a known failure: a line is bad enough, or bad and the last.
bool shows_failure(const Diagnosis& diagnosis, const LogFacts& log) {
  if (diagnosis.end.status) return diagnosis.shows_error;
  if (run_survives(log)) return false;
  return (diagnosis.shows_error && !run_continues(log)) || ends_in_trouble(log);
}

void find_first_failing(Diagnosis& diagnosis, const LogFacts& log) {
  auto& first = diagnosis.first_failing;
  first = log.matches.first_failed_rank(log.sources);
  // The other ranks fail because of the one that is gone; a launcher may read of their ends before its own.
  const Finding* gone = find_gone_rank(diagnosis);
  if (first && gone != nullptr && gone->place.rank != first->place.rank && exited_itself(*first))
    first = FailingRank{gone->place, gone->title, gone->evidence.front(), false};
  if (first) {
    if (first->place.empty()) first.reset();  // launch reports that several failed
    return;
  }
  const bool has_rank = diagnosis.cause && diagnosis.cause->place.rank && !diagnosis.cause->evidence.empty();
  const auto& error = log.salient.first_of_a_rank();
  if (has_rank) {
    diagnosis.first_failing =
        FailingRank{diagnosis.cause->place, diagnosis.cause->title, diagnosis.cause->evidence.front(), false};
  } else if (error && diagnosis.verdict != Verdict::no_trouble) {
    Place place = error->place;
    if (place.host.empty()) place.host = log.matches.host_of(*place.rank);
    diagnosis.first_failing = FailingRank{std::move(place), "the first rank to report an error",
                                          in_source(error->line, log, error->source), false};
  }
}

}  // namespace

Diagnosis conclude(const LogFacts& log, const RunStatus& end) {
  Diagnosis diagnosis;
  diagnosis.lines = log.lines;
  diagnosis.bytes = log.bytes;
  diagnosis.end = end.status ? end : log.matches.logged_status();
  if (end.from != LogSource::unknown) diagnosis.end.from = end.from;
  const bool is_stall_end = log.traits.ended_at_stall && diagnosis.end.status == stall_status;
  diagnosis.status_meaning = is_stall_end ? stall_meaning : status_meaning(diagnosis.end);
  diagnosis.of_srun = log.of_srun || diagnosis.end.from == LogSource::slurm;
  diagnosis.shows_error = log.salient.highest_score() >= min_failure_score;
  diagnosis.names_ranks = log.names_ranks;
  // launch marks the lines that it analyses itself.
  diagnosis.is_tagged = end.names_ranks || (log.is_tagged && !end.of_launch);
  const LastEpisodes last = last_episodes(log);
  diagnosis.also_seen = log.matches.ranked(log.sources, tagging_command(diagnosis), likely_host(log), last);
  add_status_causes(diagnosis, log);
  mark_alike_failures(diagnosis, log);
  add_exception(diagnosis, log, last.of_cause);
  add_collective_cause(diagnosis, log);
  auto& findings = diagnosis.also_seen;
  promote_explanation(diagnosis, log);
  if (!end.status) demote_survived(findings, log);
  const bool only_notes = !diagnosis.end.status && demote_notes(findings, log);
  const bool certainly_failed = diagnosis.end.status.value_or(0) != 0 || log.tracebacks.is_cut_off() ||
                                log.matches.first_failed_rank(log.sources).has_value() ||
                                std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
                                  return f.kind <= SignatureClass::secondary && !is_mere_warning(f);
                                });
  if (!ended_well(end) && !only_notes) add_likely(diagnosis, log, certainly_failed);
  add_last_sign_of_life(diagnosis, log);
  if (!end.status) {
    add_wait(diagnosis, log);
    add_nul_end(diagnosis, log);
  }
  // After exit status 0 the findings are notes.
  const bool has_cause =
      !ended_well(end) && !findings.empty() && findings.front().kind <= SignatureClass::ending;
  if (has_cause) {
    diagnosis.cause = std::move(findings.front());
    findings.erase(findings.begin());
    name_module(*diagnosis.cause);
    add_other_rank(*diagnosis.cause);
    add_crash_site(*diagnosis.cause, log);
    add_last_words(*diagnosis.cause, log);
    add_class_of_stop(*diagnosis.cause, log, diagnosis);
    add_advice_of_log(*diagnosis.cause);
    put_scheduler_last(*diagnosis.cause, log, diagnosis);
    const bool likely = diagnosis.cause->kind == SignatureClass::likely;
    diagnosis.verdict = likely ? Verdict::likely_cause : Verdict::cause_found;
  } else if (!ended_well(end) && !only_notes && (certainly_failed || shows_failure(diagnosis, log))) {
    diagnosis.verdict = Verdict::unknown;
  }
  if (has_cause && diagnosis.cause->kind <= SignatureClass::generic) add_errors_before(diagnosis, log);
  if (diagnosis.verdict == Verdict::unknown || (has_cause && diagnosis.cause->kind >= SignatureClass::likely))
    fill_salient(diagnosis, log);
  const auto& exceptions = log.tracebacks.exceptions();
  diagnosis.errors_are_consequences =
      (diagnosis.verdict == Verdict::unknown || diagnosis.verdict == Verdict::likely_cause) &&
      !exceptions.empty() &&
      std::ranges::all_of(exceptions, [](const PythonException& one) { return one.is_consequence; });
  diagnosis.only_consequences = diagnosis.verdict == Verdict::unknown && shows_only_consequences(log);
  if (diagnosis.verdict == Verdict::no_trouble && !end.status && !only_notes) add_doubtful(diagnosis, log);
  find_first_failing(diagnosis, log);
  place_by_end(diagnosis);
  fit_remedies_to_log(diagnosis, log);
  return diagnosis;
}

}  // namespace ddlrun::diagnose
