// SPDX-License-Identifier: MIT
#include "ddl/agreement.hpp"
#include "ddl/checks.hpp"
#include "ddl/collectives.hpp"
#include "ddl/ddl.hpp"
#include "ddl/gpu_collectives.hpp"
#include "ddl/ranks.hpp"
#include "ddl/rounding.hpp"
#include "ddl/texts.hpp"
#include "ddl/work_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace ddl {
namespace {

// Ranks with other options would add up what others never sent.
void require_same_options(Ranks& ranks, const std::vector<std::string>& hosts, const Options& options) {
  std::vector<std::string> names;
  for (const std::string& host : hosts) names.push_back(name_rank(static_cast<int>(names.size()), host));
  if (const auto other = find_other_options(ranks.gather(render_shared_options(options)), names))
    throw *other;
}

// Without dims, hosts may have different numbers of ranks: then each rank stands for itself, and all share
// one wire.
Grid grid_of(Ranks& ranks, const Options& options) {
  std::vector<std::string> hosts = ranks.gather(ranks.host_name());
  require_same_options(ranks, hosts, options);
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

bool on_gpu(const Tensor& tensor) { return tensor.memory == Memory::device; }

void refuse_on_gpu(const Tensor& tensor, const char* why) {
  if (on_gpu(tensor))
    throw Error(Fault::usage, why, tensor.name, "all_reduce, with all tensors in one kind of memory");
}

}  // namespace

struct Context::Parts {
  Parts(std::unique_ptr<Ranks> given, const Options& options)
      : ranks(std::move(given)),
        grid(grid_of(*ranks, options)),
        collectives(*ranks, grid, options),
        gpu(collectives, *ranks, grid, options) {}

  // Each call has a number, given in the program's order; after an error there are no more calls.
  template <typename Work>
  void call(const Work& work) {
    queue.drain();
    attempt(work, number++);
  }
  template <typename Work>
  Handle start(Work work) {
    return queue.start([this, work = std::move(work), mine = number++] { attempt(work, mine); });
  }
  // On the communication thread too, which stays with it until the GPU is done; whoever waits goes on when
  // the program's streams wait for it.
  Handle start_on_gpu(GpuCall what) {
    auto begun = std::make_shared<GpuCollectives::Start>(gpu.start(what));
    auto state = std::make_shared<Handle::State>();
    queue.start([this, what = std::move(what), begun, state, mine = number++] {
      std::exception_ptr error;
      try {
        attempt([&](std::uint64_t its) { gpu.run(what, *begun, its, [&] { state->finish(nullptr); }); },
                mine);
      } catch (...) {
        error = std::current_exception();
      }
      begun->ready.clear();
      state->finish(std::move(error));
    });
    return Handle(std::move(state));
  }
  template <typename Work>
  void attempt(const Work& work, std::uint64_t mine) {
    {
      const std::lock_guard lock(mutex);
      if (broken) throw Error(*broken);
    }
    try {
      work(mine);
    } catch (const Error& error) {
      if (error.fault() == Fault::usage) throw;  // nothing was sent
      const std::lock_guard lock(mutex);
      if (!broken) {
        gpu.abandon();
        collectives.abandon();
        ranks->abandon();
      }
      broken = error;
      throw;
    }
  }

  std::vector<std::string> gather(Verb verb, const std::string& mine) {
    return gather_texts(mine, ranks->rank(), ranks->size(), [&](const Tensor& tensor) {
      call([&](std::uint64_t its) { collectives.sum(verb, tensor, its); });
    });
  }

  // The program leaves: in order, or by an exception of its own, of which the others would hear nothing, for
  // what is freed here waits for all.
  void end() noexcept {
    queue.drain();
    if (std::uncaught_exceptions() == exceptions) return collectives.end();
    const std::string name = grid.name_of(ranks->rank());
    const Error left(Fault::lost, fmt::format("an exception ended the Context of {}", name), name,
                     "look for what that rank said itself; the other ranks cannot go on without it");
    try {
      attempt(
          [&](std::uint64_t) {
            collectives.tell(left);
            throw Error(left);
          },
          number);
    } catch (...) {  // known here already
    }
  }

