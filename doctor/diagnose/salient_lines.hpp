// SPDX-License-Identifier: MIT
// Picks the lines of an unknown log that most likely show the failure: lines with words such as "error:" or
// "Traceback", ranked by score, one line of each shape.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_line.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

struct ErrorKeyword {
  std::string_view text;
  int score;
};
std::span<const ErrorKeyword> error_keywords();

// From this score on, one line is enough to call the run failed.
constexpr int min_failure_score = 70;

struct SalientLine {
  LogLine line;  // `source` is empty
  std::uint32_t source = 0;
  Moment moment;
  Place place;
  int score = 0;
  std::string shape;  // the text without its numbers
};

class SalientLines {
 public:
  // `word_score` is the highest of the words in the line.
  void take(const ReadLine& line, int word_score);

  // At most `limit`, in the order of the log.
  std::vector<SalientLine> best(std::size_t limit) const;
  // The first line of a known rank with at least min_failure_score.
  const std::optional<SalientLine>& first_of_a_rank() const { return first_of_a_rank_; }
  int highest_score() const { return highest_; }

 private:
  std::vector<SalientLine> kept_;
  std::optional<SalientLine> first_of_a_rank_;
  int highest_ = 0;
};

// True for text that launchers print after every failure: it does not explain this one.
bool is_boilerplate(std::string_view text);

// The score of a line whose best word has `word_score`: warnings and figures of merit count less.
int line_salience(std::string_view text, int word_score);

}  // namespace ddlrun::diagnose
