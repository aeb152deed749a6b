// SPDX-License-Identifier: MIT
#include "ddl/api/context_factory.hpp"
#include "ddl/api/live_context.hpp"
#include "ddl/collectives/collectives.hpp"
#include "ddl/core/checks.hpp"
#include "ddl/core/gather_strings.hpp"
#include "ddl/core/rank_consistency.hpp"
#include "ddl/core/rounding.hpp"
#include "ddl/ddl.hpp"
#include "ddl/gpu/gpu_collectives.hpp"
#include "ddl/transport/message_wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace ddl {
namespace {

// Ranks with other options would add up what others never sent.
void require_same_options(Transport& transport, const std::vector<std::string>& hosts,
                          const Options& options) {
  std::vector<std::string> names;
  for (const std::string& host : hosts) names.push_back(name_rank(static_cast<int>(names.size()), host));
  if (const auto other = find_other_options(transport.gather(render_shared_options(options)), names))
    throw *other;
}

// Without dims, hosts may have different numbers of ranks: then each rank stands for itself, and all share
// one wire.
Grid grid_of(Transport& transport, const Options& options) {
  std::vector<std::string> hosts = transport.gather(transport.host_name());
  require_same_options(transport, hosts, options);
  std::map<std::string, int> count;
  for (const std::string& host : hosts) ++count[host];
  const int first = count.begin()->second;
  const bool even =
      std::all_of(count.begin(), count.end(), [&](const auto& each) { return each.second == first; });
  if (options.dims.empty() && !even) {
    for (std::size_t r = 0; r < hosts.size(); ++r) hosts[r] += fmt::format(" #{}", r);
  }
  return plan_grid(options.dims, hosts);
}

// The calls that take one only read it; a Tensor does not know the difference.
Tensor unguarded(const ConstTensor& tensor) {
  return {const_cast<std::byte*>(tensor.data),
          tensor.count,
          tensor.type,
          tensor.name,
          tensor.memory,
          tensor.stream};
}

bool on_gpu(const Tensor& tensor) { return tensor.memory == Memory::device; }

void refuse_on_gpu(const Tensor& tensor, const char* why) {
  if (on_gpu(tensor))
    throw Error(Fault::usage, why, tensor.name, "all_reduce, with all tensors in one kind of memory");
}

}  // namespace

struct Context::Impl {
  Impl(std::unique_ptr<Transport> given, const Options& options)
      : transport(std::move(given)),
        grid(grid_of(*transport, options)),
        start_up(*transport),
        collectives(*transport, grid, options),
        gpu(collectives, *transport, grid, options) {
    start_up.is_complete = true;
  }

  // What fails on this rank alone must not wait for the others before the program has the error.
  struct Start {
    Transport& transport;
    bool is_complete = false;
    explicit Start(Transport& given) : transport(given) {}
    ~Start() {
      if (!is_complete) transport.abandon();
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;
  };

  struct CallCount {
    std::atomic<int>& calls;
    explicit CallCount(std::atomic<int>& counter) : calls(counter) { ++calls; }
    ~CallCount() { --calls; }
    CallCount(const CallCount&) = delete;
    CallCount& operator=(const CallCount&) = delete;
  };

  // Each call has a number. Calls run one after the other, those of the communication thread too, so that the
  // order of the numbers is the program's. After an error there are no more calls.
  template <typename Work>
  void call(const Work& work) {
    queue.drain();
    attempt(work, number);
  }
  template <typename Work>
  Handle start(Work work) {
    return queue.start([this, work = std::move(work)] { attempt(work, number); });
  }
  // For calls that run nothing of the program's: one rank has nothing to wait for, and makes its call here.
  template <typename Work>
  Handle start_or_make(Work work) {
    if (transport->size() > 1) return start(std::move(work));
    return queue.run_or_start([this, work = std::move(work)] { attempt(work, number); });
  }
  // On the communication thread too, which stays with it until the GPU is done; a waiting caller goes on when
  // the program's streams wait for it.
  Handle start_on_gpu(GpuCall what) {
    auto begun = std::make_shared<GpuCollectives::Start>(gpu.start(what));
    auto state = std::make_shared<Handle::State>();
    auto run = [this, what = std::move(what), begun, state] {
      std::exception_ptr error;
      try {
        attempt([&](std::uint64_t its) { gpu.run(what, *begun, its, [&] { state->finish(nullptr); }); },
                number);
      } catch (...) {
        error = std::current_exception();
      }
      begun->ready.clear();
      state->finish(std::move(error));
    };
    if (queue.is_this_thread())
      run();
    else
      queue.start(std::move(run));
    return Handle(std::move(state));
  }
  // `next` is the call's number. A call that was refused sent nothing: the next one has its number.
  template <typename Work>
  void attempt(const Work& work, std::uint64_t& next) {
    {
      const std::lock_guard lock(mutex);
      if (broken) throw Error(*broken);
    }
    const std::uint64_t mine = next++;
    const CallCount call(calls_under_way);
    try {
      work(mine);
    } catch (const Error& error) {
      if (error.fault() == Fault::usage) {
        next = mine;
        throw;
      }
      const std::lock_guard lock(mutex);
      if (!broken) {
        gpu.abandon();
        collectives.abandon();
        transport->abandon();
      }
      broken = error;
      throw;
    }
  }

