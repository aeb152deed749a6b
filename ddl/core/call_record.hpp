// SPDX-License-Identifier: MIT
// A call of a host's ranks in a few bytes of shared memory: for comparing, and for messages.
#pragma once

#include "ddl/core/call_info.hpp"

#include <cstdint>
#include <string>

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
// "all_reduce #812 of 4096 float32"
std::string render_record(const CallRecord& record);

}  // namespace ddl
