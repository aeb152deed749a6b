// SPDX-License-Identifier: MIT
// A call of a host's ranks in a few bytes of shared memory: for comparing, and for messages.
#pragma once

#include "ddl/core/call_info.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ddl {

// An occasion in 24 bytes, so that two of them and the flag fit a line.
struct CallRecord {
  std::uint64_t sequence;
  std::uint64_t signature;
  std::uint64_t what;
  bool operator==(const CallRecord&) const = default;
};

// As a program calls it: "all_reduce_n".
std::string_view name_of(OpType op);
// Whether the program gives it a tensor, which belongs to its name.
bool has_numbers(OpType op);
CallRecord record_of(const CallInfo& info);
// "all_reduce #812 of 4096 float32", with the tensor's name if it is given.
std::string render_record(const CallRecord& record, std::string_view tensor = {});
// "rank 1 (h1) calls A, rank 0 (h1) calls B", as the two calls are rendered.
std::string describe_difference(const std::string& odd, const std::string& odd_call, const std::string& first,
                                const std::string& first_call);

}  // namespace ddl
