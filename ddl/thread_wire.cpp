// SPDX-License-Identifier: MIT
#include "ddl/thread_wire.hpp"

#include "ddl/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

namespace ddl {
namespace {

using HubClock = std::chrono::steady_clock;

struct ThreadPost {
  int peer = 0;
  bool is_send = false;
  std::byte* bytes = nullptr;
  std::size_t size = 0;
  std::uint32_t stamp = 0;
  bool matched = false;
  HubClock::time_point ready;  // when a matched message is there
  std::optional<Error> problem;
};
using PostPointer = std::shared_ptr<ThreadPost>;

// The messages from one rank to another, in their order.
struct MessageLane {
  std::deque<PostPointer> sends, receives;
  std::uint64_t sent = 0;
  bool cut = false;
};

class ThreadHub {
 public:
  ThreadHub(int size, ThreadWireOptions options)
      : size_(size),
        options_(std::move(options)),
        lanes_(static_cast<std::size_t>(size * size)),
        gone_(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }
  std::string name_of(int rank) const {
    return options_.name_of ? options_.name_of(rank) : fmt::format("rank {}", rank);
  }

  PostPointer send(int from, int to, std::span<const std::byte> bytes, std::uint32_t stamp) {
    const std::lock_guard lock(mutex_);
    MessageLane& lane = this->lane(from, to);
    auto post = std::make_shared<ThreadPost>();
    *post = {.peer = to,
             .is_send = true,
             .bytes = const_cast<std::byte*>(bytes.data()),
             .size = bytes.size(),
             .stamp = stamp,
             .matched = false,
             .ready = HubClock::now(),
             .problem = {}};
    const auto delay = options_.delay ? options_.delay(from, to, lane.sent) : std::chrono::microseconds(0);
    ++lane.sent;
    lane.cut = lane.cut || delay.count() < 0;
    if (lane.cut) {
      post->matched = true;  // the sender of a lost message does not know
      return post;
    }
    post->ready += delay;
    lane.sends.push_back(post);
    match(lane, from);
    return post;
  }

  PostPointer receive(int from, int to, std::span<std::byte> bytes, std::uint32_t stamp) {
    const std::lock_guard lock(mutex_);
    MessageLane& lane = this->lane(from, to);
    auto post = std::make_shared<ThreadPost>();
    *post = {.peer = from,
             .is_send = false,
             .bytes = bytes.data(),
             .size = bytes.size(),
             .stamp = stamp,
             .matched = false,
             .ready = {},
             .problem = {}};
    lane.receives.push_back(post);
    match(lane, from);
    return post;
  }

  void wait(const ThreadPost& post) {
    std::unique_lock lock(mutex_);
    const auto deadline = HubClock::now() + options_.deadline;
    const auto settled = [&] { return post.matched || gone_[static_cast<std::size_t>(post.peer)]; };
    const bool in_time = changed_.wait_until(lock, deadline, settled);
    if (post.problem) throw Error(*post.problem);
    if (!in_time || !post.matched) throw lost(post, in_time);
    const auto ready = post.ready;
    lock.unlock();
    if (post.is_send || ready <= HubClock::now()) return;
    std::unique_lock again(mutex_);
    changed_.wait_until(again, std::min(ready, deadline), [] { return false; });
    if (ready > deadline) throw lost(post, false);
  }

  // Nothing is copied from or to this rank's memory from now on.
  void withdraw(int rank, bool is_gone) {
    const std::lock_guard lock(mutex_);
    for (int peer = 0; peer < size_; ++peer) {
      lane(rank, peer).sends.clear();
      lane(peer, rank).receives.clear();
    }
    if (is_gone) gone_[static_cast<std::size_t>(rank)] = true;
    changed_.notify_all();
  }

 private:
  MessageLane& lane(int from, int to) { return lanes_[static_cast<std::size_t>(from * size_ + to)]; }

  void match(MessageLane& lane, int from) {
    while (!lane.sends.empty() && !lane.receives.empty()) {
      const PostPointer send = lane.sends.front();
      const PostPointer receive = lane.receives.front();
      lane.sends.pop_front();
      lane.receives.pop_front();
      if (send->size != receive->size || send->stamp != receive->stamp) {
        receive->problem.emplace(
            Fault::mismatch,
            fmt::format("{} sent {} bytes of call {:#x}, expected were {} bytes of call {:#x}", name_of(from),
                        send->size, send->stamp, receive->size, receive->stamp),
            name_of(from), "all ranks make the same calls in the same order");
      } else {
        std::copy_n(send->bytes, send->size, receive->bytes);
      }
      receive->ready = send->ready;
      send->matched = receive->matched = true;
    }
    changed_.notify_all();
  }

  Error lost(const ThreadPost& post, bool is_gone) const {
    const std::string who = name_of(post.peer);
    return {Fault::lost,
            is_gone ? fmt::format("{} is gone", who)
                    : fmt::format("{} has {} nothing for {} ms", who, post.is_send ? "taken" : "sent",
                                  options_.deadline.count()),
            who, "look at what that rank last said"};
  }

  int size_;
  ThreadWireOptions options_;
  std::vector<MessageLane> lanes_;
  std::vector<bool> gone_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
};

class ThreadWire : public Wire {
 public:
  ThreadWire(std::shared_ptr<ThreadHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}
  ~ThreadWire() override { hub_->withdraw(rank_, true); }
  ThreadWire(const ThreadWire&) = delete;
  ThreadWire& operator=(const ThreadWire&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return hub_->size(); }
  void stamp(std::uint32_t call) override { stamp_ = call; }
  std::string name_of(int rank) const override { return hub_->name_of(rank); }

  Ticket send(int to, std::span<const std::byte> bytes) override {
    if (broken_) throw Error(*broken_);
    return keep(hub_->send(rank_, to, bytes, stamp_));
  }
  Ticket receive(int from, std::span<std::byte> bytes) override {
    if (broken_) throw Error(*broken_);
    return keep(hub_->receive(from, rank_, bytes, stamp_));
  }
  void wait(Ticket ticket) override {
    if (broken_) throw Error(*broken_);
    const auto post = posts_.extract(ticket);
    try {
      hub_->wait(*post.mapped());
    } catch (const Error& error) {
      broken_ = error;
      hub_->withdraw(rank_, false);
      throw;
    }
  }

 private:
  Ticket keep(PostPointer post) {
    posts_.emplace(next_, std::move(post));
    return next_++;
  }

  std::shared_ptr<ThreadHub> hub_;
  int rank_;
  std::uint32_t stamp_ = 0;
  Ticket next_ = 0;
  std::map<Ticket, PostPointer> posts_;
  std::optional<Error> broken_;
};

}  // namespace

std::vector<std::unique_ptr<Wire>> make_thread_wire(int size, ThreadWireOptions options) {
  const auto hub = std::make_shared<ThreadHub>(size, std::move(options));
  std::vector<std::unique_ptr<Wire>> ends;
  for (int rank = 0; rank < size; ++rank) ends.push_back(std::make_unique<ThreadWire>(hub, rank));
  return ends;
}

}  // namespace ddl