  // exit() with this Context alive. Where a call is under way, MPI may belong to another thread.
  void leave() noexcept {
    const std::unique_lock lock(mutex, std::try_to_lock);
    if (lock && !broken && calls_under_way == 0 && queue.is_idle()) collectives.leave();
  }

  std::vector<std::string> gather(OpType op, const std::string& mine) {
    return gather_strings(mine, transport->rank(), transport->size(), [&](const Tensor& tensor) {
      call([&](std::uint64_t its) { collectives.sum(op, tensor, its); });
    });
  }

  // The program leaves: in order, or by an exception of its own, of which the others would hear nothing, for
  // what is freed here waits for all.
  void end() noexcept {
    queue.drain();
    if (std::uncaught_exceptions() == exceptions) return collectives.end();
    abandon();
  }
  void abandon() noexcept {
    const std::string name = grid.name_of(transport->rank());
    const Error left(Fault::lost, fmt::format("an exception ended the Context of {}", name), name,
                     "read the message of that rank: it has the reason");
    try {
      attempt(
          [&](std::uint64_t) {
            collectives.broadcast_error(left);
            throw Error(left);
          },
          number);
    } catch (...) {  // known here already
    }
  }

  int exceptions = std::uncaught_exceptions();
  std::unique_ptr<Transport> transport;
  Grid grid;
  Start start_up;
  Collectives collectives;
  GpuCollectives gpu;
  std::mutex mutex;
  std::optional<Error> broken;
  std::uint64_t number = 1;
  std::uint64_t allocation = 1;  // a host's ranks share memory, whatever those of other hosts do
  std::atomic<int> calls_under_way = 0;
  WorkQueue queue;  // ends before what its items use
  LiveContext live{[this] { leave(); }};
};

std::shared_ptr<Context::Impl> ContextFactory::make_impl(std::unique_ptr<Transport> transport,
                                                         const Options& options) {
  check_timeout(options);
  auto impl = std::make_shared<Context::Impl>(std::move(transport), options);
  if (options.mode == Mode::nccl) impl->call([&](std::uint64_t number) { impl->gpu.open(number); });
  return impl;
}

std::optional<Error> ContextFactory::first_error(const Context& context) {
  context.impl_->queue.drain();
  const std::lock_guard lock(context.impl_->mutex);
  return context.impl_->broken;
}

void ContextFactory::abandon(Context& context) noexcept {
  context.impl_->queue.drain();
  context.impl_->abandon();
}

Context::Context(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Context::~Context() { impl_->end(); }

int Context::rank() const { return impl_->transport->rank(); }
int Context::size() const { return impl_->transport->size(); }
int Context::local_rank() const { return impl_->collectives.place().local_rank; }
int Context::local_size() const { return static_cast<int>(impl_->collectives.place().local_ranks.size()); }
int Context::host() const { return impl_->collectives.place().host; }
int Context::hosts() const { return static_cast<int>(impl_->grid.hosts.size()); }
std::string Context::dims() const { return impl_->grid.text(); }
std::string Context::device() const {
  impl_->queue.drain();
  return impl_->gpu.device();
}
std::string Context::name_of(int rank) const { return impl_->grid.name_of(rank); }

std::pair<std::shared_ptr<void>, std::byte*> Context::allocate_bytes(std::size_t bytes, bool one_each) {
  impl_->queue.drain();
  bytes = std::min(bytes, max_bytes);
  impl_->attempt(
      [&](std::uint64_t number) { impl_->collectives.rendezvous_to_allocate(bytes, one_each, number); },
      impl_->allocation);
  if (!one_each) {  // the parts lie one after the other: together they are enough
    const auto ranks = static_cast<std::size_t>(local_size());
    bytes = round_up((bytes + ranks - 1) / ranks, page_bytes);
  } else {  // an odd number of pages: vectors a large power of two apart are read at half the speed
    bytes = (round_up(bytes, page_bytes) / page_bytes | 1U) * page_bytes;
  }
  std::shared_ptr<SharedBuffer> buffer = impl_->collectives.buffers().allocate(bytes);
  std::byte* mine = buffer->part(one_each ? local_rank() : 0).data();
  return {std::move(buffer), mine};
}

void Context::broadcast(const Tensor& tensor, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::broadcast, {tensor}, {}, {}, root}).wait();
  impl_->call([&](std::uint64_t number) { impl_->collectives.broadcast(tensor, root, number); });
}

void Context::all_reduce(const Tensor& tensor, Operation operation) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::all_reduce, {tensor}, {}, operation}).wait();
  impl_->call([&](std::uint64_t number) { impl_->collectives.all_reduce(tensor, operation, number); });
}

