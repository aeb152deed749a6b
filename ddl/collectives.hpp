// SPDX-License-Identifier: MIT
// The collectives themselves, blocking: the host's ranks through shared memory, the hosts slice by slice over
// the wires of their levels. Called by one thread at a time, by all ranks in the same order.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl/explore_cache.hpp"
#include "ddl/explorer.hpp"
#include "ddl/host_stage.hpp"
#include "ddl/levels.hpp"
#include "ddl/ranks.hpp"
#include "ddl/shared_memory.hpp"
#include "ddl/speed_watch.hpp"
#include "ddl/wire_sums.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ddl {

class Collectives {
 public:
  Collectives(Ranks& ranks, const Grid& grid, const Options& options);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  const Place& place() const { return place_; }
  SharedMemory& memory() { return memory_; }

  // `number` counts the calls of the program.
  void all_reduce(const Tensor& tensor, Operation operation, std::uint64_t number);
  // The same as a part of `verb`: by the best way, unmeasured.
  void sum(Verb verb, const Tensor& tensor, std::uint64_t number);
  void all_reduce_n(std::span<const Tensor> tensors, Operation operation, std::uint64_t number);
  void all_reduce_update(const Tensor& tensor, Operation operation, std::uint64_t number,
                         const Context::Update& update);
  void broadcast(const Tensor& tensor, int root, std::uint64_t number);
  void reduce_scatter(const Tensor& in, const Tensor& out, Operation operation, std::uint64_t number);
  void all_gather(const Tensor& in, const Tensor& out, std::uint64_t number);
  void barrier(std::uint64_t number);
  // Returns when all ranks of the host have come to allocate. `number` counts their allocations.
  void meet_to_allocate(std::uint64_t number);
  // Calls that something else carries out, GPUs: returns when all ranks call the same. While one is under
  // way: answers ranks that ask, throws the error of another; and tells the others this rank's.
  void meet(const Occasion& occasion, const Tensor& tensor);
  void look();
  void tell(const Error& error) noexcept;
  RollCall* roll() { return roll_.get(); }
  HostGroup& group() { return *group_; }
  // After an error: nothing that is freed waits for the other ranks.
  void abandon() { group_->abandon(); }
  // From any thread.
  void set_state(std::uint64_t state) { stage_.set_state(state); }
  // This rank makes no more calls: who waits for one is told.
  void end() noexcept { stage_.end(); }

 private:
  // What a call is: for the host's barrier and for the wires.
  struct Asked {
    Call call;
    WireOptions wire;
  };
  struct UnderWay {
    Verb verb;
    std::uint64_t number;
    const Tensor* tensor;
  };
  // Forgets it in the end, however that comes.
  struct Past {
    std::optional<UnderWay>& call;
    ~Past() { call.reset(); }
  };

  Asked ask(Verb verb, const Tensor& tensor, int detail, std::uint64_t number);
  void update_once_a_host(const Tensor& tensor, const Reduction& reduction, const Asked& asked,
                          const Context::Update& update);
  static WireAlgorithm algorithm_of(Mode mode);
  void meet_whole(const Tensor& tensor, const Asked& asked);
  void sum_by(Mode mode, const Tensor& tensor, const Reduction& reduction, const Asked& asked);
  void sum_over_hosts(const Tensor& tensor, const Reduction& reduction, const Asked& asked);
  std::string name_call() const;
  double partial_ranks() const;
  Alongside sums_of_host(const SharedRange& range, const Reduction& here);
  void sum_plainly(const Tensor& tensor, const Reduction& reduction, const Asked& asked);
  void update_plainly(const Tensor& tensor, const Reduction& reduction, const Asked& asked,
                      const Context::Update& update);
  void recall_ways();
  void explore(const Tensor& tensor, const Reduction& reduction, const Asked& asked);
  void sum_small_together(std::span<const Tensor> tensors, const Reduction& reduction, const Asked& asked);
  Wire& flat_wire();
  StallWatch stall_watch();
  std::shared_ptr<SharedBlock> exchange_block(const Tensor& tensor, const Asked& asked);
  Wires wires() const { return wire_pointers_; }
  // An error of this rank is told to the host's others, so that they need not wait for it.
  template <typename Work>
  void guarded(const Work& work);

  Ranks& ranks_;
  const Grid& grid_;
  Options options_;
  Place place_;
  std::unique_ptr<RollCall> roll_;  // null on one host
  std::unique_ptr<HostGroup> group_;
  SharedMemory memory_;
  HostStage stage_;
  std::vector<std::unique_ptr<Wire>> wires_;
  SpeedWatch watch_;
  std::vector<Wire*> wire_pointers_;
  std::unique_ptr<Wire> flat_wire_;
  std::shared_ptr<SharedBlock> exchange_;  // for what the host's ranks hand each other whole
  Explorer explorer_;
  ExploreCache cache_;
  std::vector<std::byte> packed_;  // small tensors side by side
  std::vector<std::byte> plain_;   // the result of a plain sum
  Scratch scratch_;
  std::optional<UnderWay> under_way_;  // for who waits in it; points into the call's arguments
};

}  // namespace ddl
