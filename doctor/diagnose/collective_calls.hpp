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

class CollectiveCalls {
 public:
  // A line with "SeqNum=".
  void take(const ReadLine& line);
  std::optional<CollectiveMismatch> mismatch() const;

 private:
  std::map<std::uint32_t, CollectiveCall> by_rank_;  // the first of each, at most 4096
  std::uint32_t source_ = 0;
};

}  // namespace ddlrun::diagnose
