// SPDX-License-Identifier: MIT
// Who is missing when a wait grows long: a rank asks the one it waits for whom that one waits for, and so on
// down to the one that does not respond. A rank that gives up sends its neighbours the reason, so that they
// do not report it as lost.
#pragma once

#include "ddl/core/oob_channel.hpp"
#include "ddl/error.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddl {

class LivenessInspector {
 public:
  // `neighbours` get a message when this rank gives up. `patience`: how long an answer may take.
  LivenessInspector(std::unique_ptr<OobChannel> channel, std::function<std::string(int)> name_of,
                    std::vector<int> neighbours,
                    std::chrono::milliseconds patience = std::chrono::milliseconds(1500));

  // To be called again and again while this rank waits for `rank`, or for all of `ranks`, the most suspect one
  // first: answers who asks. Throws the Error with which another rank has given up.
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

  void report_failure(const Error& error) noexcept;

 private:
  void answer_messages();
  int awaited_by(int asker) const;
  std::optional<int> ask(int rank);
  std::string render_chain(const std::vector<int>& chain, bool deadlock) const;

  std::unique_ptr<OobChannel> channel_;
  std::function<std::string(int)> name_of_;
  std::vector<int> neighbours_;
  std::chrono::milliseconds patience_;
  std::chrono::steady_clock::time_point next_check_;
  std::vector<int> awaited_;
  int unresponsive_ = -1;  // gets no more notes
  std::uint32_t number_ = 0;
  std::optional<int> answer_;  // to the last question
  bool failure_reported_ = false;
};

}  // namespace ddl
