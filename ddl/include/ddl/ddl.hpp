// SPDX-License-Identifier: MIT
// libddl: collective operations over all ranks of a job, or groups of them: all_reduce, reduce, broadcast,
// reduce_scatter, all_gather, scatter, gather, barrier.
//
//   ddl::Context context(argc, argv);
//   ddl::Buffer<float> gradient = context.allocate<float>(n);
//   context.broadcast(ddl::tensor(weights), 0);
//   context.all_reduce(gradient, ddl::Operation::average);
//   ddl::Handle sum = context.start_all_reduce(ddl::tensor(bucket), ddl::Operation::average);
//   sum.wait();
//   std::optional<ddl::Context> row = context.split(context.rank() / 4);  // ranks 0 to 3, 4 to 7, ...
//
// Start: by ddlrun, mpirun or srun; or without MPI by DDL_RANK, DDL_SIZE, DDL_MASTER=host:port and
// DDL_TOKEN_FILE (or Options::tcp). A process that no launcher started is one rank.
//
// Calls: every call is collective. All ranks of a Context make the same calls in the same order, with the
// same counts and types.
//
// Errors: every function may throw ddl::Error. Unless its comment says more:
//   usage        an argument is invalid on any rank; nothing was sent, and the Context stays usable. The call
//                does not count: the rank may make it again with right arguments. Ranks whose own call was
//                not refused wait in it for this rank, and get mismatch when it makes another call, else lost
//   mismatch     another rank made a different call; the error names both calls
//   lost         a rank ended, or did not make the call within Options::timeout_seconds. All ranks throw it
//                within two seconds after that, in this call or, where it completed just then, in the next
//   unsupported  this build or machine cannot do it: no GPU, no shared memory left
// After mismatch, lost or unsupported each further call throws the first error again. An exception that
// leaves the scope of a Context reaches the other ranks as Error(lost), and MPI is not finalized. exit() with
// a Context alive reaches them, too; while a call is under way, only those of this host. After _exit() or a
// signal the ranks of the same host, and over TCP all ranks, throw lost at once; under MPI it depends on the
// launcher whether those of other hosts end or wait until their deadline.
//
// Groups: split() makes Contexts of some of the ranks. A Context and all groups that come from it are a
// family. Its Contexts live as long as the program likes, whichever ends first, and each rank makes and ends
// those that it shares with others in the same order. Calls of a family run one after the other, started ones
// on its one communication thread; each rank makes the calls of its groups in an order in which all can come
// to their end. An error of one is the error of all. Messages name ranks by their numbers in the first
// Context, and calls with their group. Several Contexts that do not come from one are families of their own.
//
// Threads: a Context and its groups are used by one thread at a time. Handle::wait(), Handle::done() and
// set_progress() may be called by any thread. libddl has no global state but a list of the Contexts that
// live, for exit(). A family has one communication thread; where MPI takes one thread at a time, all families
// of a process share one.
//
// MPI: the program may call MPI while a Context lives, also where the Context initialized MPI. Between a
// start_*() and its Handle::wait() that takes MPI_THREAD_MULTIPLE, because libddl calls MPI from its
// communication thread then; at all other times MPI_THREAD_SERIALIZED is enough. libddl uses communicators of
// its own.
#pragma once

#if __cplusplus < 202002L
#error \
    "libddl's C++ interface needs C++20: -std=c++20, or target_link_libraries(x ddl::ddl) with CMake; ddl.h needs C only"
#endif

#include "ddl/data_type.hpp"
#include "ddl/error.hpp"
#include "ddl/rank_messages.hpp"
#include "ddl/stall.hpp"
#include "ddl/tensor.hpp"
#include "ddl/work_queue.hpp"

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

// The algorithm of all_reduce, all_reduce_n and all_reduce_update: the letters of PowerAI DDL's `-mode`.
enum class Mode : char {
  best = 'b',  // shared memory within the host, direct exchange between hosts, one level for each of the dims
  ring = 'r',  // as best, with a ring between hosts
  mpi = 'm',   // MPI_Allreduce, for comparison: without a deadline, and calls are not compared
  nccl = 'n',  // each rank uses one GPU; tensors in host memory are summed as in best
  explore = 'p',  // measures b and r for each size and keeps the fastest, also for later runs
};

