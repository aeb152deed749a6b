// SPDX-License-Identifier: MIT
#include "diagnose/message_matcher.hpp"

#include "base/text.hpp"
#include "diagnose/message_fields.hpp"
#include "diagnose/shown_text.hpp"

#include <algorithm>
#include <iterator>

namespace ddlrun::diagnose {

namespace {

constexpr int pattern_lines = 20;  // how far apart the lines of one message may be
constexpr int field_lines = 12;
constexpr int foreign_lines = 200;  // lines of others in between
constexpr std::size_t max_open = 64;
constexpr std::size_t max_evidence = 8;
SeenLine seen(const ReadLine& line) { return {line.line, shown(trim(line.prefix.text))}; }

void add_evidence(Sighting& sighting, const ReadLine& line) {
  const bool known = !sighting.evidence.empty() && sighting.evidence.back().line == line.line;
  if (!known && sighting.evidence.size() < max_evidence) sighting.evidence.push_back(seen(line));
}

bool speaks_for_another(const Sighting& sighting, const LinePrefix& prefix) {
  return sighting.speaker_rank && prefix.rank && *sighting.speaker_rank != *prefix.rank;
}

// A pattern is held against the whole line; where a prefix could hide its beginning, also without it.
std::optional<Captures> match_either(const LinePattern& pattern, const ReadLine& line) {
  if (pattern.pieces.empty()) return match_line(pattern, line.prefix.text);
  auto captures = match_line(pattern, line.raw);
  return captures ? captures : match_line(pattern, line.prefix.text);
}

}  // namespace

bool MessageMatcher::take(const ReadLine& line, const std::vector<std::uint32_t>& literals) {
  if (line.prefix.stamp.kind != Stamp::Kind::none) last_stamp_ = line.prefix.stamp;
  if (is_box_edge(line.prefix.text)) {
    for (Open& open : open_) {
      if (open.complete() && !speaks_for_another(open.sighting, line.prefix)) open.lines_left = 0;
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
  bool belongs = false;
  for (Open& open : open_) {
    if (--open.any_left <= 0) open.lines_left = 0;
    if (speaks_for_another(open.sighting, line.prefix)) continue;
    --open.lines_left;
    belongs = feed(open, line) || belongs;
  }
  close_finished(false);
  return belongs;
}

bool MessageMatcher::feed(Open& open, const ReadLine& line) {
  if (trim(line.prefix.text).empty()) return false;
  if (!open.complete()) {
    const auto captures = match_either((*open.lines)[open.next], line);
    if (captures) {
      open.sighting.captures.add(*captures);
      add_evidence(open.sighting, line);
      if (++open.next >= open.lines->size()) open.lines_left = field_lines;
      return true;
    }
  }
  const auto field = read_field(line.prefix.text);
  if (!field) return false;
  open.sighting.fields.add(field->captures);
  add_evidence(open.sighting, line);
  return true;
}

bool MessageMatcher::start(const ReadLine& line, const std::vector<std::uint32_t>& literals) {
  bool belongs = false;
  for (const std::uint32_t literal : literals) {
    const LiteralUse& use = book_.use_of(literal);
    if (use.help_count) belongs = take_help_count(line) || belongs;
    if (use.help_without_text) {
      help_step_ = 1;
      belongs = true;
    }
    for (const std::uint32_t number : use.patterns) {
      belongs = start_pattern(line, book_.pattern(number)) || belongs;
    }
  }
  close_finished(false);
  return belongs;
}

bool MessageMatcher::start_pattern(const ReadLine& line, const PatternRef& pattern) {
  auto captures = match_line(pattern.lines->front(), line.raw);
  if (!captures) return false;
  Open open;
  open.sighting = new_sighting(line);
  open.sighting.owner = pattern.owner;
  open.sighting.is_ending = pattern.is_ending;
  open.sighting.weight = pattern.weight;
  open.sighting.captures = std::move(*captures);
  open.lines = pattern.lines;
  open.lines_left = open.complete() ? field_lines : pattern_lines;
  open.any_left = foreign_lines;
  if (open_.size() >= max_open) close_finished(true);
  open_.push_back(std::move(open));
  return true;
}

Sighting MessageMatcher::new_sighting(const ReadLine& line) const {
  Sighting sighting;
  sighting.source = line.source;
  sighting.sequence = line.sequence;
  sighting.stamp = last_stamp_;
  sighting.speaker_rank = line.prefix.rank;
  sighting.speaker_host = line.prefix.host;
  sighting.evidence.push_back(seen(line));
  return sighting;
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
  if (help_step_ == 2 && text.find("from the file") == std::string_view::npos) {
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
  const int owner = book_.signature_of_topic(file, topic);
  if (owner < 0) return;
  Sighting sighting = new_sighting(line);
  sighting.owner = static_cast<std::uint32_t>(owner);
  sighting.weight = file.size() + topic.size();
  sighting.count = std::min<std::uint64_t>(count, 1u << 24);
  sighting.speaker_host.clear();  // it is mpirun that counts
  sink_(std::move(sighting));
}

void MessageMatcher::close_finished(bool all) {
  const auto is_over = [all](const Open& open) { return all || open.lines_left <= 0; };
  for (Open& open : open_) {
    if (is_over(open) && open.complete()) sink_(std::move(open.sighting));
  }
  open_.erase(std::remove_if(open_.begin(), open_.end(), is_over), open_.end());
}

void MessageMatcher::end() {
  close_finished(true);
  help_step_ = 0;
  last_stamp_ = {};
}

}  // namespace ddlrun::diagnose
