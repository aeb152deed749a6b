// SPDX-License-Identifier: MIT
#include "ddl/transport/thread/thread_node_comm.hpp"

#include "ddl/core/rounding.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace ddl {
namespace {

class ThreadBuffer : public SharedBuffer {
 public:
  ThreadBuffer(int ranks, std::size_t bytes) : bytes_(bytes), stride_(round_up(bytes, page_bytes)) {
    const std::size_t all = std::max(stride_ * static_cast<std::size_t>(ranks), page_bytes);
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(page_bytes, all)));
    if (!memory_) throw std::bad_alloc();
    std::memset(memory_.get(), 0, all);
  }
  std::span<std::byte> part(int local_rank) const override {
    return {memory_.get() + stride_ * static_cast<std::size_t>(local_rank), bytes_};
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_;
  std::size_t stride_;
  std::unique_ptr<std::byte, Free> memory_;
};

// What the ranks share: their n-th allocations are the same block.
struct ThreadNode {
  explicit ThreadNode(int ranks) : size(ranks), gone(static_cast<std::size_t>(ranks)) {}

  std::shared_ptr<SharedBuffer> block(std::size_t number, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    Pending& pending = blocks[number];
    if (!pending.block) pending.block = std::make_shared<ThreadBuffer>(size, bytes);
    std::shared_ptr<SharedBuffer> block = pending.block;
    if (++pending.taken == size) blocks.erase(number);
    return block;
  }

  struct Pending {
    std::shared_ptr<SharedBuffer> block;
    int taken = 0;
  };
  int size;
  std::vector<std::atomic<bool>> gone;
  std::mutex mutex;
  std::map<std::size_t, Pending> blocks;
};

class ThreadNodeComm : public NodeComm {
 public:
  ThreadNodeComm(std::shared_ptr<ThreadNode> host, int rank, std::function<std::string(int)> namer)
      : host_(std::move(host)), rank_(rank), namer_(std::move(namer)) {}
  ~ThreadNodeComm() override { host_->gone[static_cast<std::size_t>(rank_)] = true; }
  ThreadNodeComm(const ThreadNodeComm&) = delete;
  ThreadNodeComm& operator=(const ThreadNodeComm&) = delete;

  int local_rank() const override { return rank_; }
  int local_size() const override { return host_->size; }
  std::shared_ptr<SharedBuffer> allocate(std::size_t bytes) override {
    return host_->block(allocations_++, bytes);
  }
  bool alive(int local_rank) const override { return !host_->gone[static_cast<std::size_t>(local_rank)]; }
  std::string name_of(int local_rank) const override {
    return namer_ ? namer_(local_rank) : "rank " + std::to_string(local_rank);
  }

 private:
  std::shared_ptr<ThreadNode> host_;
  int rank_;
  std::function<std::string(int)> namer_;
  std::size_t allocations_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<NodeComm>> make_thread_node_comms(int size,
                                                              std::function<std::string(int)> name_of) {
  const auto host = std::make_shared<ThreadNode>(size);
  std::vector<std::unique_ptr<NodeComm>> groups;
  for (int rank = 0; rank < size; ++rank)
    groups.push_back(std::make_unique<ThreadNodeComm>(host, rank, name_of));
  return groups;
}

}  // namespace ddl
