// SPDX-License-Identifier: MIT
// A call of a host's ranks in a few bytes of shared memory: for comparing, and for messages.
#pragma once

#include "ddl/core/call_info.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ddl {

inline constexpr const char* same_calls_hint =
    "all ranks make the same calls with the same counts in the same order";

// A call in 24 bytes, so that two of them and the flag fit a line.
struct CallRecord {
  std::uint64_t sequence;
  std::uint64_t signature;
  std::uint64_t what;
  bool operator==(const CallRecord&) const = default;
};

// A call as ranks of other hosts get it.
struct CallSummary {
  std::uint64_t sequence = 0;  // the same on all ranks of the group for the same part of a call; 0: none
  std::uint64_t signature = 0;
  std::string text;         // describe_call(), with the group
  std::uint64_t group = 0;  // RankGroup::id
};

// Of calls that are not all equal: `usual` makes the call that most make, `odd` is the first that does not.
// Of as many each, the first is the usual one.
struct OddCall {
  std::size_t odd;
  std::size_t usual;
};
OddCall find_odd_call(std::span<const CallRecord> calls);

// As a program calls it: "all_reduce_n".
std::string_view name_of(OpType op);
// Whether the program gives it a tensor, which belongs to its name.
bool has_numbers(OpType op);
bool is_allocation(OpType op);
CallRecord record_of(const CallInfo& info);
// "all_reduce #812 of 4096 float32", with the tensor's name if it is given.
std::string render_record(const CallRecord& record, std::string_view tensor = {});
// With the operation and the root: "all_reduce #812 (max) of 4096 float32 "conv1"", "reduce #3 (sum, root 1)
// of ...".
std::string describe_call(const CallRecord& record, std::string_view tensor = {});
// "rank 1 (h1) calls A, rank 0 (h1) calls B", as the two calls are rendered.
std::string describe_difference(const std::string& odd, const std::string& odd_call, const std::string& first,
                                const std::string& first_call);

}  // namespace ddl