  int exceptions = std::uncaught_exceptions();
  std::unique_ptr<Ranks> ranks;
  Grid grid;
  Collectives collectives;
  GpuCollectives gpu;
  std::mutex mutex;
  std::optional<Error> broken;
  std::uint64_t number = 1;
  std::uint64_t allocation = 1;  // a host's ranks share memory, whatever those of other hosts do
  WorkQueue queue;               // last: ends first
};

Context::Context(std::unique_ptr<Ranks> ranks, Options options) {
  check_timeout(options);
  parts_ = std::make_unique<Parts>(std::move(ranks), options);
  if (options.mode == Mode::nccl) parts_->call([&](std::uint64_t number) { parts_->gpu.open(number); });
}

Context::~Context() { parts_->end(); }

int Context::rank() const { return parts_->ranks->rank(); }
int Context::size() const { return parts_->ranks->size(); }
int Context::local_rank() const { return parts_->collectives.place().local_rank; }
int Context::local_size() const { return static_cast<int>(parts_->collectives.place().local_ranks.size()); }
int Context::host() const { return parts_->collectives.place().host; }
int Context::hosts() const { return static_cast<int>(parts_->grid.hosts.size()); }
std::string Context::dims() const { return parts_->grid.text(); }
std::string Context::device() const {
  parts_->queue.drain();
  return parts_->gpu.device();
}
std::string Context::name_of(int rank) const { return parts_->grid.name_of(rank); }

std::pair<std::shared_ptr<void>, std::byte*> Context::allocate_bytes(std::size_t bytes, bool one_each) {
  parts_->queue.drain();
  bytes = std::min(bytes, most_bytes);
  parts_->attempt([&](std::uint64_t number) { parts_->collectives.meet_to_allocate(number); },
                  parts_->allocation++);
  if (!one_each) {  // the parts lie one after the other: together they are enough
    const auto ranks = static_cast<std::size_t>(local_size());
    bytes = round_up((bytes + ranks - 1) / ranks, page_bytes);
  } else {  // an odd number of pages: vectors a large power of two apart are read at half the speed
    bytes = (round_up(bytes, page_bytes) / page_bytes | 1U) * page_bytes;
  }
  std::shared_ptr<SharedBlock> block = parts_->collectives.memory().allocate(bytes);
  std::byte* mine = block->part(one_each ? local_rank() : 0).data();
  return {std::move(block), mine};
}

void Context::broadcast(const Tensor& tensor, int root) {
  if (on_gpu(tensor)) return parts_->start_on_gpu({Verb::broadcast, {tensor}, {}, {}, root}).wait();
  parts_->call([&](std::uint64_t number) { parts_->collectives.broadcast(tensor, root, number); });
}

void Context::all_reduce(const Tensor& tensor, Operation operation) {
  if (on_gpu(tensor)) return parts_->start_on_gpu({Verb::all_reduce, {tensor}, {}, operation}).wait();
  parts_->call([&](std::uint64_t number) { parts_->collectives.all_reduce(tensor, operation, number); });
}

void Context::all_reduce_n(std::span<const Tensor> tensors, Operation operation) {
  if (!tensors.empty() && on_gpu(tensors.front()))
    return parts_->start_on_gpu({Verb::all_reduce, {tensors.begin(), tensors.end()}, {}, operation}).wait();
  for (const Tensor& each : tensors)
    refuse_on_gpu(each, "one call has tensors in host memory and in GPU memory");
  parts_->call([&](std::uint64_t number) { parts_->collectives.all_reduce_n(tensors, operation, number); });
}

void Context::reduce_scatter(const Tensor& in, const Tensor& out, Operation operation) {
  if (on_gpu(in)) return parts_->start_on_gpu({Verb::reduce_scatter, {in}, out, operation}).wait();
  refuse_on_gpu(out, "the input lies in host memory, the output in GPU memory");
  parts_->call([&](std::uint64_t number) { parts_->collectives.reduce_scatter(in, out, operation, number); });
}

void Context::all_gather(const Tensor& in, const Tensor& out) {
  if (on_gpu(in)) return parts_->start_on_gpu({Verb::all_gather, {in}, out}).wait();
  refuse_on_gpu(out, "the input lies in host memory, the output in GPU memory");
  parts_->call([&](std::uint64_t number) { parts_->collectives.all_gather(in, out, number); });
}

void Context::barrier() {
  parts_->call([&](std::uint64_t number) { parts_->collectives.barrier(number); });
}

void Context::set_state(std::uint64_t state) { parts_->collectives.set_state(state); }

void Context::all_reduce_update(const Tensor& tensor, Operation operation, const Update& update) {
  refuse_on_gpu(tensor, "updates are made on the host");
  parts_->call([&](std::uint64_t number) {
    parts_->collectives.all_reduce_update(tensor, operation, number, update);
  });
}

Handle Context::start_all_reduce(const Tensor& tensor, Operation operation) {
  if (on_gpu(tensor)) return parts_->start_on_gpu({Verb::all_reduce, {tensor}, {}, operation});
  return parts_->start([parts = parts_.get(), tensor, operation](std::uint64_t number) {
    parts->collectives.all_reduce(tensor, operation, number);
  });
}

Handle Context::start_all_reduce_update(const Tensor& tensor, Operation operation, Update update) {
  refuse_on_gpu(tensor, "updates are made on the host");
  return parts_->start(
      [parts = parts_.get(), tensor, operation, update = std::move(update)](std::uint64_t number) {
        parts->collectives.all_reduce_update(tensor, operation, number, update);
      });
}

Handle Context::start_broadcast(const Tensor& tensor, int root) {
  if (on_gpu(tensor)) return parts_->start_on_gpu({Verb::broadcast, {tensor}, {}, {}, root});
  return parts_->start([parts = parts_.get(), tensor, root](std::uint64_t number) {
    parts->collectives.broadcast(tensor, root, number);
  });
}

std::vector<std::string> Context::gather(const std::string& mine) {
  return parts_->gather(Verb::gather, mine);
}

void Context::agree(std::span<const Tensor> tensors) {
  for (const Tensor& each : tensors) check_type(each);
  const std::string mine = render_layout(tensors);
  // Hashes first: a thousand ranks with a thousand tensors need not send all names.
  const std::vector<std::string> hashes =
      parts_->gather(Verb::agree, fmt::format("{:016x}", hash_text(mine)));
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) == hashes.end()) return;
  std::vector<std::string> names;
  for (int r = 0; r < size(); ++r) names.push_back(name_of(r));
  if (const auto difference = find_difference(parts_->gather(Verb::agree, mine), names))
    throw Error(*difference);
}

}  // namespace ddl
