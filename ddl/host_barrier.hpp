// SPDX-License-Identifier: MIT
// Where the ranks of one host meet: flags in shared memory, one line of cache for each rank, with what the
// rank calls beside its flag. Waits spin, then yield, then sleep; each ends within the timeout, and the first
// error of a rank is thrown by all.
#pragma once

#include "ddl/data_type.hpp"
#include "ddl/error.hpp"
#include "ddl/host_group.hpp"
#include "ddl/stall.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

enum class Verb : std::uint8_t {
  start,
  barrier,
  broadcast,
  reduce_scatter,
  all_gather,
  all_reduce,
  all_reduce_n,
  all_reduce_update,
  gather,
  agree,
  allocate
};

// What this rank thinks is being called; ranks that differ get Error(mismatch). `sequence` counts the calls
// of the program, `signature` is anything that must be equal (a hash of names and shapes).
struct Call {
  std::uint64_t sequence = 0;
  std::uint64_t signature = 0;
  std::optional<Verb> program = {};  // what the program calls, where parts of it have names of their own
};

// A call in full: "all_reduce #812 of 4096 float32".
struct Occasion {
  Verb verb = Verb::barrier;
  Call call;
  std::size_t count = 0;
  DataType type = DataType::float32;
  std::uint8_t detail = 0;  // the operation, or the root's low bits
};

class RollCall;

class HostBarrier {
 public:
  // `block` is zeroed, with at least bytes_needed() at the start of each part; used by this barrier alone.
  HostBarrier(HostGroup& group, std::shared_ptr<SharedBlock> block, double timeout_seconds);
  ~HostBarrier();
  HostBarrier(const HostBarrier&) = delete;
  HostBarrier& operator=(const HostBarrier&) = delete;

  static std::size_t bytes_needed();

  // Returns when all ranks are here. What they wrote before is seen after.
  void meet(const Occasion& occasion);
  // For who waits elsewhere: throws the error that another rank has met.
  void look() const;
  // More ranks than cores that they may use.
  bool oversubscribed() const;
  // Makes all ranks throw this error, or the one that came first.
  void give_up(const Error& error) noexcept;

  // Who is told when a wait takes long. Of the ranks that wait the first one tells.
  void watch(StallWatch watch);
  // Who is asked before a rank is blamed: it may wait for one of another host. `ranks`: the local ones' in
  // the whole job.
  void call_roll(RollCall* roll, std::vector<int> ranks);
  // What this rank is at, for the others; from any thread.
  void set_state(std::uint64_t state) noexcept;
  // This rank does not come any more: who waits for it is told.
  void end() noexcept;

 private:
  struct Shared;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ddl
