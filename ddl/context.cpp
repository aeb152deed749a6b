// SPDX-License-Identifier: MIT
#include "ddl/agreement.hpp"
#include "ddl/collectives.hpp"
#include "ddl/ddl.hpp"
#include "ddl/ranks.hpp"
#include "ddl/rounding.hpp"
#include "ddl/work_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace ddl {
namespace {

// Without dims, hosts may have different numbers of ranks: then each rank stands for itself, and all share
// one wire.
Grid grid_of(Ranks& ranks, const Options& options) {
  std::vector<std::string> hosts = ranks.gather(ranks.host_name());
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

}  // namespace

struct Context::Parts {
  Parts(std::unique_ptr<Ranks> given, const Options& options)
      : ranks(std::move(given)), grid(grid_of(*ranks, options)), collectives(*ranks, grid, options) {}

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
        collectives.abandon();
        ranks->abandon();
      }
      broken = error;
      throw;
    }
  }

  std::unique_ptr<Ranks> ranks;
  Grid grid;
  Collectives collectives;
  std::mutex mutex;
  std::optional<Error> broken;
  std::uint64_t number = 1;
  WorkQueue queue;  // last: ends first
};

Context::Context(std::unique_ptr<Ranks> ranks, Options options) {
  if (options.mode == Mode::nccl) {
    throw Error(Fault::unsupported, "mode n: this build has no NCCL back end", "DDL options",
                "-mode b, which adds on the CPU");
  }
  parts_ = std::make_unique<Parts>(std::move(ranks), options);
}

Context::~Context() = default;

int Context::rank() const { return parts_->ranks->rank(); }
int Context::size() const { return parts_->ranks->size(); }
int Context::local_rank() const { return parts_->collectives.place().local_rank; }
int Context::local_size() const { return static_cast<int>(parts_->collectives.place().local_ranks.size()); }
int Context::host() const { return parts_->collectives.place().host; }
int Context::hosts() const { return static_cast<int>(parts_->grid.hosts.size()); }
std::string Context::dims() const { return parts_->grid.text(); }
std::string Context::device() const { return "cpu"; }
std::string Context::name_of(int rank) const { return parts_->grid.name_of(rank); }

std::pair<std::shared_ptr<void>, std::byte*> Context::allocate_bytes(std::size_t bytes, bool one_each) {
  parts_->queue.drain();
  if (!one_each) {  // the parts lie one after the other: together they are enough
    const auto ranks = static_cast<std::size_t>(local_size());
    bytes = round_up((bytes + ranks - 1) / ranks, page_bytes);
  }
  std::shared_ptr<SharedBlock> block = parts_->collectives.memory().allocate(bytes);
  std::byte* mine = block->part(one_each ? local_rank() : 0).data();
  return {std::move(block), mine};
}

void Context::broadcast(const Tensor& tensor, int root) {
  parts_->call([&](std::uint64_t number) { parts_->collectives.broadcast(tensor, root, number); });
}

void Context::all_reduce(const Tensor& tensor, Operation operation) {
  parts_->call([&](std::uint64_t number) { parts_->collectives.all_reduce(tensor, operation, number); });
}

void Context::all_reduce_n(std::span<const Tensor> tensors, Operation operation) {
  parts_->call([&](std::uint64_t number) { parts_->collectives.all_reduce_n(tensors, operation, number); });
}

void Context::reduce_scatter(const Tensor& in, const Tensor& out, Operation operation) {
  parts_->call([&](std::uint64_t number) { parts_->collectives.reduce_scatter(in, out, operation, number); });
}

void Context::all_gather(const Tensor& in, const Tensor& out) {
  parts_->call([&](std::uint64_t number) { parts_->collectives.all_gather(in, out, number); });
}

void Context::barrier() {
  parts_->call([&](std::uint64_t number) { parts_->collectives.barrier(number); });
}

void Context::set_state(std::uint64_t state) { parts_->collectives.set_state(state); }

void Context::all_reduce_update(const Tensor& tensor, Operation operation, const Update& update) {
  parts_->call([&](std::uint64_t number) {
    parts_->collectives.all_reduce_update(tensor, operation, number, update);
  });
}

Handle Context::start_all_reduce(const Tensor& tensor, Operation operation) {
  return parts_->start([parts = parts_.get(), tensor, operation](std::uint64_t number) {
    parts->collectives.all_reduce(tensor, operation, number);
  });
}

Handle Context::start_all_reduce_update(const Tensor& tensor, Operation operation, Update update) {
  return parts_->start(
      [parts = parts_.get(), tensor, operation, update = std::move(update)](std::uint64_t number) {
        parts->collectives.all_reduce_update(tensor, operation, number, update);
      });
}

Handle Context::start_broadcast(const Tensor& tensor, int root) {
  return parts_->start([parts = parts_.get(), tensor, root](std::uint64_t number) {
    parts->collectives.broadcast(tensor, root, number);
  });
}

// Where the others add zeros, a sum is a copy; and sums tell who is missing, MPI_Allgather waits for ever.
std::vector<std::string> Context::gather(const std::string& mine) {
  const auto sum = [&](std::vector<std::int32_t>& words, const char* name) {
    parts_->call(
        [&](std::uint64_t number) { parts_->collectives.sum(tensor(std::span(words), name), number); });
  };
  constexpr std::size_t word = sizeof(std::int32_t);
  const auto me = static_cast<std::size_t>(rank());
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(size()));
  lengths[me] = static_cast<std::int32_t>(mine.size());
  sum(lengths, "lengths of texts");
  std::vector<std::size_t> starts;
  std::size_t end = 0;
  for (const std::int32_t length : lengths) {
    starts.push_back(end);
    end += round_up(static_cast<std::size_t>(length), word) / word;
  }
  std::vector<std::int32_t> words(end);
  std::copy(mine.begin(), mine.end(), reinterpret_cast<char*>(words.data() + starts[me]));
  sum(words, "texts");
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < starts.size(); ++r)
    texts.emplace_back(reinterpret_cast<const char*>(words.data() + starts[r]), lengths[r]);
  return texts;
}

void Context::agree(std::span<const Tensor> tensors) {
  const std::string mine = render_layout(tensors);
  // Hashes first: a thousand ranks with a thousand tensors need not send all names.
  const std::vector<std::string> hashes = gather(fmt::format("{:016x}", hash_text(mine)));
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::not_equal_to<>()) == hashes.end()) return;
  std::vector<std::string> names;
  for (int r = 0; r < size(); ++r) names.push_back(name_of(r));
  if (const auto difference = find_difference(gather(mine), names)) throw Error(*difference);
}

}  // namespace ddl
