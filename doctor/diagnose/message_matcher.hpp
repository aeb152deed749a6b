// SPDX-License-Identifier: MIT
// Follows messages over their lines: a line that begins a pattern opens a match, which then waits for the
// pattern's other lines and for its fields. Lines of another rank in between do not count.
#pragma once

#include "doctor/diagnose/log_line.hpp"
#include "doctor/diagnose/match.hpp"
#include "doctor/diagnose/message_fields.hpp"
#include "doctor/diagnose/pattern_index.hpp"

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

class MessageMatcher {
 public:
  using Sink = std::function<void(Match&&)>;
  using UnmatchedSink = std::function<void(const ReadLine&)>;

  // `sink` is called for each match when nothing more can be learned about it, `unmatched` for a line that
  // took part in no match after all: it began patterns, and none of them found its other lines.
  MessageMatcher(const PatternIndex& book, Sink sink, UnmatchedSink unmatched)
      : index_(book), sink_(std::move(sink)), unmatched_(std::move(unmatched)) {}

  // True while lines without any literal matter too.
  bool is_attentive() const { return !open_.empty() || help_step_ != 0; }
  // The line that take() read belongs to a message that is more than harmless noise.
  bool is_trouble() const { return is_trouble_; }
  // The next line; `literals` are those found in it. True if it belongs to a message.
  bool take(const ReadLine& line, const std::vector<std::uint32_t>& literals);
  // The log ends here.
  void end();

 private:
  // The line that began a match, kept until all patterns that it began are decided.
  struct FirstLine {
    std::string raw;
    ReadLine line;  // its views are not valid
    Match match;    // without a pattern
    bool is_matched = false;
  };
  struct Open {
    Match match;
    std::shared_ptr<FirstLine> first;
    const MessagePattern* lines = nullptr;
    std::size_t next = 1;  // the line of the pattern that is waited for
    int lines_left = 0;
    int any_left = 0;  // counts foreign lines too

    bool complete() const { return next >= lines->size(); }
  };

  bool feed_open(const ReadLine& line);
  bool feed(Open& open, const ReadLine& line, const std::optional<FoundField>& field);
  bool start(const ReadLine& line, const std::vector<std::uint32_t>& literals);
  bool start_pattern(const ReadLine& line, const PatternRef& pattern, std::shared_ptr<FirstLine>& first);
  void decide(Open& open);
  void note_trouble(const Open& open);
  bool take_help_count(const ReadLine& line);
  bool take_help_without_text(const ReadLine& line);
  void add_topic(const ReadLine& line, std::string_view file, std::string_view topic, std::uint64_t count);
  Match new_match(const ReadLine& line) const;
  void close_finished(bool all);

  const PatternIndex& index_;
  Sink sink_;
  UnmatchedSink unmatched_;
  std::list<Open> open_;
  Stamp last_stamp_;
  bool is_trouble_ = false;
  int help_step_ = 0;  // 1: the topic is next, 2: "from the file:", 3: the file
  std::string help_topic_;
};

}  // namespace ddlrun::diagnose