// Start without MPI: all ranks connect to rank 0's address. Each proves that it has the token, which is never
// sent. Data is neither encrypted nor authenticated afterwards. The environment variables override these
// values.
struct TcpOptions {
  int rank = -1;           // DDL_RANK
  int size = 0;            // DDL_SIZE
  std::string master;      // DDL_MASTER: "h1:29400", an address of rank 0's host and a free port of it
  std::string token_file;  // DDL_TOKEN_FILE: of mode 600
  std::string token;       // DDL_TOKEN: instead of a file, at least 16 bytes
};

struct Options {
  std::string dims;  // "4x2x1": ranks per host x hosts per rack x racks; empty: from the placement
  Mode mode = Mode::best;
  std::optional<DataType> wire;   // bfloat16 or float16: how float32 sums travel (docs/libddl.md)
  double timeout_seconds = 30.0;  // how long a call waits for a rank: more than 0, at most 86400
  StallWatch stall;               // reports a call that waits long, before the timeout
  // The directory in which rank 0 stores what mode p measured, a file for each topology (-cache DIR). "":
  // none (-cache off, DDL_CACHE=off). Not set: $XDG_CACHE_HOME/ddlrun/explore or ~/.cache/ddlrun/explore.
  std::optional<std::string> cache_dir;
  // PowerAI DDL's -dev_sync. 0: calls wait for the streams of their tensors only; 1: a call first waits for
  // the whole GPU; 2: as 1, and calls return after the GPU has finished, also with a stream. No effect on
  // CPUs.
  int dev_sync = 0;
  // -nccl levels: all_reduce on GPUs sums within hosts, then over each of the dims, each with its own
  // communicator. -nccl all (default): one communicator of all ranks; NCCL detects the topology.
  bool nccl_levels = false;
  std::uint64_t dump_every = 0;    // -dump_iter: every N sums rank 0 prints the bandwidth of each dimension
  std::uint64_t rebind_every = 0;  // -rebind_iter: every N sums rank 0 names a rank that is always last
  std::optional<TcpOptions> tcp;   // start without MPI; DDL_MASTER selects it too
};

// An MPI_Comm: ddl::mpi_comm() of ddl/ddl_mpi.hpp makes one, for this header needs no MPI.
struct MpiComm {
  std::uint64_t handle = 0;  // in its first `size` bytes
  std::size_t size = 0;
};

// Parses PowerAI DDL's option string, "-mode b:4x2x1 -dev_sync 1 -dump_iter 100", as DDL_OPTIONS holds it.
// Options in `text` override `base`. Throws Error(usage) for an unknown option or an invalid value. Local;
// any thread.
Options parse_options(const std::string& text, Options base = {});

class Context {
 public:
  // Blocks until all ranks have started. Connects over TCP where DDL_MASTER or Options::tcp is set; else
  // loads MPI, that of the program or of the launcher. Where the program has initialized MPI, its level is
  // MPI_THREAD_SERIALIZED or more; else the Context initializes MPI with MPI_THREAD_SERIALIZED. A process
  // without a launcher is one rank and loads no MPI. DDL_OPTIONS overrides `options`. Throws usage (invalid
  // options, dims that do not fit the hosts, MPI finalized before), mismatch (options differ between ranks),
  // lost (a rank did not start in time), unsupported (no shared memory; no MPI library of the launcher; mode
  // n without a GPU or NCCL).
  Context(int& argc, char**& argv, Options options = {});
  // The ranks of a communicator of the program, in its order: Context rows(ddl::mpi_comm(row_comm)).
  // Collective over them, blocking. The program starts MPI before, with MPI_THREAD_SERIALIZED or more, and
  // ends it after the Context. libddl uses copies of the communicator, which may be freed at once. DDL_MASTER
  // and Options::tcp have no effect. Dims of DDL_OPTIONS have none where these are not all ranks of the
  // launcher. Throws as above; usage, too, for MPI_COMM_NULL, an intercommunicator, a handle of another MPI,
  // and MPI that has not started.
  explicit Context(const MpiComm& ranks, Options options = {});
  // Blocks until started calls are complete. The last of a family finalizes MPI, if the family initialized
  // it; MPI starts only once in a process (MPI 4.0, section 11.2), so a program that makes several Contexts
  // initializes MPI itself.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  // A Context that was moved from can only be destroyed or assigned to.
  Context(Context&& other) noexcept;
  Context& operator=(Context&& other) noexcept;

  // A Context of the ranks that give the same `color`, 0 or more; nothing for a rank without a color. Its
  // ranks are ordered by `key`, then as here. `name` is for messages, "row" for "all_reduce #2 of 100 float32
  // in row 1". Collective over all ranks of this Context, blocking; not in a call of start(). Throws usage
  // for a color below 0, unsupported when shared memory is exhausted.
  // The group has the options of this Context, but for dims, -dump_iter and -rebind_iter, which are of all
  // ranks.
  std::optional<Context> split(std::optional<int> color, int key = 0, const std::string& name = "");

