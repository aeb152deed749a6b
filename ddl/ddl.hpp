// SPDX-License-Identifier: MIT
// libddl: sums over all ranks at the speed of memory and of the wire.
//
//   ddl::Context ddl(argc, argv);
//   ddl::Buffer<float> gradient = ddl.allocate<float>(n);
//   ddl.broadcast(weights, 0);
//   ddl.all_reduce(gradient, ddl::Operation::average);
//   ddl::Handle sum = ddl.start_all_reduce(bucket, ddl::Operation::average);
//   sum.wait();
//
// Started by ddlrun, mpirun or srun; or by hand or anything else, without MPI, where DDL_RANK, DDL_SIZE,
// DDL_MASTER=host:port and DDL_TOKEN_FILE (or Options::tcp) tell how ranks meet; alone a process is one rank.
// What allocate() gives lies in memory that the host's ranks share, so its sums need no copies; a started sum
// runs on a thread of its own.
//
// Every call is collective: all ranks make the same calls in the same order. A call that differs, a rank that
// dies or stays away ends in an ddl::Error on all the others, with the rank's name, within Options::timeout
// and two seconds; an exception that passes through the scope of a Context is told to the others at once, and
// MPI is then not finalized. A tensor may lie in GPU memory (device_tensor): NCCL adds it up. There are no
// globals; a Context is used by one thread at a time. float32, float64, float16, bfloat16, int32.
#pragma once

#if __cplusplus < 202002L
#error \
    "libddl's C++ interface needs C++20: -std=c++20, or target_link_libraries(x ddl::ddl) with CMake; ddl.h needs C only"
#endif

#include "ddl/data_type.hpp"
#include "ddl/error.hpp"
#include "ddl/stall.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

// Which way sums go: the letters of PowerAI DDL's `-mode`.
enum class Mode : char {
  best = 'b',     // the host by shared memory, above it slice by slice over the dims
  ring = 'r',     // the same, but a ring between hosts
  mpi = 'm',      // MPI_Allreduce
  nccl = 'n',     // takes a GPU for each rank; tensors in host memory go as in b
  explore = 'p',  // tries b, r and m for each size once and keeps the fastest, also for later runs
};

// Ranks that meet over TCP at rank 0's address. All have the same token, which proves who belongs to the run
// and never travels; what they exchange afterwards is neither hidden nor sealed. The environment goes before
// what is given here.
struct TcpStart {
  int rank = -1;           // DDL_RANK
  int size = 0;            // DDL_SIZE
  std::string master;      // DDL_MASTER: "h1:29400", an address of rank 0's host and a free port of it
  std::string token_file;  // DDL_TOKEN_FILE: of mode 600
  std::string token;       // DDL_TOKEN: instead of a file, at least 16 bytes
};

struct Options {
  std::string dims;  // "4x2x1": ranks per host x hosts per rack x racks; empty: from the placement
  Mode mode = Mode::best;
  std::optional<DataType> wire;   // bfloat16 or float16: how float32 sums travel between hosts
  double timeout_seconds = 30.0;  // how long a call waits for a rank; up to a day
  StallWatch stall;               // who is told before that
  // Where mode p keeps what it found, a file for each topology, written by rank 0: -cache DIR. "": nowhere,
  // as -cache off and DDL_CACHE=off. Nothing: $XDG_CACHE_HOME/ddlrun/explore or ~/.cache/ddlrun/explore.
  std::optional<std::string> cache_folder;
  // PowerAI's -dev_sync 0|1|2: nothing; the whole GPU is waited for before a call; and calls return when they
  // are done, also with a stream. Nothing on CPUs.
  int dev_sync = 0;
  // -nccl levels: all_reduce on GPUs adds up within hosts, then over the dims, each with a communicator of
  // its own. -nccl all: one of all ranks, for NCCL knows the machine.
  bool nccl_levels = false;
  std::uint64_t dump_every =
      0;  // PowerAI's -dump_iter: every N sums rank 0 tells the speed of each dimension
  std::uint64_t rebind_every = 0;  // PowerAI's -rebind_iter: every N sums a rank that is always last is named
  std::optional<TcpStart> tcp;     // to meet without MPI; DDL_MASTER asks for it too
};

// "-mode b:4x2x1 -dev_sync 1 -dump_iter 100", what PowerAI DDL's programs and DDL_OPTIONS hold, over `base`.
// Throws Error(usage).
Options parse_options(const std::string& text, Options base = {});

enum class Memory : std::uint8_t { host, device };

// A vector of one type in anyone's memory. `name` is only for messages.
struct Tensor {
  std::byte* data = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;
  std::string name;
  Memory memory = Memory::host;
  void* stream = nullptr;  // device_tensor's

  std::size_t bytes() const { return count * size_of(type); }
};

template <typename Number>
Tensor tensor(std::span<Number> values, std::string name = "") {
  return {reinterpret_cast<std::byte*>(values.data()), values.size(), DataTypeOf<Number>::value,
          std::move(name)};
}

