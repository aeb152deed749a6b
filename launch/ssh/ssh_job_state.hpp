// SPDX-License-Identifier: MIT
// The state of a job of the ssh launcher: which ranks ended, what follows from it, the status of the job.
// Pure: events go in, actions and messages come out.
#pragma once

#include "launch/monitor/rank_monitor.hpp"
#include "launch/rank/rank_map.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

// A rank's end as SshMessageType::ended has it.
std::uint32_t exit_value(int exit_status, int signal);

class SshJobState {
 public:
  struct Actions {
    bool stop = false;                  // all ranks must end
    std::vector<std::uint32_t> end;     // these service ranks must end: all others have
    std::vector<std::string> messages;  // for people
  };

  explicit SshJobState(const RankMap& rank_map);

  RankReport report_of(std::uint32_t rank, std::uint32_t value) const;
  // Each returns what follows from it. A second end of a rank, or the end of an unknown rank, changes
  // nothing.
  Actions rank_ended(std::uint32_t rank, std::uint32_t value);
  // The connection to a host is gone; `stderr_text`: the last line of ssh. Nothing follows if its ranks had
  // ended.
  Actions host_lost(std::uint32_t node, const std::string& stderr_text);
  // From here on ranks may end with any status: they were signalled.
  void expect_any_status() { stopping_ = true; }

  bool over() const { return left_ == 0; }
  bool is_over(std::uint32_t node) const;
  // Of the job once it is over: 0, that of the rank that failed first, or 5 where a host was lost.
  int status() const;
  const std::optional<RankReport>& first_failure() const { return first_failure_; }

 private:
  struct Rank {
    std::uint32_t node = 0;
    bool is_service = false;
    bool ended = false;
  };
  bool mark_ended(std::uint32_t rank);
  void end_services(Actions& actions);

  std::vector<RankMapHost> hosts_;
  std::vector<Rank> ranks_;
  std::size_t left_ = 0;          // ranks that have not ended
  std::size_t workers_left_ = 0;  // of them, those that are no service
  bool stopping_ = false;
  bool services_ended_ = false;
  std::optional<RankReport> first_failure_;
  std::optional<int> stop_status_;  // of the first that failed after a stop signal
  bool lost_ = false;
};

}  // namespace ddlrun::launch