  // Local, never block or throw, except device(), which waits for started calls.
  int rank() const;  // 0 to size() - 1
  int size() const;
  int local_rank() const;  // among the ranks of this host, 0 to local_size() - 1
  int local_size() const;
  int host() const;  // 0 to hosts() - 1, rack by rack
  int hosts() const;
  std::string dims() const;             // "4x2x1"
  std::string device() const;           // "cuda:0 (NVIDIA H200)" once it is used, else "cpu"
  std::string name_of(int rank) const;  // "rank 3 (h2)", by its number in the first Context

  // `count` zeroed elements for this rank, in memory that the ranks of the host share. Collective over the
  // ranks of the host, blocking; all give the same count. Throws unsupported when shared memory is exhausted
  // (see df -h /dev/shm), mismatch when the bytes of the counts differ, lost when a rank of the host does not
  // call.
  template <typename Number>
  Buffer<Number> allocate(std::size_t count) {
    auto [owner, bytes] = allocate_bytes(bytes_of(count, sizeof(Number)), true);
    return {std::move(owner), {reinterpret_cast<Number*>(bytes), count}};
  }
  // As allocate(), but one block of `count` elements that all ranks of the host share, for example one copy
  // of the weights.
  template <typename Number>
  Buffer<Number> allocate_for_host(std::size_t count) {
    auto [owner, bytes] = allocate_bytes(bytes_of(count, sizeof(Number)), false);
    return {std::move(owner), {reinterpret_cast<Number*>(bytes), count}};
  }

  // The functions below are collective over all ranks and blocking, but for start_*(). Counts are elements.
  // Numbers stand for a tensor: all_reduce(loss, Operation::sum), all_gather(part, whole). A call only reads
  // its `in`, which may be const or a temporary value. One rank alone has each result at once: only start()
  // and start_all_reduce_update() use the communication thread there.

  // Copies `tensor` of rank `root` (0 to size() - 1), shape [n], to `tensor` of all ranks. Exact also with
  // Options::wire.
  void broadcast(const Tensor& tensor, int root);
  template <Numbers Values>
  void broadcast(Values&& values, int root) {
    broadcast(ddl::tensor(std::forward<Values>(values)), root);
  }
  // In place, shape [n]: the sum, average, maximum, minimum or product over all ranks, the same bits on all
  // of them. Throws usage for the average of integers.
  void all_reduce(const Tensor& tensor, Operation operation);
  template <Numbers Values>
  void all_reduce(Values&& values, Operation operation) {
    all_reduce(ddl::tensor(std::forward<Values>(values)), operation);
  }
  // all_reduce of each tensor; small tensors share messages. All in one kind of memory, else usage.
  void all_reduce_n(std::span<const Tensor> tensors, Operation operation);
  // `in`: [n * size()], `out`: [n], of one type. `out` becomes elements [rank * n, rank * n + n) of the sum
  // of all `in`. Throws usage for other counts.
  void reduce_scatter(const ConstTensor& in, const Tensor& out, Operation operation);
  template <typename In, typename Out>
  requires InputAndOutput<In, Out>
  void reduce_scatter(const In& in, Out&& out, Operation operation) {
    reduce_scatter(ddl::input(in), ddl::output(std::forward<Out>(out)), operation);
  }
  // `in`: [n], `out`: [n * size()], of one type. `out` becomes the `in` of all ranks in rank order. In place
  // where `in` is elements [rank * n, rank * n + n) of `out`. Throws usage for other counts.
  void all_gather(const ConstTensor& in, const Tensor& out);
  template <typename In, typename Out>
  requires InputAndOutput<In, Out>
  void all_gather(const In& in, Out&& out) {
    all_gather(ddl::input(in), ddl::output(std::forward<Out>(out)));
  }
  // `tensor` of rank `root` (0 to size() - 1), shape [n], becomes the sum, average, maximum, minimum or
  // product over all ranks. The tensors of the other ranks, shape [n], stay as they are. Throws usage as
  // all_reduce.
  void reduce(const Tensor& tensor, Operation operation, int root);
  template <Numbers Values>
  void reduce(Values&& values, Operation operation, int root) {
    reduce(ddl::tensor(std::forward<Values>(values)), operation, root);
  }
  // `in` of rank `root`: [n * size()], `out`: [n], of one type. `out` becomes elements [rank * n, rank * n +
  // n) of the root's `in`. Other ranks' `in` is not used: ConstTensor{} or an empty vector will do. Host
  // memory only. Throws usage for other counts.
  void scatter(const ConstTensor& in, const Tensor& out, int root);
  template <typename In, typename Out>
  requires InputAndOutput<In, Out>
  void scatter(const In& in, Out&& out, int root) {
    scatter(ddl::input(in), ddl::output(std::forward<Out>(out)), root);
  }
  // `in`: [n], `out` of rank `root`: [n * size()], of one type. The root's `out` becomes the `in` of all
  // ranks in rank order. Other ranks' `out` is not used: Tensor{} or an empty vector will do. Host memory
  // only. Throws usage for other counts.
  void gather(const ConstTensor& in, const Tensor& out, int root);
  template <typename In, typename Out>
  requires InputAndOutput<In, Out>
  void gather(const In& in, Out&& out, int root) {
    gather(ddl::input(in), ddl::output(std::forward<Out>(out)), root);
  }
  // Returns after all ranks have called it.
  void barrier();
  // A number of the program's own, such as its step. Other ranks of the host get it in Stall::progress when
  // this rank does not arrive. Local, does not block; any thread; throws nothing.
  void set_progress(std::uint64_t progress);
  // One string of each rank, of any length, in rank order: for names and messages, not for data.
  std::vector<std::string> gather(const std::string& mine);

