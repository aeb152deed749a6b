// SPDX-License-Identifier: MIT
// How a log becomes a cause:
//   take       splits blocks into whole lines; a line without any literal of the index is only counted
//   take_line  removes escapes and prefixes; MessageMatcher follows messages, SalientLines scores the rest
//   match      each finished match goes to MatchStore: a signature's, or the ending of a rank or of the run
//   diagnosis  ranks the findings (P, G, N, S, W), adds those of the exit status, and decides:
//              a P, G or N first (only P after exit status 0) -> cause_found
//              else any sign of failure and no exit status 0  -> unknown, with the salient lines
//              else                                           -> no_trouble
// The signs of failure: an exit status, an ending of a rank, a consequence (S), a line of min_failure_score.
#include "doctor/diagnose/log_analysis.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/exit_status.hpp"
#include "doctor/diagnose/message_fields.hpp"
#include "doctor/diagnose/sanitize.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_line = 64 << 10;  // a longer one is read in pieces
constexpr std::size_t overlap = 1 << 10;    // so that a text across two pieces is found
constexpr std::size_t max_read_line = 1 << 10;
constexpr std::size_t context_lines = 3;
constexpr int min_explaining_score = 85;
constexpr int min_doubtful_score = 50;
constexpr std::size_t npos = std::string_view::npos;

// The command that prints each line's rank before it, for the launcher of this run.
std::string tagging_command(const Diagnosis& diagnosis) {
  if (diagnosis.end.of_launch) return "ddlrun launch --rank-output prefix";
  return diagnosis.of_srun ? "srun --label" : "mpirun --tag-output";
}

std::size_t find_escape(std::string_view text, std::size_t from) {
  return from >= text.size() ? npos : text.find('\x1b', from);
}

// "out/1/rank.03/stderr", "log-rank3.txt": mpirun --output-filename and habit.
std::optional<std::uint32_t> rank_in_name(std::string_view name) {
  const std::size_t word = name.rfind("rank");
  if (word == npos) return std::nullopt;
  std::size_t begin = word + 4;
  if (begin < name.size() && std::string_view("._-").find(name[begin]) != npos) ++begin;
  std::size_t end = begin;
  while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
  const auto rank = parse_unsigned(name.substr(begin, end - begin), 1u << 24);
  if (!rank) return std::nullopt;
  return static_cast<std::uint32_t>(*rank);
}

// The last few of `older` and then `newer`.
std::vector<LogLine> last_of(std::vector<LogLine> older, std::vector<LogLine> newer) {
  older.insert(older.end(), std::make_move_iterator(newer.begin()), std::make_move_iterator(newer.end()));
  if (older.size() > context_lines) older.erase(older.begin(), older.end() - context_lines);
  return older;
}

}  // namespace

LogAnalysis::LogAnalysis(std::shared_ptr<const SignatureSet> set)
    : index_(std::move(set)),
      matches_(index_.set()),
      matcher_(index_, [this](Match&& match) { matches_.add(std::move(match)); }) {}

void LogAnalysis::begin_source(const std::string& name) {
  sources_.push_back(sanitize(name, 300));
  source_rank_ = rank_in_name(name);
  line_ = 0;
}

void LogAnalysis::take(std::string_view block) {
  bytes_ += block.size();
  if (!carry_.empty()) {
    const std::size_t newline = block.find('\n');
    const std::size_t part = newline == npos ? block.size() : newline + 1;
    carry_.append(block.substr(0, part));
    block.remove_prefix(part);
    if (newline != npos) {
      const std::string line = std::move(carry_);
      carry_.clear();
      take_lines(line);
    }
  }
  const std::size_t last = block.rfind('\n');
  if (last != npos) take_lines(block.substr(0, last + 1));
  if (!block.empty()) carry_.append(block.substr(last == npos ? 0 : last + 1));
  if (carry_.size() > max_line + overlap) {
    take_long_line(carry_, false);
    carry_.erase(0, carry_.size() - overlap);
  }
}

void LogAnalysis::end_source() {
  if (!carry_.empty()) {
    const std::string line = std::move(carry_) + "\n";
    carry_.clear();
    take_lines(line);
  }
  matcher_.end();
  lines_ended_ += line_;
  line_ = 0;
}

// Whole lines. Stretches without any known text are only counted.
void LogAnalysis::take_lines(std::string_view text) {
  auto hit = index_.scanner().find(text, 0);
  std::size_t escape = find_escape(text, 0);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t next = std::min(hit.at, escape);
    if (!matcher_.is_attentive()) {
      if (next == npos) {
        line_ += static_cast<std::uint64_t>(
            std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n'));
        break;
      }
      const std::size_t before = text.rfind('\n', next);
      const std::size_t begin = before == npos || before < at ? at : before + 1;
      line_ +=
          static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
      at = begin;
    }
    const std::size_t end = text.find('\n', at);
    ++line_;
    const std::string_view line = text.substr(at, end - at);
    before_ = text.substr(0, at);
    if (line.size() > max_line)
      take_long_line(line, true);
    else
      take_line(line, next < end);
    at = end + 1;
    if (hit.found() && hit.at < at) hit = index_.scanner().find(text, at);
    if (escape != npos && escape < at) escape = find_escape(text, at);
  }
  remember_last_lines(text);
}

