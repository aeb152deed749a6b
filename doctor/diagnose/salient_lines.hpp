// SPDX-License-Identifier: MIT
// Picks the lines of an unknown log that most likely show the failure: lines with words such as "error:" or
// "cannot ", ranked by score, one line of each shape, each with the lines that follow it.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/log_line.hpp"
#include "doctor/diagnose/match.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

// From this score on, one line is enough to report that the run failed.
constexpr int min_failure_score = 70;

// From this score on, a line is listed; the run may have failed.
constexpr int min_doubtful_score = 50;

struct SalientLine {
  LogLine line;  // `source` is empty
  std::uint32_t source = 0;
  Moment moment;
  Place place;
  int score = 0;
  std::string shape;                    // the text without its numbers
  std::vector<EvidenceLine> following;  // of the same rank, at most 8
};

class SalientLines {
 public:
  // `word_score` is the highest of the words in the line.
  void take(const ReadLine& line, int word_score);
  // Every line while is_attentive().
  void follow(const ReadLine& line);
  // True while lines without any keyword matter too.
  bool is_attentive() const { return !followed_shape_.empty(); }
  void end_source() {
    followed_shape_.clear();
    followed_score_ = 0;
  }

  // At most `limit`, in the order of the log.
  std::vector<SalientLine> best(std::size_t limit) const;
  // The first line of a known rank with at least min_failure_score.
  const std::optional<SalientLine>& first_of_a_rank() const { return first_of_a_rank_; }
  int highest_score() const { return highest_; }
  // Some line reports that the program cannot go on: "Fatal error", "Abort(".
  bool shows_fatal() const { return shows_fatal_; }
  // The last line, counted over all sources, with at least min_doubtful_score; 0 for none.
  std::uint64_t last_doubtful() const { return last_doubtful_; }
  // All that are kept, in no order.
  const std::vector<SalientLine>& kept() const { return kept_; }

 private:
  std::vector<SalientLine> kept_;
  std::optional<SalientLine> first_of_a_rank_;
  int highest_ = 0;
  std::uint64_t last_doubtful_ = 0;
  bool shows_fatal_ = false;
  std::string followed_shape_;  // of the line whose following lines are read
  int followed_score_ = 0;
  std::optional<std::uint32_t> followed_label_;  // the rank before its line
  int lines_left_ = 0;
};

// True for text that launchers print after every failure: it does not explain this one.
bool is_boilerplate(std::string_view text);

// The line of dashes above and below each message of Open MPI, and the score of the first line of a message
// whose words say nothing bad: it counts at the end of a log.
constexpr std::string_view help_ruler =
    "--------------------------------------------------------------------------";
constexpr int help_score = 57;

// The place and the advice of a message of libddl or ddlrun: its first line has the reason.
bool is_below_reason(std::string_view text);

// "A request was made to bind": how such a message begins.
bool begins_message(std::string_view text);

// True for rulers, banners and drawings: less than half of the text is letters and digits.
bool is_decoration(std::string_view text);

// "open /dev/x: Invalid argument": a call of the system failed.
bool ends_with_errno_text(std::string_view text);

// "fatal error" alone: what failed stands below it.
bool is_bare_head(std::string_view text);

// What prepares a job: a module, an environment or a command of the job script that is missing. The job often
// goes on, and its own error explains more.
bool is_of_setup(std::string_view text);
bool is_of_modules(std::string_view text);

// A question that the job goes on without an answer to: a configure script that looks for a command, squeue.
bool is_of_probe(std::string_view text);

// A launcher or the batch system reports what it does about a process that ended.
bool is_consequence(std::string_view text);

// "W0815 11:58:07" of glog, "2024-10-07 21:30:01.7: W tensorflow/": the letter of the level.
bool has_warning_letter(std::string_view text);

// The score of a line whose best word has `word_score`: warnings and figures of merit count less.
int line_salience(std::string_view text, int word_score);

}  // namespace ddlrun::diagnose
