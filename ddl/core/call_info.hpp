// SPDX-License-Identifier: MIT
// What a collective call is: its operation, its number and its tensor. Ranks compare it before they exchange
// data.
#pragma once

#include "ddl/data_type.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ddl {

enum class OpType : std::uint8_t {
  start,
  barrier,
  broadcast,
  reduce_scatter,
  all_gather,
  all_reduce,
  all_reduce_n,
  all_reduce_update,
  gather,
  verify_tensors,
  allocate,
  allocate_for_host,
  reduce,
  scatter,
  gather_tensor,
  split
};

// The detail of a call with an operation and a root. In a record, the largest detail stands for larger ones,
// too.
constexpr int rooted_detail(Operation operation, int root) { return root << 3 | static_cast<int>(operation); }
constexpr std::uint16_t recorded_detail(int detail) {
  return static_cast<std::uint16_t>(detail < 0xffff ? detail : 0xffff);
}

// What this rank thinks is being called; ranks that differ get Error(mismatch). `sequence` counts the calls
// of the program, `signature` is anything that must be equal (a hash of names and shapes).
struct CallId {
  std::uint64_t sequence = 0;
  std::uint64_t signature = 0;
  std::optional<OpType> program = {};  // what the program calls, where parts of it have names of their own
  std::string_view tensor = {};        // its name, for messages; it outlives the call
  std::uint16_t detail = 0;            // of the program's call: the operation, the root, or both
};

// A call in full: "all_reduce #812 of 4096 float32".
struct CallInfo {
  OpType op = OpType::barrier;
  CallId call;
  std::size_t count = 0;
  DataType type = DataType::float32;
  std::uint16_t detail = 0;  // of a part without a program's call
};

}  // namespace ddl