// In pieces that overlap; a line that has not ended has not been counted yet.
void LogAnalysis::take_long_line(std::string_view line, bool is_whole) {
  if (!is_whole) ++line_;
  for (std::size_t at = 0; at < line.size(); at += max_line - overlap) {
    take_line(line.substr(at, max_line), true);
    if (at + max_line >= line.size()) break;
  }
  if (!is_whole) --line_;
}

void LogAnalysis::take_line(std::string_view line, bool touched) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::size_t return_at = line.find('\r');
  while (return_at != npos) {  // a progress bar writes one line over another
    if (return_at > 0) take_segment(line.substr(0, return_at), touched);
    line.remove_prefix(return_at + 1);
    return_at = line.find('\r');
  }
  take_segment(line, touched);
}

void LogAnalysis::take_segment(std::string_view segment, bool touched) {
  std::string plain;
  if (touched && segment.find('\x1b') != npos) {
    plain = strip_escapes(segment);
    segment = plain;
  }
  std::vector<std::uint32_t> literals;
  if (touched) literals = index_.scanner().find_all(segment);
  if (literals.empty() && !matcher_.is_attentive()) return;
  ReadLine line{static_cast<std::uint32_t>(sources_.size() - 1), line_, lines_ended_ + line_, segment,
                split_prefix(segment)};
  if (!line.prefix.rank) line.prefix.rank = source_rank_;
  names_ranks_ = names_ranks_ || line.prefix.rank;
  of_srun_ = of_srun_ || segment.starts_with("srun: ") || segment.starts_with("slurmstepd");
  const bool belongs = matcher_.take(line, literals);
  int salience = 0;
  for (const std::uint32_t literal : literals) {
    const LiteralUse& use = index_.use_of(literal);
    salience = std::max(salience, use.salience);
    if (use.marks_end && lines_before_end_.empty())
      lines_before_end_ = last_of(last_lines_, lines_at_end(before_, line_ - 1));
  }
  if (salience > 0 && !belongs) salient_.take(line, salience);
}

// The last lines of `text` that are neither empty nor boilerplate; `number` is that of its last line.
std::vector<LogLine> LogAnalysis::lines_at_end(std::string_view text, std::uint64_t number) const {
  std::vector<LogLine> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (int looked_at = 0; looked_at < 20 && lines.size() < context_lines && !text.empty(); ++looked_at) {
    const std::size_t before = text.rfind('\n');
    const std::size_t begin = before == npos ? 0 : before + 1;
    const std::string plain = strip_escapes(text.substr(begin, max_read_line));
    const std::string_view rest = trim(split_prefix(plain).text);
    if (!rest.empty() && !is_box_edge(rest) && !is_boilerplate(rest))
      lines.insert(lines.begin(), {sources_.back(), number, sanitize(rest)});
    if (before == npos) break;
    text = text.substr(0, before);
    --number;
  }
  return lines;
}

void LogAnalysis::remember_last_lines(std::string_view text) {
  last_lines_ = last_of(std::move(last_lines_), lines_at_end(text, line_));
  before_ = {};
}

void LogAnalysis::find_first_failing(Diagnosis& diagnosis) const {
  diagnosis.first_failing = matches_.first_failed_rank(sources_);
  if (diagnosis.first_failing) return;
  const bool has_rank = diagnosis.cause && diagnosis.cause->place.rank && !diagnosis.cause->evidence.empty();
  const auto& error = salient_.first_of_a_rank();
  if (has_rank) {
    diagnosis.first_failing =
        FailingRank{diagnosis.cause->place, diagnosis.cause->title, diagnosis.cause->evidence.front()};
  } else if (error && diagnosis.verdict != Verdict::no_trouble) {
    LogLine line = error->line;
    line.source = sources_[error->source];
    Place place = error->place;
    if (place.host.empty()) place.host = matches_.host_of(*place.rank);
    diagnosis.first_failing =
        FailingRank{std::move(place), "the first rank to report an error", std::move(line)};
  }
}

void LogAnalysis::fill_salient(Diagnosis& diagnosis) const {
  for (const auto& found : salient_.best(8)) {
    diagnosis.salient_lines.push_back(found.line);
    diagnosis.salient_lines.back().source = sources_[found.source];
  }
  if (diagnosis.salient_lines.size() >= context_lines) return;
  // Few lines look like errors: the last lines before the launcher's message may be errors in other words.
  for (const LogLine& line : lines_before_end_.empty() ? last_lines_ : lines_before_end_) {
    const auto& known = diagnosis.salient_lines;
    if (std::find(known.begin(), known.end(), line) == known.end()) diagnosis.salient_lines.push_back(line);
  }
  const auto order = [this](const LogLine& line) {
    return std::pair(std::find(sources_.begin(), sources_.end(), line.source), line.line);
  };
  std::sort(diagnosis.salient_lines.begin(), diagnosis.salient_lines.end(),
            [&order](const LogLine& a, const LogLine& b) { return order(a) < order(b); });
}

