// SPDX-License-Identifier: MIT
#include "doctor/diagnose/exception_cause.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/alike_failure.hpp"
#include "doctor/diagnose/likely_cause.hpp"
#include "doctor/diagnose/line_pattern.hpp"
#include "doctor/diagnose/log_finding.hpp"
#include "doctor/diagnose/named_ranks.hpp"
#include "doctor/diagnose/salient_lines.hpp"
#include "doctor/diagnose/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace ddlrun::diagnose {

namespace {

// Classes of errors of the system: a disk, files, memory, an address, a host, a connection, a service, a
// license.
constexpr std::string_view system_ids[] = {"L7", "L24", "L1", "L8", "L29", "L12", "L13", "L34", "L35", "L22"};

bool has_line_before(const LogFacts& log, const PythonException& exception) {
  const auto& kept = log.salient.kept();
  return std::any_of(kept.begin(), kept.end(), [&](const SalientLine& line) {
    return line.score >= min_before_interrupt && !has(line.line.text, "KeyboardInterrupt") &&
           line.source == exception.source && line.line.line < exception.evidence.front().line;
  });
}

// Of several ranks with the same exception, that of the rank that failed first.
const PythonException& of_first_rank(const PythonException& exception, const LogFacts& log,
                                     std::optional<std::uint32_t> first_rank) {
  if (!first_rank) return exception;
  const auto& all = log.tracebacks.exceptions();
  const auto found = std::ranges::find_if(all, [&](const PythonException& one) {
    return one.place.rank == first_rank && !one.is_consequence && is_same(one, exception);
  });
  return found == all.end() ? exception : *found;
}

// Who has it, over the whole log.
RanksAlike repeats_of(const PythonException& exception, const LogFacts& log) {
  RanksAlike repeats;
  for (const PythonException& one : log.tracebacks.exceptions()) {
    if (!is_same(one, exception)) continue;
    repeats.count += 1 + one.repeats;
    repeats.ranks.insert(one.repeating_ranks.begin(), one.repeating_ranks.end());
    if (one.place.rank) repeats.ranks.insert(*one.place.rank);
  }
  return repeats;
}

// The first exception that is the cause of what follows it, or nullptr.
const PythonException* causing_exception(const std::vector<Finding>& findings, const LogFacts& log,
                                         std::uint64_t last_episode) {
  const PythonException* first = nullptr;
  // Who sent the signal explains more than that it came.
  const bool ended_from_outside = std::any_of(findings.begin(), findings.end(), is_end_from_outside);
  for (const PythonException& one : log.tracebacks.exceptions()) {
    const std::uint64_t line = one.evidence.back().line;
    // Ctrl-C after an error, or after a warning that explains why nothing went on.
    const bool is_interrupt =
        one.type == "KeyboardInterrupt" && (has_line_before(log, one) || ended_from_outside);
    const bool is_consequence =
        one.is_consequence || is_interrupt || log.episodes.start_of(one.sequence) < last_episode ||
        std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
          return f.kind >= SignatureClass::ending && shows_line(f, log.sources[one.source], line);
        });
    if (!is_consequence && (first == nullptr || is_earlier(one.moment, first->moment))) first = &one;
  }
  return first;
}

// The kernel that fails prints its own line before the exception of the call that notices it; a traceback
// shows the line of the program with the text before the message: one signature has both.
bool repeats(const PythonException& exception, const Finding& finding, const LogFacts& log) {
  const Signature* known = find_signature(log.signatures, finding.id);
  if (known == nullptr || finding.kind > SignatureClass::generic || finding.is_survived ||
      finding.evidence.empty())
    return false;
  const LogLine& first = finding.evidence.front();
  const bool is_before =
      first.source == log.sources[exception.source] && first.line < exception.evidence.back().line;
  const std::string& message = exception.evidence.back().text;
  return is_before &&
         std::any_of(known->patterns.begin(), known->patterns.end(), [&](const MessagePattern& pattern) {
           return pattern.size() == 1 && match_line(pattern.front(), message);
         });
}

