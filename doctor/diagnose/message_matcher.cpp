// SPDX-License-Identifier: MIT
#include "doctor/diagnose/message_matcher.hpp"

#include "base/text/text.hpp"
#include "doctor/diagnose/following_lines.hpp"
#include "doctor/diagnose/salient_lines.hpp"
#include "doctor/diagnose/sanitize.hpp"
#include "doctor/diagnose/words.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

constexpr int pattern_lines = 20;  // how far apart the lines of one message may be
constexpr int field_lines = 12;
constexpr int foreign_lines = 200;      // lines of others in between
constexpr std::size_t max_open = 1024;  // some 60 patterns begin with one line of OpenFOAM
constexpr std::size_t max_evidence = 8;

EvidenceLine evidence_of(const ReadLine& line) { return {line.line, sanitize(trim(line.prefix.text))}; }

void add_evidence(Match& match, const ReadLine& line) {
  const bool known = !match.evidence.empty() && match.evidence.back().line == line.line;
  if (!known && match.evidence.size() < max_evidence) match.evidence.push_back(evidence_of(line));
}

bool is_of_another_rank(const Match& match, const LinePrefix& prefix) {
  return match.origin_rank && prefix.rank && *match.origin_rank != *prefix.rank;
}

// A pattern is held against the whole line; where a prefix could hide its beginning, also without it.
std::optional<Captures> match_either(const LinePattern& pattern, const ReadLine& line) {
  if (pattern.pieces.empty()) {
    if (is_decoration(line.prefix.text)) return std::nullopt;
    return match_line(pattern, line.prefix.text);
  }
  auto captures = match_line(pattern, line.raw);
  const bool has_prefix = line.prefix.text.size() < line.raw.size();
  return captures || !has_prefix ? captures : match_line(pattern, line.prefix.text);
}

}  // namespace

bool MessageMatcher::take(const ReadLine& line, const std::vector<std::uint32_t>& literals) {
  is_trouble_ = help_step_ != 0;
  if (line.prefix.stamp.kind != Stamp::Kind::none) last_stamp_ = line.prefix.stamp;
  if (is_box_edge(line.prefix.text)) {
    for (Open& open : open_) {
      if (open.complete() && !is_of_another_rank(open.match, line.prefix)) open.lines_left = 0;
    }
    close_finished(false);
    return false;
  }
  bool belongs = help_step_ != 0 && take_help_without_text(line);
  if (!open_.empty()) belongs = feed_open(line) || belongs;
  if (!literals.empty()) belongs = start(line, literals) || belongs;
  return belongs;
}

bool MessageMatcher::feed_open(const ReadLine& line) {
  const bool is_blank = trim(line.prefix.text).empty();
  const auto field = read_field(line.prefix.text);
  bool belongs = false;
  for (Open& open : open_) {
    if (--open.any_left <= 0) open.lines_left = 0;
    if (is_of_another_rank(open.match, line.prefix)) continue;
    --open.lines_left;
    if (!is_blank) belongs = feed(open, line, field) || belongs;
  }
  close_finished(false);
  return belongs;
}

bool MessageMatcher::feed(Open& open, const ReadLine& line, const std::optional<FoundField>& field) {
  if (!open.complete()) {
    const LinePattern& next = (*open.lines)[open.next];
    // Of several ranks that write at the same time the first lines stand above each other.
    const bool begins_again = next.pieces.empty() && match_line(open.lines->front(), line.raw);
    const auto captures = begins_again ? std::nullopt : match_either(next, line);
    if (captures) {
      open.match.captures.add(*captures);
      add_evidence(open.match, line);
      if (++open.next >= open.lines->size()) open.lines_left = field_lines;
      note_trouble(open);
      return true;
    }
  }
  if (!field) {
    Match& match = open.match;
    if (open.complete() && match.origin_rank == line.prefix.rank)
      add_following(match.following, match.evidence.back().line, line.line, line.prefix.text);
    return false;
  }
  open.match.fields.add(field->captures);
  add_evidence(open.match, line);
  note_trouble(open);
  return true;
}

void MessageMatcher::note_trouble(const Open& open) {
  const auto& signatures = index_.set().signatures;
  const bool is_harmless =
      !open.match.is_ending && signatures[open.match.owner].kind == SignatureClass::benign;
  is_trouble_ = is_trouble_ || !is_harmless;
}

