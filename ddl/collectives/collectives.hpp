// SPDX-License-Identifier: MIT
// The collectives on host memory, blocking. A sum goes through three stages: NodeCollectives reduces each
// rank's slice within the node, the inter-node collectives exchange it level by level with the ranks of the
// same local index on the other nodes, NodeCollectives scatters the result. Large sums overlap the stages
// chunk by chunk (PipelineHooks).
//
// Every public function is one call: make_request() validates the tensor and computes its signature,
// guarded() sends an error of this rank to all ranks that wait for it. After an error each further call
// throws the same error. Threads: one at a time (the program's or the communication thread); set_progress()
// from any thread.
#pragma once

#include "ddl/collectives/bandwidth_monitor.hpp"
#include "ddl/collectives/call_family.hpp"
#include "ddl/collectives/inter_node_collectives.hpp"
#include "ddl/collectives/sum_tuner.hpp"
#include "ddl/collectives/tensor_packer.hpp"
#include "ddl/core/grid.hpp"
#include "ddl/ddl.hpp"
#include "ddl/node/node_collectives.hpp"
#include "ddl/node/shared_buffers.hpp"
#include "ddl/transport/transport.hpp"

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ddl {

class Collectives {
 public:
  // All but `options` outlive it. `family` has the grid of the first Context.
  Collectives(Transport& transport, const Grid& grid, const Options& options, CallFamily& family,
              const RankGroup& group);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  const Place& place() const { return place_; }
  SharedBufferRegistry& buffers() { return buffers_; }

  // `number` counts the calls of the program.
  void all_reduce(const Tensor& tensor, Operation operation, std::uint64_t number);
  // The same as a part of `verb`: by the best way, unmeasured.
  void sum(OpType op, const Tensor& tensor, std::uint64_t number);
  void all_reduce_n(std::span<const Tensor> tensors, Operation operation, std::uint64_t number);
  void all_reduce_update(const Tensor& tensor, Operation operation, std::uint64_t number,
                         const Context::Update& update);
  void broadcast(const Tensor& tensor, int root, std::uint64_t number);
  void reduce_scatter(const Tensor& in, const Tensor& out, Operation operation, std::uint64_t number);
  void all_gather(const Tensor& in, const Tensor& out, std::uint64_t number);
  void barrier(std::uint64_t number);
  void reduce(const Tensor& tensor, Operation operation, int root, std::uint64_t number);
  void scatter(const Tensor& in, const Tensor& out, int root, std::uint64_t number);
  void gather(const Tensor& in, const Tensor& out, int root, std::uint64_t number);
  // Returns when all ranks of the host have come to allocate the same. `number` counts their allocations.
  void rendezvous_to_allocate(std::size_t bytes, bool one_each, std::uint64_t number);
  // Calls that something else carries out, GPUs: returns when all ranks call the same. While one is under
  // way: answers ranks that ask, throws the error of another; and sends the others this rank's.
  void rendezvous(const CallInfo& info, const Tensor& tensor);
  void check_errors();
  void broadcast_error(const Error& error) noexcept;
  LivenessInspector* inspector() { return family_.inspector.get(); }
  // From now on waits ask the family's inspector.
  void use_inspector();
  NodeComm& node_comm() { return *node_comm_; }
  // After an error: nothing that is freed waits for the other ranks.
  void abandon() { node_comm_->abandon(); }
  // From any thread.
  void set_progress(std::uint64_t state) { node_.set_progress(state); }
  // This rank makes no more calls: ranks waiting for one get an error.
  void end() noexcept { report_end(ContextEnd::in_order); }
  // The same by exit(): waits a moment, so that the messages leave. A rank with `calls_under_way` reports it
  // to its host only, which needs no transport.
  void leave(bool calls_under_way) noexcept;

 private:
  void report_end(ContextEnd how) noexcept;
  // What a call is: for the host's barrier and for the wires.
  struct Request {
    CallId call;
    InterNodeOptions options;
  };
  // Throws as check_operation.
  static Reduction reduction_of(const Tensor& tensor, Operation operation, int ranks);
  // `detail`: the operation, the root, or both; `tensors` that the call sums as one.
  Request make_request(OpType op, const Tensor& tensor, int detail, std::uint64_t number,
                       std::size_t tensors = 1);
  void update_once_per_node(const Tensor& tensor, const Reduction& reduction, const Request& request,
                            const Context::Update& update);
  static InterNodeAlgorithm algorithm_of(Mode mode);
  void rendezvous_whole(const Tensor& tensor, const Request& request);
  void sum_by(Mode mode, const Tensor& tensor, const Reduction& reduction, const Request& request);
  void sum_over_nodes(const Tensor& tensor, const Reduction& reduction, const Request& request);
  double partial_ranks() const;
  PipelineHooks reduce_hooks(const SharedRange& range, const Reduction& here);
  void reduce_over_nodes(const Tensor& tensor, const Reduction& reduction, int root, const Request& request);
  void reduce_shared_over_nodes(const SharedRange& range, const Reduction& reduction, int root,
                                const Request& request);
  void reduce_slice_to(int root, const Reduction& between, std::byte* sums, std::size_t count,
                       const Request& request);
  bool is_on_host_of(int rank) const;
  // One rank has the result already, or copies it.
  bool is_alone() const { return transport_.size() == 1; }
  static void copy_tensor(const Tensor& in, const Tensor& out) {
    if (in.count != 0) std::memmove(out.data, in.data, in.bytes());
  }
  void sum_natively(const Tensor& tensor, const Reduction& reduction, const Request& request);
  void update_natively(const Tensor& tensor, const Reduction& reduction, const Request& request,
                       const Context::Update& update);
  PeerComm& global_comm();
  std::shared_ptr<SharedBuffer> exchange_buffer(const Tensor& tensor, const Request& request);
  void gather_on_host(const Tensor& in, std::byte* out, const Request& request);
  PeerComms comms() const { return comm_pointers_; }
  void prepare(PeerComm& comm);
  // Sends an error of this rank to the other ranks of the host, so that they do not wait for it.
  template <typename Work>
  void guarded(const Work& work) {
    const ActiveCallTracker::Scope scope(family_.active_call);
    try {
      work();
    } catch (const Error& error) {
      broadcast_error(error);
      throw;
    } catch (const std::exception& error) {
      broadcast_exception(error);
      throw;
    }
  }
  void broadcast_exception(const std::exception& error);

  Transport& transport_;
  const Grid& grid_;
  Options options_;
  Place place_;
  CallFamily& family_;
  const RankGroup& group_;
  std::unique_ptr<NodeComm> node_comm_;
  SharedBufferRegistry buffers_;
  NodeCollectives node_;
  std::vector<std::unique_ptr<PeerComm>> comms_;
  BandwidthMonitor monitor_;
  std::vector<PeerComm*> comm_pointers_;
  std::unique_ptr<PeerComm> global_comm_;
  std::shared_ptr<SharedBuffer> exchange_;  // for what the host's ranks hand each other whole
  SumTuner tuner_;
  TensorPacker packer_;
  std::vector<std::byte> packed_;         // the input of reduce_scatter, which the sum overwrites
  std::vector<std::byte> native_result_;  // of Transport::native_all_reduce
  Scratch scratch_;
};

}  // namespace ddl
