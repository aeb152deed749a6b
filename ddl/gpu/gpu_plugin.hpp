// SPDX-License-Identifier: MIT
// What libddl knows of GPUs: a plug-in, libddl_cuda.so, that is loaded when a tensor lies in GPU memory or
// mode n is requested, so that libddl itself needs no CUDA library. Nothing in it waits: libddl waits, and
// knows for whom. Functions throw Error(unsupported) with CUDA's or NCCL's words.
#pragma once

#include "ddl/data_type.hpp"
#include "ddl/error.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace ddl {

// How far a stream had come.
class GpuEvent {
 public:
  virtual ~GpuEvent() = default;
  virtual bool completed() = 0;
};

// One rank's end of a communicator of NCCL. Calls go to the stream of the Gpu that made it, in the same order
// on all ranks. After each call, `settled` has to be asked until it is true before anything else is asked of
// the Gpu.
class GpuComm {
 public:
  virtual ~GpuComm() = default;

  // Between the two, many calls are one.
  virtual void begin() = 0;
  virtual void end() = 0;
  virtual void all_reduce(std::byte* data, std::size_t count, DataType type, Operation operation) = 0;
  // In place on the root; the others' `data` stays.
  virtual void reduce(std::byte* data, std::size_t count, DataType type, Operation operation, int root) = 0;
  // `count` of the smaller side; that may be this rank's part of the other.
  virtual void reduce_scatter(const std::byte* in, std::byte* out, std::size_t count, DataType type,
                              Operation operation) = 0;
  virtual void all_gather(const std::byte* in, std::byte* out, std::size_t count, DataType type) = 0;
  virtual void broadcast(std::byte* data, std::size_t count, DataType type, int root) = 0;

  // False while NCCL still connects or starts what was called.
  virtual bool is_idle() = 0;
  // What has gone wrong since, in NCCL's words; "" for nothing.
  virtual std::string fault() = 0;
  // The orderly end: `settled` says when all are there, then the group may be destroyed.
  virtual void finish() = 0;
  // The other one: what runs on the GPU is ended.
  virtual void abort() noexcept = 0;
};

// One GPU with a stream of libddl's own.
class Gpu {
 public:
  virtual ~Gpu() = default;

  virtual int index() const = 0;
  virtual std::string name() const = 0;  // "NVIDIA H200"
  virtual std::string uuid() const = 0;  // which one of its host: its UUID
  virtual void make_current() = 0;       // for the calling thread
  virtual void synchronize() = 0;        // all of its streams

  // Freed with the last copy. From host memory or into it; returns when it is done.
  virtual std::shared_ptr<std::byte> allocate(std::size_t bytes) = 0;
  virtual void copy(std::byte* to, const std::byte* from, std::size_t bytes) = 0;

  // Behind what `stream` (a cudaStream_t; null: the default stream) has been given until now.
  virtual std::unique_ptr<GpuEvent> mark(void* stream) = 0;
  // The same of our stream; ours waits for a mark; `stream` does.
  virtual std::unique_ptr<GpuEvent> record_own_event() = 0;
  virtual void wait_for(const GpuEvent& mark) = 0;
  virtual void make_stream_wait(void* stream, const GpuEvent& mark) = 0;

  // What one rank of a group makes and all of them need; no blanks in it.
  virtual std::string make_id() = 0;
  // Begins to connect: `settled` says when it is done.
  virtual std::unique_ptr<GpuComm> join(const std::string& id, int rank, int size) = 0;
};

class GpuPlugin {
 public:
  virtual ~GpuPlugin() = default;
  virtual int device_count() const = 0;
  // What this thread of the program works on, if it has used CUDA.
  virtual std::optional<int> current_device() const = 0;
  // On which GPU memory lies; nothing for memory of the host.
  virtual std::optional<int> device_of(const void* memory) const = 0;
  // Throws unless NCCL is built in and on this machine.
  virtual void require_nccl() const = 0;
  virtual std::unique_ptr<Gpu> open(int device) const = 0;
};

// Loaded once. Throws Error(unsupported) as find_own_plugin and open_own_plugin.
const GpuPlugin& load_gpu_plugin();

}  // namespace ddl

// Exported by a plug-in: ddl_gpu_build() must be the text that libddl has too.
#define DDL_GPU_BUILD DDL_VERSION " (" __VERSION__ ", GPU interface 3)"
