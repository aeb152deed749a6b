// SPDX-License-Identifier: MIT
// What was seen, by signature: the earliest sighting of each, how often, on which hosts and ranks. Its size
// is bounded by the number of signatures, not by the log.
#pragma once

#include "diagnose/diagnosis.hpp"
#include "diagnose/sighting.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

class FindingBook {
 public:
  explicit FindingBook(const SignatureSet& set) : set_(set) {}

  void add(Sighting&& sighting);

  // Findings, the cause first: P, G, N, S, W; among equals the earliest. `tagged` as in FillIns.
  std::vector<Finding> ranked(const std::vector<std::string>& sources, const std::string& tagged) const;
  // The first rank that its launcher says has ended.
  std::optional<FailingRank> first_ended(const std::vector<std::string>& sources) const;
  // The whole run's status, if the log tells it.
  RunStatus told_status() const;
  // Where a rank lives, as far as the log tells, else "".
  std::string host_of(std::uint32_t rank) const;

 private:
  struct Entry {
    Sighting best;
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;  // as it was added
    std::uint64_t count = 0;
    std::set<std::string> hosts;
    std::set<std::uint32_t> ranks;
  };

  void add_ending(const Sighting& sighting);
  Finding finding_of(const Signature& signature, const Entry& entry, const std::vector<std::string>& sources,
                     const std::string& tagged) const;

  const SignatureSet& set_;
  std::map<std::uint32_t, Entry> entries_;  // by the signature's number
  std::optional<Sighting> first_end_;
  RunStatus status_;
  std::map<std::uint32_t, std::string> host_of_rank_;
};

// What may stand for {host}, {rank}, {value}, {try} and {tagged} in the texts of a signature.
struct FillIns {
  Place place;
  std::string value;
  std::string advice;
  std::string tagged = "mpirun --tag-output";  // the words that start it with each line's rank before it
};
std::string fill_in(std::string_view text, const FillIns& with);

Starter starter_named(std::string_view name);

}  // namespace ddlrun::diagnose
