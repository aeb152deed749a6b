// SPDX-License-Identifier: MIT
// Who is missing when a wait grows long: a rank asks the one it waits for whom that one waits for, and so on
// down to the one that does not respond. A rank that gives up sends its neighbours the reason, so that they
// do not report it as lost; a rank that ends in order sends them that. A rank that waits long for another
// asks it what it calls, so that ranks which wait for each other in different calls find out.
#pragma once

#include "ddl/core/call_record.hpp"
#include "ddl/core/context_end.hpp"
#include "ddl/core/oob_channel.hpp"
#include "ddl/error.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

class LivenessInspector {
 public:
  // `neighbours` get a message when this rank gives up. `patience`: how long an answer may take.
  LivenessInspector(std::unique_ptr<OobChannel> channel, std::function<std::string(int)> name_of,
                    std::vector<int> neighbours,
                    std::chrono::milliseconds patience = std::chrono::milliseconds(1500));

  // To be called again and again while this rank waits for `rank`, or for all of `ranks`, the most suspect
  // one first: answers who asks. Throws the Error with which another rank has given up; lost for a rank that
  // makes no more calls; mismatch for a rank that makes another call than this one.
  void poll(int rank) { poll(std::span<const int>(&rank, 1)); }
  void poll(std::span<const int> ranks);

  struct Unresponsive {
    int rank = -1;          // who does not respond
    bool deadlock = false;  // all answer: each waits for the next
    std::string name;       // "rank 1 (h2)"
    std::string
        chain;  // "rank 3 (h4) waits for rank 2 (h3), which waits for rank 1 (h2), which does not respond"
  };
  // Down the chain from `rank`, for which this rank waits. Throws as wait_for().
  Unresponsive find_unresponsive(int rank);

  // What this rank calls: now, or under a number of its last calls.
  struct CallFinder {
    std::function<CallSummary()> current;
    std::function<CallSummary(std::uint64_t group, std::uint64_t sequence)> find;
  };
  void set_call_finder(CallFinder finder) { calls_ = std::move(finder); }
  // Both calls by name, for `rank` whose message does not belong to this rank's call. Blocks up to `patience`
  // if it does not respond. Throws as poll().
  Error mismatch(int rank);

  void report_failure(const Error& error) noexcept;
  // This rank makes no more calls in `group`.
  void report_end(std::span<const int> ranks, ContextEnd how, std::uint64_t group = 0) noexcept;
  // Whether `rank` has reported that its process ends by exit().
  bool has_exited(int rank) const;
  // Blocks 0.1 s, in which messages that this rank has sent can leave.
  void flush() noexcept;

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  void answer_messages();
  // What `rank` calls where this rank calls `mine`.
  void ask_for_call(int rank, const CallSummary& mine);
  void answer_call_question(int from, const OobMessage& question);
  // Throws where the first awaited rank has ended; asks it what it calls when the wait grows long.
  void check_awaited(TimePoint now);
  Error different_calls(int rank, const std::string& its_call, const CallSummary& mine) const;
  int awaited_by(int asker) const;
  // What a rank answers: for which rank it waits, and in which call, where this is of another group than this
  // rank's.
  struct Answer {
    int waits_for = -1;
    std::string other_call;
  };
  void answer_question(int from, std::uint32_t number);
  std::optional<Answer> ask(int rank);
  struct Link {
    int rank = -1;
    std::string other_call;  // in which the rank before waits for it
  };
  std::string render_chain(const std::vector<Link>& chain, bool deadlock) const;

  std::unique_ptr<OobChannel> channel_;
  std::function<std::string(int)> name_of_;
  std::vector<int> neighbours_;
  std::chrono::milliseconds patience_;
  TimePoint next_check_;
  std::vector<int> awaited_;
  int unresponsive_ = -1;  // gets no more notes
  std::uint32_t number_ = 0;
  std::optional<Answer> answer_;  // to the last question
  bool failure_reported_ = false;
  CallFinder calls_;
  struct End {
    ContextEnd how = ContextEnd::in_order;
    TimePoint since;
  };
  std::map<std::pair<int, std::uint64_t>, End> ended_;  // by rank and group
  struct Wait {
    int rank = -1;
    std::uint64_t group = 0;
    std::uint64_t sequence = 0;
    TimePoint since;
    std::uint32_t question = 0;  // asked what it calls; 0: not yet
  } wait_;
  std::optional<CallSummary> call_answer_;  // to wait_.question
};

}  // namespace ddl