// In GPU memory (cudaMalloc), on the GPU of this rank: the one that mode n took, else the one of the first
// such tensor. With `stream`, a cudaStream_t: a call waits there for what the stream was given before it, and
// what it is given afterwards waits for the call; calls and Handle::wait() return as soon as that is
// arranged, an error is thrown by the next call. Without one a call waits for the default stream and returns
// when it is done.
// __half lies there as Float16, __nv_bfloat16 as BFloat16: reinterpret_cast.
template <typename Number>
Tensor device_tensor(Number* values, std::size_t count, std::string name = "", void* stream = nullptr) {
  return {reinterpret_cast<std::byte*>(values),
          count,
          DataTypeOf<Number>::value,
          std::move(name),
          Memory::device,
          stream};
}

// Memory in which sums need no copies, because the host's ranks share it. Give it back before its Context
// ends.
template <typename Number>
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<void> owner, std::span<Number> values) : owner_(std::move(owner)), values_(values) {}

  std::span<Number> values() const { return values_; }
  Number* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  Number& operator[](std::size_t i) const { return values_[i]; }
  Tensor range(std::size_t first, std::size_t count, std::string name = "") const {
    return tensor(values_.subspan(first, count), std::move(name));
  }
  operator Tensor() const { return tensor(values_); }

 private:
  std::shared_ptr<void> owner_;
  std::span<Number> values_;
};

// A call that was started. Its tensor lives until wait() returns: a Handle that is dropped neither waits nor
// keeps it.
class Handle {
 public:
  struct State;
  Handle() = default;
  explicit Handle(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void wait();  // returns when the call is done; throws what it threw
  bool done() const;

 private:
  std::shared_ptr<State> state_;
};

class Ranks;

class Context {
 public:
  // Meets over TCP where DDL_MASTER or Options::tcp says so. Else starts MPI unless it has been started (then
  // with MPI_THREAD_SERIALIZED at least); a process without a launcher is one rank and needs none.
  // DDL_OPTIONS in the environment is laid over `options`. The Context that started MPI ends it, and MPI
  // starts once in a process: who wants one Context after the other starts MPI himself.
  Context(int& argc, char**& argv, Options options = {});
  // On ranks that are known already.
  Context(std::unique_ptr<Ranks> ranks, Options options);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int rank() const;
  int size() const;
  int local_rank() const;
  int local_size() const;
  int host() const;  // from 0, rack by rack
  int hosts() const;
  std::string dims() const;             // "4x2x1"
  std::string device() const;           // "cuda:0 (NVIDIA H200)" once it is used, else "cpu"
  std::string name_of(int rank) const;  // "rank 3 (h2)"

  // Zeroed. Collective over the ranks of the host, also when it is given back.
  template <typename Number>
  Buffer<Number> allocate(std::size_t count) {
    auto [owner, bytes] = allocate_bytes(bytes_of(count, sizeof(Number)), true);
    return {std::move(owner), {reinterpret_cast<Number*>(bytes), count}};
  }
  // The same memory for all ranks of the host: one copy of the weights, say.
  template <typename Number>
  Buffer<Number> allocate_for_host(std::size_t count) {
    auto [owner, bytes] = allocate_bytes(bytes_of(count, sizeof(Number)), false);
    return {std::move(owner), {reinterpret_cast<Number*>(bytes), count}};
  }

  void broadcast(const Tensor& tensor, int root);
  void all_reduce(const Tensor& tensor, Operation operation);
  // Many tensors as one: small ones share messages.
  void all_reduce_n(std::span<const Tensor> tensors, Operation operation);
  // `out`, count n, gets elements [rank*n, rank*n + n) of the sum of everybody's `in`, count n*size().
  void reduce_scatter(const Tensor& in, const Tensor& out, Operation operation);
  // `out`, count n*size(), gets everybody's `in`, count n, by rank.
  void all_gather(const Tensor& in, const Tensor& out);
  void barrier();
  // What this rank is at, a number of the program's own: the others of its host are told it if it stays away.
  // From any thread.
  void set_state(std::uint64_t state);
  // One text from each rank, by rank: for names and messages.
  std::vector<std::string> gather(const std::string& mine);

  // The sum once a host and its use once a host: `update` gets blocks of this rank's share of the elements,
  // each with the finished sums; the shares of the host's ranks cover all. When the call returns, all of the
  // host are done.
  using Update = std::function<void(std::size_t first, std::size_t count, const std::byte* sums)>;
  void all_reduce_update(const Tensor& tensor, Operation operation, const Update& update);

  // At work on a thread of its own while the caller computes, in the order in which they were started; other
  // calls wait until these are done.
  Handle start_all_reduce(const Tensor& tensor, Operation operation);
  Handle start_all_reduce_update(const Tensor& tensor, Operation operation, Update update);
  Handle start_broadcast(const Tensor& tensor, int root);

  // Throws Error(mismatch) on all ranks unless all have the same tensors (names, types, counts): names the
  // first rank and tensor that differ. Once, before training; calls need no negotiation afterwards.
  void agree(std::span<const Tensor> tensors);

 private:
  // What no machine has is refused as such, not as what is left of it.
  static std::size_t bytes_of(std::size_t count, std::size_t size) {
    return count > most_bytes / size ? most_bytes : count * size;
  }
  std::pair<std::shared_ptr<void>, std::byte*> allocate_bytes(std::size_t bytes, bool one_each);
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ddl