void Context::all_reduce_n(std::span<const Tensor> tensors, Operation operation) {
  if (!tensors.empty() && on_gpu(tensors.front()))
    return impl_->start_on_gpu({OpType::all_reduce, {tensors.begin(), tensors.end()}, {}, operation}).wait();
  for (const Tensor& each : tensors)
    refuse_on_gpu(each, "one call has tensors in host memory and in GPU memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.all_reduce_n(tensors, operation, number); });
}

void Context::reduce_scatter(const ConstTensor& given, const Tensor& out, Operation operation) {
  const Tensor in = unguarded(given);
  if (on_gpu(in)) return impl_->start_on_gpu({OpType::reduce_scatter, {in}, out, operation}).wait();
  refuse_on_gpu(out, "the input lies in host memory, the output in GPU memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.reduce_scatter(in, out, operation, number); });
}

void Context::all_gather(const ConstTensor& given, const Tensor& out) {
  const Tensor in = unguarded(given);
  if (on_gpu(in)) return impl_->start_on_gpu({OpType::all_gather, {in}, out}).wait();
  refuse_on_gpu(out, "the input lies in host memory, the output in GPU memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.all_gather(in, out, number); });
}

void Context::reduce(const Tensor& tensor, Operation operation, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::reduce, {tensor}, {}, operation, root}).wait();
  impl_->call([&](std::uint64_t number) { impl_->collectives.reduce(tensor, operation, root, number); });
}

void Context::scatter(const ConstTensor& given, const Tensor& out, int root) {
  const Tensor in = unguarded(given);
  for (const Tensor& each : {in, out}) refuse_on_gpu(each, "scatter needs tensors in host memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.scatter(in, out, root, number); });
}

void Context::gather(const ConstTensor& given, const Tensor& out, int root) {
  const Tensor in = unguarded(given);
  for (const Tensor& each : {in, out}) refuse_on_gpu(each, "gather needs tensors in host memory");
  impl_->call([&](std::uint64_t number) { impl_->collectives.gather(in, out, root, number); });
}

void Context::barrier() {
  impl_->call([&](std::uint64_t number) { impl_->collectives.barrier(number); });
}

void Context::set_progress(std::uint64_t state) { impl_->collectives.set_progress(state); }

void Context::all_reduce_update(const Tensor& tensor, Operation operation, const Update& update) {
  refuse_on_gpu(tensor, "all_reduce_update needs a tensor in host memory");
  impl_->call(
      [&](std::uint64_t number) { impl_->collectives.all_reduce_update(tensor, operation, number, update); });
}

Handle Context::start_all_reduce(const Tensor& tensor, Operation operation) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::all_reduce, {tensor}, {}, operation});
  return impl_->start_or_make([impl = impl_.get(), tensor, operation](std::uint64_t number) {
    impl->collectives.all_reduce(tensor, operation, number);
  });
}

Handle Context::start_all_reduce_update(const Tensor& tensor, Operation operation, Update update) {
  refuse_on_gpu(tensor, "all_reduce_update needs a tensor in host memory");
  return impl_->start(
      [impl = impl_.get(), tensor, operation, update = std::move(update)](std::uint64_t number) {
        impl->collectives.all_reduce_update(tensor, operation, number, update);
      });
}

Handle Context::start_broadcast(const Tensor& tensor, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::broadcast, {tensor}, {}, {}, root});
  return impl_->start_or_make([impl = impl_.get(), tensor, root](std::uint64_t number) {
    impl->collectives.broadcast(tensor, root, number);
  });
}

Handle Context::start_reduce(const Tensor& tensor, Operation operation, int root) {
  if (on_gpu(tensor)) return impl_->start_on_gpu({OpType::reduce, {tensor}, {}, operation, root});
  return impl_->start_or_make([impl = impl_.get(), tensor, operation, root](std::uint64_t number) {
    impl->collectives.reduce(tensor, operation, root, number);
  });
}

Handle Context::start(std::function<void()> calls) { return impl_->queue.start(std::move(calls)); }

std::vector<std::string> Context::gather(const std::string& mine) {
  return impl_->gather(OpType::gather, mine);
}

std::unique_ptr<RankMessages> Context::open_messages() {
  std::unique_ptr<RankMessages> messages;
  impl_->call([&](std::uint64_t) { messages = make_rank_messages(*impl_->transport); });
  return messages;
}

// The launcher names the rank whose process ends first, which may be another one.
void Context::abort(int status) noexcept {
  std::fprintf(stderr, "libddl: %s called abort: all ranks end with status %d\n", name_of(rank()).c_str(),
               status);
  std::fflush(stderr);
  impl_->transport->abort(status);
}

void Context::verify_tensors(std::span<const Tensor> tensors) {
  for (const Tensor& each : tensors) check_type(each);
  const std::string mine = render_layout(tensors);
  // Hashes first: a thousand ranks with a thousand tensors need not send all names.
  const std::vector<std::string> hashes =
      impl_->gather(OpType::verify_tensors, fmt::format("{:016x}", hash_text(mine)));
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) == hashes.end()) return;
  std::vector<std::string> names;
  for (int r = 0; r < size(); ++r) names.push_back(name_of(r));
  if (const auto difference = find_difference(impl_->gather(OpType::verify_tensors, mine), names))
    throw Error(*difference);
}

}  // namespace ddl
