// SPDX-License-Identifier: MIT
// Reads logs of any size in portions and keeps only what a diagnosis needs: a few MiB at most.
//
//   begin_source() -> take(): blocks of bytes -> lines (long ones in segments) -> sanitized text
//     -> line prefix (rank, host, time) -> PatternIndex: signatures whose literal text occurs
//     -> MessageMatcher: their whole pattern -> MatchStore: first and last match of each signature
//     -> TracebackReader: exceptions of Python; NativeStack: where a process crashed; CollectiveCalls
//     -> salient lines, the last lines, exit statuses
//   end_source() flushes an unfinished line; sources follow each other, one rank's file or one log
//   diagnosis(): see conclusion.hpp
#pragma once

#include "doctor/diagnose/collective_calls.hpp"
#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/episodes.hpp"
#include "doctor/diagnose/match_store.hpp"
#include "doctor/diagnose/message_matcher.hpp"
#include "doctor/diagnose/native_stack.hpp"
#include "doctor/diagnose/output_gap.hpp"
#include "doctor/diagnose/own_report.hpp"
#include "doctor/diagnose/pattern_index.hpp"
#include "doctor/diagnose/python_traceback.hpp"
#include "doctor/diagnose/run_traits.hpp"
#include "doctor/diagnose/salient_lines.hpp"
#include "doctor/diagnose/stack_tail.hpp"
#include "doctor/diagnose/usage_footer.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::diagnose {

class LogAnalysis {
 public:
  explicit LogAnalysis(std::shared_ptr<const SignatureSet> set);
  LogAnalysis(const LogAnalysis&) = delete;
  LogAnalysis& operator=(const LogAnalysis&) = delete;

  // Logs come one after another; `name` appears in the evidence; "rank.3" or "rank3" in it sets the rank.
  void begin_source(const std::string& name);
  void take(std::string_view block);
  void end_source();
  // Known to the launcher: a higher number before a line is no rank.
  void set_rank_count(std::uint32_t ranks) { ranks_ = ranks; }
  void set_host(std::uint32_t rank, const std::string& host) { matches_.set_host(rank, host); }

  Diagnosis diagnosis(const RunStatus& end) const;

 private:
  struct LastLine {
    LogLine line;
    std::uint64_t sequence = 0;  // over all sources
    bool names_rank = false;     // in its prefix
  };

  void take_lines(std::string_view text);
  void take_long_line(std::string_view line, bool is_whole);
  void take_line(std::string_view line, bool touched);
  void take_segment(std::string_view segment, bool touched);
  void note_tag(const LinePrefix& prefix);
  void take_salient(const ReadLine& line, const std::vector<std::uint32_t>& literals, int least = 0);
  int word_score(const std::vector<std::uint32_t>& literals) const;
  void take_time_limit(const ReadLine& line);
  void take_line_before(std::string_view text);
  std::vector<LastLine> last_lines(std::string_view text, std::uint64_t number) const;
  void remember_last_lines(std::string_view text);
  // True while lines without any literal matter too.
  bool is_attentive() const {
    return matcher_.is_attentive() || tracebacks_.is_attentive() || salient_.is_attentive() ||
           stack_.is_attentive() || tail_.is_attentive() || is_below_ruler_ || report_.is_open();
  }

  std::shared_ptr<const PatternIndex> index_;
  MatchStore matches_;
  SalientLines salient_;
  MessageMatcher matcher_;
  TracebackReader tracebacks_;
  NativeStack stack_;
  StackTail tail_;
  OwnReport report_;
  CollectiveCalls collectives_;
  Episodes episodes_;
  std::set<std::string> hosts_;  // named before lines
  std::vector<std::string> sources_;
  std::vector<std::uint64_t> lines_of_source_;
  std::optional<std::uint32_t> source_rank_;
  std::uint32_t ranks_ = std::numeric_limits<std::uint32_t>::max();
  bool is_below_ruler_ = false;             // of a message of Open MPI
  bool names_ranks_ = false;                // some line has a rank in its prefix
  bool is_tagged_ = false;                  // the launcher put it there, or each rank has a file
  std::optional<std::uint32_t> first_tag_;  // of one line only, it may be any number
  bool of_srun_ = false;                    // some line is srun's own
  bool of_mpi_ = false;                     // some line with a known text names MPI
  std::string carry_;                       // a line that has not ended yet
  std::string_view before_;                 // of the portion being read, up to the current line
  std::vector<LastLine> lines_before_end_;  // the last lines before a launcher reports an end
  std::vector<LastLine> last_lines_;
  UsageFooters footers_;
  RunTraits traits_;
  StillEnd still_end_;             // before a time limit
  bool ends_in_nul_ = false;       // the last log
  std::uint64_t line_ = 0;         // of the current source
  std::uint64_t lines_ended_ = 0;  // of those before it
  std::uint64_t bytes_ = 0;
};

}  // namespace ddlrun::diagnose
