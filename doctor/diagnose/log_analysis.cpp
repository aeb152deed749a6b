// SPDX-License-Identifier: MIT
// How a log is read:
//   take       splits blocks into whole lines; a line without any literal of the index is only counted
//   take_line  removes escapes and prefixes; MessageMatcher follows messages, TracebackReader those of
//   Python,
//              SalientLines scores the rest
//   match      each finished match goes to MatchStore: a signature's, or the ending of a rank or of the run
//   diagnosis  conclude() ranks what was found
#include "doctor/diagnose/log_analysis.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/conclusion.hpp"
#include "doctor/diagnose/output_gap.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace ddlrun::diagnose {

namespace {

constexpr std::size_t max_line = 64 << 10;  // a longer one is read in pieces
constexpr std::size_t overlap = 1 << 10;    // so that a text across two pieces is found
constexpr std::size_t max_read_line = 1 << 10;
constexpr std::size_t context_lines = 3;
constexpr std::size_t max_hosts = 2;  // whether there is more than one

std::size_t find_escape(std::string_view text, std::size_t from) {
  return from >= text.size() ? npos : text.find('\x1b', from);
}

// std::count is half as fast: it adds up 8 bytes for each byte of the text.
std::uint64_t count_newlines(std::string_view text) {
  std::uint64_t count = 0;
  for (; !text.empty(); text.remove_prefix(std::min<std::size_t>(text.size(), 255))) {
    std::uint8_t newlines = 0;
    for (const char c : text.substr(0, 255)) newlines = static_cast<std::uint8_t>(newlines + (c == '\n'));
    count += newlines;
  }
  return count;
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

// "Executable: ./solve" and CR, in a log whose lines end without one: a script with DOS line ends named the
// program so. The CR becomes "^M", as bash and editors show it; "" for any other line.
std::string with_visible_return(std::string_view line, std::string_view before) {
  if (!line.ends_with('\r') || !trim(line).starts_with("Executable: ") || before.empty() ||
      before.ends_with("\r\n"))
    return {};
  return std::string(line.substr(0, line.size() - 1)) + "^M";
}

}  // namespace

LogAnalysis::LogAnalysis(std::shared_ptr<const SignatureSet> set)
    : index_(PatternIndex::of(std::move(set))),
      matches_(index_->set()),
      matcher_(
          *index_,
          [this](Match&& match) { matches_.add(std::move(match), episodes_.start_of(match.sequence)); },
          [this](const ReadLine& line) { take_salient(line, index_->scanner().find_all(line.raw)); }) {}

void LogAnalysis::begin_source(const std::string& name) {
  sources_.push_back(sanitize(name, 300));
  lines_of_source_.push_back(0);
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
  ends_in_nul_ = carry_.ends_with(std::string_view("\0\0\0\0\0\0\0\0", 8));
  if (!carry_.empty()) {
    const std::string line = std::move(carry_) + "\n";
    carry_.clear();
    take_lines(line);
  }
  matcher_.end();
  tracebacks_.end_source();
  stack_.end_source();
  tail_.end_source();
  report_.end_source();
  salient_.end_source();
  lines_ended_ += line_;
  lines_of_source_.back() = line_;
  line_ = 0;
}

// Whole lines. Stretches without any known text are only counted.
void LogAnalysis::take_lines(std::string_view text) {
  auto hit = index_->scanner().find(text, 0);
  std::size_t escape = find_escape(text, 0);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t next = std::min(hit.at, escape);
    if (!is_attentive()) {
      if (next == npos) {
        line_ += count_newlines(text.substr(at));
        break;
      }
      const std::size_t before = text.rfind('\n', next);
      const std::size_t begin = before == npos || before < at ? at : before + 1;
      line_ += count_newlines(text.substr(at, begin - at));
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
    if (hit.found() && hit.at < at) hit = index_->scanner().find(text, at);
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
  // PRRTE 3.0.8 writes a NUL byte behind each of its messages (openpmix/prrte#1905).
  if (line.starts_with('\0')) line.remove_prefix(1);
  const std::string marked = with_visible_return(line, before_);
  if (!marked.empty()) line = marked;
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
  if (repeats_tag(segment)) {
    plain = without_repeated_tags(segment);
    segment = plain;
  }
  std::vector<std::uint32_t> literals;
  if (touched) literals = index_->scanner().find_all(segment);
  if (literals.empty() && !is_attentive()) return;
  if (report_.take(segment)) return;
  ReadLine line{static_cast<std::uint32_t>(sources_.size() - 1), line_, lines_ended_ + line_, segment,
                split_prefix(segment, ranks_)};
  if (!line.prefix.rank) line.prefix.rank = source_rank_;
  names_ranks_ = names_ranks_ || line.prefix.rank;
  note_tag(line.prefix);
  of_mpi_ = of_mpi_ || segment.find("MPI") != npos || segment.find("mpi") != npos;
  of_srun_ = of_srun_ || segment.starts_with("srun: ") || segment.starts_with("slurmstepd");
  if (!line.prefix.host.empty() && hosts_.size() < max_hosts) hosts_.insert(line.prefix.host);
  const bool belongs = matcher_.take(line, literals);
  bool of_traceback = tracebacks_.is_attentive(), marks_end = false;
  const std::string_view text = trim(line.prefix.text);
  const bool begins_help = is_below_ruler_ && begins_message(text);
  if (!text.empty()) is_below_ruler_ = false;
  if (stack_.is_attentive()) stack_.take(line);
  if (tail_.is_attentive() && tail_.take(line)) episodes_.take(line.sequence);
  for (const std::uint32_t literal : literals) {
    const LiteralUse& use = index_->use_of(literal);
    of_traceback = of_traceback || use.of_traceback;
    if (use.begins_stack) stack_.begin(line);
    if (use.begins_run) episodes_.take_start(line.sequence);
    if (use.marks_limit) take_time_limit(line);
    if (use.follows_reason) take_line_before(line.prefix.text);
    if (use.of_collective) collectives_.take(line);
    marks_end = marks_end || use.marks_end;
    if (use.trait != nullptr) note_trait(traits_, *use.trait);
    is_below_ruler_ = is_below_ruler_ || (use.rules_off && text == help_ruler);
  }
  if (marks_end && lines_before_end_.empty()) lines_before_end_ = last_lines(before_, line_ - 1);
  if (of_traceback && !tracebacks_.take(line)) return;
  if ((belongs && matcher_.is_trouble()) || of_traceback) episodes_.take(line.sequence);
  if (belongs && !literals.empty()) tail_.begin();
  if (belongs) return;
  if (salient_.is_attentive()) salient_.follow(line);
  take_salient(line, literals, begins_help ? help_score : 0);
}

// The highest score of an error word among the literals.
int LogAnalysis::word_score(const std::vector<std::uint32_t>& literals) const {
  int score = 0;
  for (const std::uint32_t literal : literals) score = std::max(score, index_->use_of(literal).salience);
  return score;
}

void LogAnalysis::take_salient(const ReadLine& line, const std::vector<std::uint32_t>& literals, int least) {
  const int score = std::max(word_score(literals), least);
  if (score == 0) return;
  salient_.take(line, score);
  if (salient_.last_doubtful() == line.sequence) episodes_.take(line.sequence);
  if (salient_.last_doubtful() == line.sequence && score >= min_failure_score) tail_.begin();
}

void LogAnalysis::take_time_limit(const ReadLine& line) {
  constexpr std::string_view mark = "CANCELLED AT ";
  const std::size_t at = line.raw.find(mark);
  if (at == npos || before_.empty() || !still_end_.last.text.empty()) return;
  for (const LastLine& last : last_lines(before_, line_ - 1)) {
    if (!starts_with_any(last.line.text, {"srun: ", "slurmstepd"})) still_end_.last = last.line;
  }
  const auto limit = seconds_in(line.raw.substr(at + mark.size()));
  if (limit) still_end_.silent_seconds = output_gap(before_, *limit).value_or(0);
}

// The line before the current one, with the highest score of an error in words. Before a mere "Exiting." only
// where it looks like an error, as before glog's stack, whose own line begins with F.
void LogAnalysis::take_line_before(std::string_view text) {
  constexpr int score = 90;
  constexpr std::size_t short_text = 14;
  const bool of_stack = has(text, "stack trace");
  if (!of_stack && trim(text).size() > short_text) return;
  const auto lines = last_lines(before_, line_ - 1);
  if (lines.empty() || lines.back().sequence <= lines_ended_) return;  // of another file
  const LogLine& last = lines.back().line;
  const bool of_glog = of_stack && last.text.starts_with('F');
  if (!of_glog && word_score(index_->scanner().find_all(last.text)) < min_doubtful_score) return;
  salient_.take({static_cast<std::uint32_t>(sources_.size() - 1), last.line, lines.back().sequence, last.text,
                 split_prefix(last.text, ranks_)},
                score);
}

// The last lines up to the end of `text`, whose last line has `number`, that are neither empty nor
// boilerplate: at most three of the last twenty. `text` may begin anywhere: those of earlier blocks are
// known.
std::vector<LogAnalysis::LastLine> LogAnalysis::last_lines(std::string_view text,
                                                           std::uint64_t number) const {
  constexpr std::uint64_t most_read = 20;
  const std::uint64_t end = lines_ended_ + number;
  std::vector<LastLine> lines;
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (lines_ended_ + number + most_read > end && lines.size() < context_lines && !text.empty()) {
    const std::size_t before = text.rfind('\n');
    const std::size_t begin = before == npos ? 0 : before + 1;
    const std::string plain = without_repeated_tags(strip_escapes(text.substr(begin, max_read_line)));
    const LinePrefix prefix = split_prefix(plain, ranks_);
    const std::string_view rest = trim(prefix.text);
    if (!rest.empty() && !is_usage_footer(rest) && !is_decoration(rest) && !is_boilerplate(rest) &&
        !is_of_report(plain) && !is_below_reason(rest))
      lines.insert(
          lines.begin(),
          {{sources_.back(), number, sanitize(rest)}, lines_ended_ + number, prefix.rank.has_value()});
    if (before == npos) break;
    text = text.substr(0, before);
    --number;
  }
  for (auto older = last_lines_.rbegin(); older != last_lines_.rend() && lines.size() < context_lines;
       ++older) {
    if (older->sequence + most_read > end) lines.insert(lines.begin(), *older);
  }
  return lines;
}

void LogAnalysis::remember_last_lines(std::string_view text) {
  last_lines_ = last_lines(text, line_);
  footers_.take(text, lines_ended_ + line_);
  before_ = {};
}

// A number before a line is the tag of a launcher where several ranks have one.
void LogAnalysis::note_tag(const LinePrefix& prefix) {
  if (prefix.tag == RankTag::certain || source_rank_) is_tagged_ = true;
  if (prefix.tag == RankTag::none || !prefix.rank) return;
  if (first_tag_ && *first_tag_ != *prefix.rank) is_tagged_ = true;
  first_tag_ = prefix.rank;
}

Diagnosis LogAnalysis::diagnosis(const RunStatus& end) const {
  const auto texts_of = [](const std::vector<LastLine>& lines) {
    std::vector<LogLine> texts;
    for (const LastLine& last : lines) texts.push_back(last.line);
    return texts;
  };
  const auto names_rank = [](const std::vector<LastLine>& lines) {
    return std::any_of(lines.begin(), lines.end(), std::mem_fn(&LastLine::names_rank));
  };
  const bool names_ranks = names_ranks_ || names_rank(last_lines_) || names_rank(lines_before_end_);
  return conclude({index_->set(),
                   matches_,
                   salient_,
                   tracebacks_,
                   stack_,
                   collectives_,
                   episodes_,
                   sources_,
                   lines_of_source_,
                   texts_of(last_lines_),
                   texts_of(lines_before_end_),
                   footers_,
                   hosts_,
                   names_ranks,
                   is_tagged_,
                   of_srun_,
                   of_mpi_,
                   traits_,
                   still_end_,
                   ends_in_nul_,
                   tail_.last_line(),
                   lines_ended_ + line_,
                   bytes_},
                  matches_.status_with_tasks(end));
}

}  // namespace ddlrun::diagnose
