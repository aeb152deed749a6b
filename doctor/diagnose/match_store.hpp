// SPDX-License-Identifier: MIT
// The matches of a log by signature: the earliest of each, their count, hosts and ranks. The size is
// bounded by the number of signatures, not by the log.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "doctor/diagnose/match.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

// The first lines of the last episodes of trouble (episodes.hpp); 0 where all of the log counts.
struct LastEpisodes {
  std::uint64_t of_cause = 0;  // that contains a cause
  std::uint64_t of_end = 0;    // of any kind: programs survive some failures
};

class MatchStore {
 public:
  explicit MatchStore(const SignatureSet& set) : set_(set) {}

  // `episode` is the first line of the episode of trouble that contains the match (episodes.hpp).
  void add(Match&& match, std::uint64_t episode);

  // Findings, the cause first: P, G, E, S, W; among equals the earliest. `tagged` as in TemplateValues
  // (finding_text.hpp); remedies of a message without a host name `likely_host`, "" if unknown.
  // What occurs only before them is not the cause.
  std::vector<Finding> ranked(const std::vector<std::string>& sources, const std::string& tagged,
                              const std::string& likely_host, LastEpisodes episodes) const;
  // The last episode that contains a cause which neither follows from another nor is survived; 0 for none.
  std::uint64_t last_episode_with_cause() const;
  // The rank that ended first, by its launcher's message.
  std::optional<FailingRank> first_failed_rank(const std::vector<std::string>& sources) const;
  // launch's end line shows that all ranks failed alike: how many they were; else 0.
  std::uint32_t ranks_alike() const;
  // The whole run's status, if the log contains it.
  RunStatus logged_status() const;
  // `end`, but the status of the first task that failed where its launcher ends with 0 nevertheless.
  RunStatus status_with_tasks(RunStatus end) const;
  // The last line of the last match, counted over all sources; 0 for none.
  std::uint64_t last_line() const { return last_line_; }
  // The rank's host, if the log contains it, else "".
  std::string host_of(std::uint32_t rank) const;
  // Known from elsewhere.
  void set_host(std::uint32_t rank, std::string host);

 private:
  struct Entry {
    Match best;    // of all
    Match latest;  // the best of the latest episode
    std::uint64_t latest_episode = 0;
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;  // as it was added
    std::uint64_t count = 0;
    bool differs = false;  // its values do
    std::set<std::string> hosts;
    std::set<std::uint32_t> ranks;
  };

  void add_ending(const Match& match);
  bool is_earlier_end(const Match& match) const;
  bool peer_ended(const Entry& entry) const;
  Finding finding_in(const Signature& signature, const Entry& entry, const Match& best,
                     const std::vector<std::string>& sources, const std::string& tagged,
                     const std::string& likely_host) const;

  const SignatureSet& set_;
  std::map<std::uint32_t, Entry> entries_;  // by the signature's number
  std::optional<Match> first_end_;
  RunStatus status_;
  std::optional<RunStatus> task_status_;
  std::uint64_t last_line_ = 0;
  std::map<std::uint32_t, std::string> host_of_rank_;
};

LogSource log_source_named(std::string_view name);

}  // namespace ddlrun::diagnose