bool MessageMatcher::start(const ReadLine& line, const std::vector<std::uint32_t>& literals) {
  bool belongs = false;
  std::shared_ptr<FirstLine> first;
  for (const std::uint32_t literal : literals) {
    const LiteralUse& use = index_.use_of(literal);
    if (use.help_count) belongs = take_help_count(line) || belongs;
    if (use.help_without_text) {
      help_step_ = 1;
      belongs = true;
    }
    for (const std::uint32_t number : use.patterns) {
      belongs = start_pattern(line, index_.pattern(number), first) || belongs;
    }
  }
  first.reset();
  close_finished(false);
  return belongs;
}

bool MessageMatcher::start_pattern(const ReadLine& line, const PatternRef& pattern,
                                   std::shared_ptr<FirstLine>& first) {
  auto captures = match_line(pattern.lines->front(), line.raw);
  if (!captures) return false;
  if (!first) first = std::make_shared<FirstLine>(FirstLine{std::string(line.raw), line, new_match(line)});
  Open open;
  open.match = first->match;
  open.first = first;
  open.match.owner = pattern.owner;
  open.match.is_ending = pattern.is_ending;
  open.match.weight = pattern.weight;
  open.match.captures = std::move(*captures);
  open.lines = pattern.lines;
  open.lines_left = open.complete() ? field_lines : pattern_lines;
  open.any_left = foreign_lines;
  note_trouble(open);
  if (open_.size() >= max_open) close_finished(true);
  open_.push_back(std::move(open));
  return true;
}

Match MessageMatcher::new_match(const ReadLine& line) const {
  Match match;
  match.source = line.source;
  match.sequence = line.sequence;
  match.stamp = last_stamp_;
  match.origin_rank = line.prefix.rank;
  match.origin_host = line.prefix.host;
  match.evidence.push_back(evidence_of(line));
  return match;
}

// "[h1:77] 3 more processes have sent help message help-x.txt / topic"
bool MessageMatcher::take_help_count(const ReadLine& line) {
  static const auto pattern = parse_line_pattern("{number} more process{*} sent help message {value}");
  const auto captures = match_line(*pattern, line.prefix.text);
  const std::size_t slash = captures ? captures->value.find(" / ") : std::string::npos;
  if (slash == std::string::npos) return false;
  const std::string_view value = captures->value;
  add_topic(line, value.substr(0, slash), trim(value.substr(slash + 3)), captures->number.value_or(1));
  return true;
}

// The lines after "Sorry!  You were supposed to get help about:": TOPIC, "from the file:", FILE.
bool MessageMatcher::take_help_without_text(const ReadLine& line) {
  const std::string_view text = trim(line.prefix.text);
  if (text.empty()) return false;
  if (help_step_ == 1) help_topic_ = text.substr(0, 200);
  // PRRTE 2 and 3 have not even the name: "But I couldn't open the help file:", then "(null)".
  if (help_step_ == 2 && !has(text, "from the file") && !has(text, "open the help file")) {
    help_step_ = 0;
    return false;
  }
  if (help_step_ == 3) {
    const std::size_t slash = text.rfind('/');
    add_topic(line, slash == std::string_view::npos ? text : text.substr(slash + 1), help_topic_, 1);
  }
  help_step_ = (help_step_ + 1) % 4;
  return true;
}

void MessageMatcher::add_topic(const ReadLine& line, std::string_view file, std::string_view topic,
                               std::uint64_t count) {
  const int owner = index_.signature_of_topic(file, topic);
  if (owner < 0) return;
  Match match = new_match(line);
  match.owner = static_cast<std::uint32_t>(owner);
  match.weight = file.size() + topic.size();
  match.count = std::min<std::uint64_t>(count, 1u << 24);
  match.origin_host.clear();  // it is mpirun that counts
  sink_(std::move(match));
}

void MessageMatcher::close_finished(bool all) {
  const auto is_over = [all](const Open& open) { return all || open.lines_left <= 0; };
  for (Open& open : open_) {
    if (is_over(open)) decide(open);
  }
  std::erase_if(open_, is_over);
}

void MessageMatcher::decide(Open& open) {
  if (open.complete()) {
    open.first->is_matched = true;
    sink_(std::move(open.match));
  } else if (open.first.use_count() == 1 && !open.first->is_matched) {
    ReadLine line = open.first->line;
    line.raw = open.first->raw;
    const auto rank = line.prefix.rank;
    line.prefix = split_prefix(line.raw);
    if (rank) line.prefix.rank = rank;
    unmatched_(line);
  }
  open.first.reset();
}

void MessageMatcher::end() {
  close_finished(true);
  help_step_ = 0;
  last_stamp_ = {};
}

}  // namespace ddlrun::diagnose