// No sign of a failure: lists the few lines that may still be errors.
void LogAnalysis::add_doubtful(Diagnosis& diagnosis) const {
  for (const auto& found : salient_.best(3)) {
    if (found.score < min_doubtful_score) continue;
    diagnosis.salient_lines.push_back(found.line);
    diagnosis.salient_lines.back().source = sources_[found.source];
  }
}

// Rules on facts rank behind primary and generic causes, which a text has shown.
void LogAnalysis::add_facts(Diagnosis& diagnosis) const {
  std::uint64_t noise = 0;
  for (const Finding& finding : diagnosis.also_seen)
    noise += finding.kind == SignatureClass::benign ? finding.count : 0;
  const bool is_silent = last_lines_.empty() || diagnosis.lines <= noise;
  // A signal in the status is not the cause where the log has a likely explanation, even an unknown one.
  const bool is_explained = salient_.highest_score() >= min_explaining_score;
  const auto last_line_has = [this](const std::string& text) {
    return !last_lines_.empty() && last_lines_.back().text.find(text) != npos;
  };
  // Where a rank exited with a status, the launcher ended the other ranks: their signal is not the cause.
  const auto ended = matches_.first_failed_rank(sources_);
  const bool exited_itself = ended && ended->how.starts_with("exit status ");
  for (const Signature& signature : index_.set().signatures) {
    if (exited_itself && signature.kind == SignatureClass::fact) continue;
    const bool holds = std::any_of(signature.facts.begin(), signature.facts.end(), [&](const FactRule& fact) {
      const auto& end = diagnosis.end;
      const bool by_status_alone = !fact.log_is_empty && fact.last_line_has.empty();
      if (signature.kind == SignatureClass::fact && by_status_alone && is_explained) return false;
      if (fact.log_is_empty && !is_silent) return false;
      if (!fact.last_line_has.empty() && !last_line_has(fact.last_line_has)) return false;
      if (!fact.from.empty() && log_source_named(fact.from) != end.from) return false;
      const auto& all = fact.statuses;
      return all.empty() || (end.status && std::find(all.begin(), all.end(), *end.status) != all.end());
    });
    if (!holds) continue;
    const auto known = [&](const Finding& finding) { return finding.id == signature.id; };
    if (std::any_of(diagnosis.also_seen.begin(), diagnosis.also_seen.end(), known)) continue;
    Finding finding;
    finding.id = signature.id;
    finding.kind = SignatureClass::fact;
    if (ended) finding.place = ended->place;
    const TemplateValues with{finding.place, diagnosis.status_meaning, ""};
    finding.title = fill_in(signature.title, with);
    finding.cause = fill_in(signature.cause, with);
    for (const auto& remedy : signature.remedies) finding.remedies.push_back(fill_in(remedy, with));
    finding.reference = signature.reference;
    finding.count = 1;
    for (const auto& found : salient_.best(4)) {
      finding.evidence.push_back(found.line);
      finding.evidence.back().source = sources_[found.source];
    }
    const auto after = std::find_if(diagnosis.also_seen.begin(), diagnosis.also_seen.end(),
                                    [](const Finding& f) { return f.kind > SignatureClass::fact; });
    diagnosis.also_seen.insert(after, std::move(finding));
  }
}

Diagnosis LogAnalysis::diagnosis(const RunStatus& end) const {
  Diagnosis diagnosis;
  diagnosis.lines = lines_ended_ + line_;
  diagnosis.bytes = bytes_;
  diagnosis.end = end.status ? end : matches_.logged_status();
  if (end.from != LogSource::unknown) diagnosis.end.from = end.from;
  diagnosis.status_meaning = status_meaning(diagnosis.end);
  diagnosis.of_srun = of_srun_ || diagnosis.end.from == LogSource::slurm;
  diagnosis.also_seen = matches_.ranked(sources_, tagging_command(diagnosis));
  add_facts(diagnosis);

  const bool ended_well = end.status && *end.status == 0;
  auto& findings = diagnosis.also_seen;
  // After exit status 0 only a primary signature counts as a cause.
  const bool has_cause = !findings.empty() && findings.front().kind <= (ended_well ? SignatureClass::primary
                                                                                   : SignatureClass::fact);
  const bool has_consequence = !findings.empty() && findings.front().kind == SignatureClass::secondary;
  const bool failed = diagnosis.end.status.value_or(0) != 0 || has_consequence ||
                      matches_.first_failed_rank(sources_).has_value() ||
                      salient_.highest_score() >= min_failure_score;
  if (has_cause) {
    diagnosis.verdict = Verdict::cause_found;
    diagnosis.cause = std::move(findings.front());
    findings.erase(findings.begin());
  } else if (!ended_well && failed) {
    diagnosis.verdict = Verdict::unknown;
    fill_salient(diagnosis);
  }
  if (diagnosis.verdict == Verdict::no_trouble && !end.status) add_doubtful(diagnosis);
  diagnosis.shows_error = salient_.highest_score() >= min_failure_score;
  diagnosis.names_ranks = names_ranks_;
  find_first_failing(diagnosis);
  return diagnosis;
}

}  // namespace ddlrun::diagnose
