// SPDX-License-Identifier: MIT
// Calls on tensors in GPU memory: all ranks meet on the host and compare what they call, then NCCL carries it
// out on a stream of libddl's own, and this rank waits for it as for any call: with a deadline, and with
// names.
#pragma once

#include "ddl/collectives/collectives.hpp"
#include "ddl/gpu/gpu_bandwidth.hpp"
#include "ddl/gpu/gpu_comms.hpp"
#include "ddl/gpu/gpu_plugin.hpp"
#include "ddl/node/heartbeat.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

struct GpuCall {
  OpType op = OpType::all_reduce;
  std::vector<Tensor> tensors;  // several: all_reduce_n
  std::optional<Tensor> out;    // of reduce_scatter, all_gather
  Operation operation = Operation::sum;
  int root = 0;
};

class GpuCollectives {
 public:
  GpuCollectives(Collectives& collectives, Transport& transport, const Grid& grid, const Options& options);
  ~GpuCollectives();  // collective, as long as there was no error
  GpuCollectives(const GpuCollectives&) = delete;
  GpuCollectives& operator=(const GpuCollectives&) = delete;

  // Mode n: takes a GPU for this rank, makes it the thread's, connects all. Collective.
  void open(std::uint64_t number);
  std::string device() const;  // "cuda:0 (NVIDIA H200)", "cpu"

  // In the program's thread, where the call is made: what its streams hold until now. Throws Error(usage).
  struct Start {
    std::vector<std::shared_ptr<GpuEvent>> ready;
    std::vector<void*> streams;  // that wait for the sum
    std::optional<Error> error;  // sent to all in run()
  };
  Start start(const GpuCall& call);
  // Returns when the call is done on the GPU. `issued`, before that: the streams wait for it. None: no
  // stream.
  void run(const GpuCall& call, Start& start, std::uint64_t number, const std::function<void()>& issued);
  // After an error of any call: what runs on the GPU is ended.
  void abandon() noexcept;

 private:
  void check(const GpuCall& call) const;
  void check_place(const Tensor& tensor) const;
  void select_gpu(int device);
  std::string describe_own_gpu();
  void connect(std::uint64_t number);
  void issue(const GpuCall& call);
  void wait_until(const std::function<bool()>& completed, bool timed);
  std::optional<Heartbeat::Unresponsive> find_unresponsive_elsewhere();
  Stall describe_stall();
  // Finds out who is missing. Not `at_once`: it may only just have fallen silent.
  [[noreturn]] void throw_lost(const std::string& why, bool at_once);

  Collectives& collectives_;
  Transport& transport_;
  const Grid& grid_;
  Options options_;
  bool tried_ = false;             // to take a GPU
  std::optional<Error> obstacle_;  // why there is none
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Heartbeat> heartbeat_;
  std::unique_ptr<GpuComms> comms_;
  GpuBandwidth bandwidth_;
  std::string call_;       // the one under way
  std::string described_;  // for errors: with its operation, and its tensor where it has one
  std::string tensor_;     // its first
};

}  // namespace ddl