  // all_reduce whose sums each host uses once: `update` receives blocks of this rank's share, elements
  // [first, first + count) with their sums (count elements of the tensor's type). The shares of the host's
  // ranks cover all elements. Runs on the calling thread; returns after all ranks of the host have updated.
  // Host memory only. `tensor` is undefined afterwards. An exception of `update` is thrown here, and as
  // Error(lost) on the other ranks.
  using Update = std::function<void(std::size_t first, std::size_t count, const std::byte* sums)>;
  void all_reduce_update(const Tensor& tensor, Operation operation, const Update& update);

  // As the functions above, without blocking: started calls run one after the other on the communication
  // thread, where `update` is called too. Blocking calls wait until all started calls are complete. Errors
  // are thrown by Handle::wait(), also usage, but for a GPU tensor, whose usage is thrown at once. A Handle
  // that ends without wait() blocks until its call is complete, and prints an error on stderr.
  Handle start_all_reduce(const Tensor& tensor, Operation operation);
  template <Numbers Values>
  Handle start_all_reduce(Values&& values, Operation operation) {
    return start_all_reduce(ddl::tensor(std::forward<Values>(values)), operation);
  }
  Handle start_all_reduce_update(const Tensor& tensor, Operation operation, Update update);
  Handle start_broadcast(const Tensor& tensor, int root);
  template <Numbers Values>
  Handle start_broadcast(Values&& values, int root) {
    return start_broadcast(ddl::tensor(std::forward<Values>(values)), root);
  }
  Handle start_reduce(const Tensor& tensor, Operation operation, int root);
  template <Numbers Values>
  Handle start_reduce(Values&& values, Operation operation, int root) {
    return start_reduce(ddl::tensor(std::forward<Values>(values)), operation, root);
  }
  // Runs `calls` on the communication thread, in the order of all start*(). It may make any call of this
  // Context and its family but start*() and split(), as all ranks do in the same order. What it throws
  // Handle::wait() throws; the Context stays usable if no call of its own failed.
  Handle start(std::function<void()> calls);

  // Messages between any two ranks. Null where they are connected without MPI, and for a single rank.
  std::unique_ptr<RankMessages> open_messages();

  // Ends all ranks with this exit status where MPI started them, for a rank that cannot go on; elsewhere it
  // returns. Local; throws nothing.
  void abort(int status) noexcept;

  // Compares the names, types, counts and order of the tensors on all ranks. Throws mismatch on all ranks and
  // names the first rank and tensor that differ. Call it once, before training.
  void verify_tensors(std::span<const Tensor> tensors);

 private:
  // A product that would overflow becomes max_bytes, which no machine can allocate.
  static std::size_t bytes_of(std::size_t count, std::size_t size) {
    return count > max_bytes / size ? max_bytes : count * size;
  }
  std::pair<std::shared_ptr<void>, std::byte*> allocate_bytes(std::size_t bytes, bool one_each);
  friend struct ContextFactory;  // of libddl itself
  struct Impl;
  explicit Context(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace ddl