// A signature has the exception's own line, or a line before it that says the same: the place in the program
// becomes its evidence. nullptr: there is none.
Finding* add_to_known(std::vector<Finding>& findings, const PythonException& exception, const LogFacts& log) {
  const std::string& source = log.sources[exception.source];
  const EvidenceLine& frame = exception.evidence.front();
  const auto explained = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.kind <= SignatureClass::generic &&
           shows_line(finding, source, exception.evidence.back().line);
  });
  // A signature explains the exception from which this one was raised: both belong together.
  const auto explains_root = [&](const Finding& finding) {
    return finding.kind <= SignatureClass::generic && !exception.root.empty() &&
           std::ranges::any_of(exception.chain_evidence, [&](const EvidenceLine& line) {
             return shows_line(finding, source, line.line);
           });
  };
  const auto root = explained == findings.end() ? std::ranges::find_if(findings, explains_root) : explained;
  if (explained == findings.end() && root != findings.end()) {
    root->title += "; the program ends with " + exception.title();
    for (const EvidenceLine& line : exception.evidence)
      if (!shows_line(*root, source, line.line)) root->evidence.push_back({source, line.line, line.text});
    return &*root;
  }
  if (explained != findings.end()) {
    if (!shows_line(*explained, source, frame.line))
      explained->evidence.insert(explained->evidence.begin(), {source, frame.line, frame.text});
    return &*explained;
  }
  const auto repeated = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return repeats(exception, finding, log);
  });
  if (repeated == findings.end()) return nullptr;
  for (LogLine& line : lines_in(source, exception.evidence)) {
    std::erase_if(repeated->following,
                  [&](const LogLine& next) { return next.source == source && next.line == line.line; });
    if (!shows_line(*repeated, source, line.line)) repeated->evidence.push_back(std::move(line));
  }
  return &*repeated;
}

// "the endpoint '$MASTER_ADDR:29500' must be ..." -> "$MASTER_ADDR": no shell has expanded it. "" for any
// other message.
std::string unexpanded_variable(std::string_view message) {
  constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view before = "'\"`=,([ ";
  for (std::size_t at = message.find('$'); at != npos; at = message.find('$', at + 1)) {
    if (at > 0 && before.find(message[at - 1]) == npos) continue;
    const bool braced = message.substr(at + 1).starts_with('{');
    const std::string_view rest = message.substr(at + (braced ? 2 : 1));
    const std::size_t length =
        std::min(rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"), rest.size());
    const bool is_name = length > 1 && capitals.find(rest.front()) != npos;
    if (is_name && (!braced || rest.substr(length).starts_with('}')))
      return "$" + std::string(rest.substr(0, length));
  }
  return {};
}

}  // namespace

