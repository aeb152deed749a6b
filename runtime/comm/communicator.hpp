// SPDX-License-Identifier: MIT
// A group of ranks as the trainer uses it. Implemented with libddl (ddl_communicator.hpp), with threads of
// one process for tests (thread_communicator.hpp), and for a single rank (SelfCommunicator). All calls are
// collective and made by one thread at a time, unless noted.
#pragma once

#include "base/text/error.hpp"
#include "ddl/rank_messages.hpp"
#include "ddl/work_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Among the ranks of this host.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  // Zeroed memory that lives as long as this object; reductions of it are fastest. The same count on all
  // ranks.
  virtual std::span<float> allocate(std::size_t count) = 0;
  // The same, but one copy shared by all ranks of the host.
  virtual std::span<float> allocate_host_shared(std::size_t count) = 0;
  // Element-wise sum over all ranks, with the same bits on all of them, in full precision: for counts and
  // totals. `in` and `out` must not overlap.
  virtual void all_reduce_sum(std::span<const float> in, std::span<float> out) = 0;
  // Whether the reductions below send a smaller data type between hosts.
  virtual bool reduces_precision() const { return false; }
  // In place. `name`: of the tensor, in messages about stalled ranks.
  virtual void all_reduce_sum(std::span<float> data, std::string_view name) = 0;
  // The same sums, used once per host: `use` receives blocks of this rank's share of the elements; the shares
  // of the host's ranks cover all of them. Returns when all ranks of the host are done; `data` is then
  // undefined.
  using ApplySums = std::function<void(std::size_t first, std::span<const float> sums)>;
  virtual void all_reduce_update(std::span<float> data, std::string_view name, const ApplySums& use) = 0;
  // Whether the bits of a sum are independent of how the vector is cut into chunks.
  virtual bool chunk_invariant_sums() const { return true; }
  // Rank 0's values on all ranks.
  virtual void broadcast(std::span<float> data) = 0;
  // One string from each rank, in rank order, on all ranks.
  virtual std::vector<std::string> gather_all(const std::string& mine) = 0;
  // Runs `work`, which makes calls as above, on the communication thread while the caller computes, in the
  // order of start(). Until it is done the caller makes no calls itself.
  virtual ddl::Handle start(std::function<void()> work) { return queue_.start(std::move(work)); }
  // Messages between any two ranks; null where the ranks have none.
  virtual std::unique_ptr<ddl::RankMessages> open_messages() { return nullptr; }
  // Ends all ranks with this exit status where a launcher can do so, else it returns.
  virtual void abort(int status) { static_cast<void>(status); }
  // Publishes the progress of this rank, an application-defined number, for ranks that wait for it.
  // Thread-safe; not collective.
  virtual void set_progress(std::uint64_t state) { static_cast<void>(state); }

 private:
  ddl::WorkQueue queue_;
};

// A group of one.
class SelfCommunicator : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_rank() const override { return 0; }
  int local_size() const override { return 1; }
  std::span<float> allocate(std::size_t count) override { return memory_.emplace_back(count, 0.0F); }
  std::span<float> allocate_host_shared(std::size_t count) override { return allocate(count); }
  void all_reduce_update(std::span<float> data, std::string_view, const ApplySums& use) override {
    use(0, data);
  }
  void all_reduce_sum(std::span<float>, std::string_view) override {}
  void all_reduce_sum(std::span<const float> in, std::span<float> out) override {
    std::copy(in.begin(), in.end(), out.begin());
  }
  void broadcast(std::span<float>) override {}
  std::vector<std::string> gather_all(const std::string& mine) override { return {mine}; }

 private:
  std::deque<std::vector<float>> memory_;
};

// An error that all ranks throw together, so that rank 0 prints it and all ranks exit in order.
class CollectiveError : public Error {
 public:
  using Error::Error;
};

// "rank 3 h2"
std::string rank_name(const Communicator& ranks);

// Runs `work` on each rank. If it throws an Error on some ranks, all ranks throw a CollectiveError: that of
// the lowest rank, prefixed with its name unless all ranks failed in the same way.
void run_collectively(Communicator& ranks, const std::function<void()>& work);

// Throws a CollectiveError that names the ranks whose text differs from rank 0's.
void require_equal(Communicator& ranks, const std::string& mine, ErrorKind kind, const std::string& what,
                   const std::string& hint);

}  // namespace ddlrun::runtime
