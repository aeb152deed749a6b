// SPDX-License-Identifier: MIT
#include "ddl/transport/thread/thread_peer_comm.hpp"

#include "ddl/core/call_record.hpp"
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
  std::uint32_t call_id = 0;
  bool matched = false;
  HubClock::time_point ready;  // when a matched message is there
  std::optional<Error> problem;
};
using PostPointer = std::shared_ptr<ThreadPost>;

// The messages from one rank to another, in their order.
struct MessageQueue {
  std::deque<PostPointer> sends, receives;
  std::uint64_t sent = 0;
  bool cut = false;
};

class ThreadHub {
 public:
  ThreadHub(int size, ThreadPeerCommOptions options)
      : size_(size),
        options_(std::move(options)),
        queues_(static_cast<std::size_t>(size * size)),
        gone_(static_cast<std::size_t>(size)) {}

  int size() const { return size_; }
  std::string name_of(int rank) const {
    return options_.name_of ? options_.name_of(rank) : fmt::format("rank {}", rank);
  }

  PostPointer send(int from, int to, std::span<const std::byte> bytes, std::uint32_t call_id) {
    const std::lock_guard lock(mutex_);
    MessageQueue& queue = this->queue(from, to);
    auto post = std::make_shared<ThreadPost>();
    *post = {.peer = to,
             .is_send = true,
             .bytes = const_cast<std::byte*>(bytes.data()),
             .size = bytes.size(),
             .call_id = call_id,
             .matched = false,
             .ready = HubClock::now(),
             .problem = {}};
    const auto delay = options_.delay ? options_.delay(from, to, queue.sent) : std::chrono::microseconds(0);
    ++queue.sent;
    queue.cut = queue.cut || delay.count() < 0;
    if (queue.cut) {
      post->matched = true;  // the sender of a lost message does not know
      return post;
    }
    post->ready += delay;
    queue.sends.push_back(post);
    match(queue, from);
    return post;
  }

  PostPointer receive(int from, int to, std::span<std::byte> bytes, std::uint32_t call_id) {
    const std::lock_guard lock(mutex_);
    MessageQueue& queue = this->queue(from, to);
    auto post = std::make_shared<ThreadPost>();
    *post = {.peer = from,
             .is_send = false,
             .bytes = bytes.data(),
             .size = bytes.size(),
             .call_id = call_id,
             .matched = false,
             .ready = {},
             .problem = {}};
    queue.receives.push_back(post);
    match(queue, from);
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
      queue(rank, peer).sends.clear();
      queue(peer, rank).receives.clear();
    }
    if (is_gone) gone_[static_cast<std::size_t>(rank)] = true;
    changed_.notify_all();
  }

 private:
  MessageQueue& queue(int from, int to) { return queues_[static_cast<std::size_t>(from * size_ + to)]; }

  void match(MessageQueue& queue, int from) {
    while (!queue.sends.empty() && !queue.receives.empty()) {
      const PostPointer send = queue.sends.front();
      const PostPointer receive = queue.receives.front();
      queue.sends.pop_front();
      queue.receives.pop_front();
      if (send->size != receive->size || send->call_id != receive->call_id) {
        receive->problem.emplace(
            Fault::mismatch,
            fmt::format("{} sent {} bytes of call {:#x}, expected were {} bytes of call {:#x}", name_of(from),
                        send->size, send->call_id, receive->size, receive->call_id),
            name_of(from), same_calls_hint);
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
            who, "read the last output of that rank"};
  }

  int size_;
  ThreadPeerCommOptions options_;
  std::vector<MessageQueue> queues_;
  std::vector<bool> gone_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
};

class ThreadPeerComm : public PeerComm {
 public:
  ThreadPeerComm(std::shared_ptr<ThreadHub> hub, int rank) : hub_(std::move(hub)), rank_(rank) {}
  ~ThreadPeerComm() override { hub_->withdraw(rank_, true); }
  ThreadPeerComm(const ThreadPeerComm&) = delete;
  ThreadPeerComm& operator=(const ThreadPeerComm&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return hub_->size(); }
  void call_id(std::uint32_t call) override { call_id_ = call; }
  std::string name_of(int rank) const override { return hub_->name_of(rank); }

  Ticket send(int to, std::span<const std::byte> bytes) override {
    if (broken_) throw Error(*broken_);
    return keep(hub_->send(rank_, to, bytes, call_id_));
  }
  Ticket receive(int from, std::span<std::byte> bytes) override {
    if (broken_) throw Error(*broken_);
    return keep(hub_->receive(from, rank_, bytes, call_id_));
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
  std::uint32_t call_id_ = 0;
  Ticket next_ = 0;
  std::map<Ticket, PostPointer> posts_;
  std::optional<Error> broken_;
};

}  // namespace

std::vector<std::unique_ptr<PeerComm>> make_thread_peer_comms(int size, ThreadPeerCommOptions options) {
  const auto hub = std::make_shared<ThreadHub>(size, std::move(options));
  std::vector<std::unique_ptr<PeerComm>> ends;
  for (int rank = 0; rank < size; ++rank) ends.push_back(std::make_unique<ThreadPeerComm>(hub, rank));
  return ends;
}

}  // namespace ddl