void add_exception(Diagnosis& diagnosis, const LogFacts& log, std::uint64_t last_episode) {
  auto& findings = diagnosis.also_seen;
  const PythonException* exception = causing_exception(findings, log, last_episode);
  const Signature* signature = find_signature(log.signatures, python_exception_id);
  if (exception == nullptr || signature == nullptr) return;
  exception = &of_first_rank(*exception, log, diagnosis.end.first_rank);
  const RanksAlike shown = repeats_of(*exception, log);
  const bool fails_alike = is_of_all(shown, diagnosis.end.ranks, log);
  if (Finding* known = add_to_known(findings, *exception, log); known != nullptr) {
    known->fails_alike = fails_alike;
    return;
  }
  const std::string& source = log.sources[exception->source];
  const EvidenceLine& frame = exception->evidence.front();

  Place place = exception->place;
  if (const Finding* gone = find_gone_rank(findings); place.empty() && gone != nullptr) place = gone->place;
  if (place.host.empty() && place.rank) place.host = log.matches.host_of(*place.rank);
  const std::string message = exception->headline();
  const Signature* error = error_class(log.signatures, message);
  const bool is_unclassed = error == nullptr || error->patterns.empty();
  if (is_unclassed && !exception->root.empty()) error = error_class(log.signatures, exception->root);
  Finding finding =
      finding_for(error == nullptr ? *signature : *error, place, message, log, diagnosis, exception->path);
  finding.id = signature->id;
  finding.kind = SignatureClass::generic;
  finding.reference = signature->reference;
  finding.title = exception->title();
  if (!exception->related.empty()) finding.title += ", " + exception->related;
  if (shown.ranks.size() > 1) finding.all_ranks.assign(shown.ranks.begin(), shown.ranks.end());
  finding.fails_alike = fails_alike;
  finding.evidence = lines_in(source, exception->evidence);
  const std::vector<LogLine> chain = lines_in(source, exception->chain_evidence);
  finding.following = lines_in(source, exception->following);

  if (!exception->file.empty() && exception->type != "KeyboardInterrupt") {
    const std::uint64_t line = exception->line;
    // What the system refused is not explained by the line that asked for it.
    const bool of_system =
        error != nullptr && std::ranges::find(system_ids, error->id) != std::end(system_ids);
    finding.remedies.insert(
        of_system ? finding.remedies.end() : finding.remedies.begin(),
        fmt::format("sed -n {},{}p {}   # the program's last line before the exception, line {}",
                    line > 2 ? line - 2 : 1, line + 2, quote_shell(exception->path), line));
  }
  if (const std::string name = unexpanded_variable(message); !name.empty())
    finding.remedies.insert(
        finding.remedies.begin(),
        fmt::format("bash -c 'exec PROGRAM ... \"{0}\" ...'   # {0} came as text: no shell had expanded it",
                    name));
  add_advice(finding, message + text_after(log, exception->source, exception->evidence.back().line), 0);
  if (!fails_alike) add_tagging(finding, log, diagnosis);
  // One process ends by one exception: what it printed before of another one, without a traceback, it
  // survived.
  const auto is_survived = [&](const Finding& other) {
    if (log.names_ranks || other.evidence.empty() || other.evidence.back().source != source) return false;
    const LogLine& line = other.evidence.back();
    return line.line < frame.line && exception_text(line.text) &&
           std::none_of(log.tracebacks.exceptions().begin(), log.tracebacks.exceptions().end(),
                        [&](const PythonException& one) { return one.evidence.front().line <= line.line; });
  };
  const auto is_before_program = [&](const Finding& other) {
    // A module of Python is missing because the job's modules are.
    const bool is_import = has_any(exception->type, {"ImportError", "ModuleNotFoundError"});
    if (is_import || other.evidence.empty() || other.evidence.front().source != source) return false;
    const LogLine& line = other.evidence.front();
    return line.line < frame.line && (is_of_modules(line.text) || has(line.text, ": symbol lookup error: "));
  };
  // Of ranks that write at the same time the message is torn from its type: a text near it explains more.
  constexpr std::uint64_t near = 40;  // lines
  const bool is_bare = message.find(':') == std::string::npos && message.find(' ') == std::string::npos;
  const std::uint64_t end = exception->evidence.back().line;
  const auto explains_bare = [&](const Finding& other) {
    return is_bare && other.kind <= SignatureClass::generic && !other.evidence.empty() &&
           other.evidence.front().source == source && other.evidence.front().line >= end &&
           other.evidence.front().line <= end + near;
  };
  // Behind the causes that came before it; before those that may be its consequences.
  const auto at = std::find_if(findings.begin(), findings.end(), [&](const Finding& other) {
    if (other.kind > SignatureClass::generic || is_survived(other)) return true;
    if (explains_bare(other)) return false;
    const bool later = !other.evidence.empty() && other.evidence.front().source == source &&
                       other.evidence.front().line > frame.line;
    if (is_before_program(other)) return true;
    const Signature* known = find_signature(log.signatures, other.id);
    const bool may_follow = known != nullptr && known->may_follow;
    return other.kind == SignatureClass::generic ? later || may_follow : later && may_follow;
  });
  finding.evidence.insert(finding.evidence.end(), chain.begin(), chain.end());
  findings.insert(at, std::move(finding));
}

}  // namespace ddlrun::diagnose
