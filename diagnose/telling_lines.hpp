// SPDX-License-Identifier: MIT
// Which lines of an unknown log say most about a failure: lines with words such as "error:" or "Traceback",
// ranked, each kind once.
#pragma once

#include "diagnose/diagnosis.hpp"
#include "diagnose/log_line.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

struct TellingWord {
  std::string_view text;
  int score;
};
std::span<const TellingWord> telling_words();

// A line is a sign of failure by itself from here on.
constexpr int sure_sign_of_failure = 70;

class TellingLines {
 public:
  // `word_score` is the highest of the words in the line.
  void take(const ReadLine& line, int word_score);

  struct Told {
    LogLine line;  // `source` is empty
    std::uint32_t source = 0;
    Moment moment;
    Place place;
    int score = 0;
    std::string shape;  // the text without its numbers
  };
  // At most `limit`, in the order of the log.
  std::vector<Told> best(std::size_t limit) const;
  // The first line with a sure sign whose rank is known.
  const std::optional<Told>& first_of_a_rank() const { return first_of_a_rank_; }
  int highest_score() const { return highest_; }

 private:
  std::vector<Told> kept_;
  std::optional<Told> first_of_a_rank_;
  int highest_ = 0;
};

// What launchers say after every failure: it tells nothing of this one.
bool is_boilerplate(std::string_view text);

// The score of a line whose best word has `word_score`: warnings and figures of merit count less.
int telling_score(std::string_view text, int word_score);

}  // namespace ddlrun::diagnose
