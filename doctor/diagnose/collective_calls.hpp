// SPDX-License-Identifier: MIT
// The collectives in which ranks waited when PyTorch's watchdog ended them: whether all called the same one.
//   [rank3]: ... Watchdog caught collective operation timeout: WorkNCCL(SeqNum=15074, OpType=ALLREDUCE,
//   NumelIn=1024, ...
#pragma once

#include "doctor/diagnose/log_line.hpp"
#include "doctor/diagnose/match.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

struct CollectiveCall {
  std::uint64_t number = 0;  // of the calls in its group, from 1
  std::string operation;     // "ALLREDUCE"
  std::string elements;      // of its input, "" in older versions
  std::string group;         // "PG ID 0 PG GUID 0", "" in older versions
  EvidenceLine evidence;

  bool is_same(const CollectiveCall& other) const {
    return operation == other.operation && elements == other.elements;
  }
};

// Ranks of one group that wait in different collectives.
struct CollectiveMismatch {
  std::uint32_t rank = 0;  // the one that is behind, or that differs from most
  std::string text;        // "rank 1 waits in ALLGATHER (number 12), rank 0 in ALLREDUCE (number 14)"
  std::uint32_t source = 0;
  EvidenceLine evidence;
};

// Who waited for its time limit in the calls of one group.
struct CollectiveReport {
  std::vector<std::uint32_t> ranks;   // all that report it, ascending
  std::vector<std::uint32_t> behind;  // those with the lowest number, if others have a higher one
  std::vector<std::uint32_t> silent;  // between rank 0 and the highest: they report nothing
  std::uint32_t source = 0;
  EvidenceLine first;  // of the lowest rank behind, else of the lowest rank
};

class CollectiveCalls {
 public:
  // A line with "SeqNum=".
  void take(const ReadLine& line);
  std::optional<CollectiveMismatch> mismatch() const;
  // Nothing for calls of several groups, whose numbers cannot be compared.
  std::optional<CollectiveReport> report() const;

 private:
  bool are_of_one_group() const;

  std::map<std::uint32_t, CollectiveCall> by_rank_;  // the first of each, at most 4096
  std::uint32_t source_ = 0;
};

}  // namespace ddlrun::diagnose
