// SPDX-License-Identifier: MIT
#include "ddl/transport/thread/thread_transport.hpp"

#include "ddl/error.hpp"
#include "ddl/transport/thread/thread_node_comm.hpp"
#include "ddl/transport/thread/thread_peer_comm.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>

namespace ddl {
namespace {

// What the threads share. The first thread that needs a shared object creates it for all.
class ThreadRendezvous {
 public:
  explicit ThreadRendezvous(std::vector<std::string> hosts)
      : hosts_(std::move(hosts)), texts_(hosts_.size()) {}

  std::size_t size() const { return hosts_.size(); }
  const std::string& host_of(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

  std::vector<std::string> gather(int rank, const std::string& mine) {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_;
    texts_[static_cast<std::size_t>(rank)] = mine;
    if (++arrived_ == size()) {
      arrived_ = 0;
      ++round_;
      gathered_ = texts_;
      changed_.notify_all();
      return gathered_;
    }
    changed_.wait(lock, [&] { return round_ != round || abandoned_; });
    if (round_ == round)
      throw Error(Fault::lost, "another rank has given up", host_of(rank), "read the message of that rank");
    return gathered_;
  }

  std::unique_ptr<NodeComm> node_comm(const Grid& grid, int rank) {
    const std::lock_guard lock(mutex_);
    const auto& members =
        grid.ranks_of[static_cast<std::size_t>(grid.host_of[static_cast<std::size_t>(rank)])];
    auto& groups = nodes_[members];  // names by value: the first rank's grid may go before the others' groups
    if (groups.empty()) {
      groups = make_thread_node_comms(static_cast<int>(members.size()), [grid, members](int local) {
        return grid.name_of(members[static_cast<std::size_t>(local)]);
      });
    }
    return std::move(groups[static_cast<std::size_t>(grid.local_rank_of[static_cast<std::size_t>(rank)])]);
  }

  std::unique_ptr<PeerComm> comm(const Grid& grid, char name, const std::vector<int>& members, int me,
                                 double seconds) {
    const std::lock_guard lock(mutex_);
    auto& ends = comms_[{name, members}];
    if (ends.empty()) {
      ThreadPeerCommOptions options;
      options.deadline = std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
      options.name_of = [grid, members](int at) {
        return grid.name_of(members[static_cast<std::size_t>(at)]);
      };
      ends = make_thread_peer_comms(static_cast<int>(members.size()), options);
    }
    return std::move(ends[static_cast<std::size_t>(me)]);
  }

  // What the members of the n-th split's group share.
  std::shared_ptr<ThreadRendezvous> group(std::size_t split, const std::vector<int>& members) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<ThreadRendezvous>& group = groups_[{split, members}];
    if (group) return group;
    std::vector<std::string> hosts;
    for (const int member : members) hosts.push_back(host_of(member));
    group = std::make_shared<ThreadRendezvous>(std::move(hosts));
    return group;
  }

  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    changed_.notify_all();
  }

 private:
  std::vector<std::string> hosts_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  std::vector<std::string> gathered_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
  bool abandoned_ = false;
  std::map<std::vector<int>, std::vector<std::unique_ptr<NodeComm>>> nodes_;
  std::map<std::pair<char, std::vector<int>>, std::vector<std::unique_ptr<PeerComm>>> comms_;
  std::map<std::pair<std::size_t, std::vector<int>>, std::shared_ptr<ThreadRendezvous>> groups_;
};

class ThreadTransport : public Transport {
 public:
  ThreadTransport(std::shared_ptr<ThreadRendezvous> rendezvous, int rank)
      : rendezvous_(std::move(rendezvous)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(rendezvous_->size()); }
  std::vector<std::string> gather(const std::string& mine) override {
    return rendezvous_->gather(rank_, mine);
  }
  std::string host_name() const override { return rendezvous_->host_of(rank_); }

  std::unique_ptr<NodeComm> make_node_comm(const Grid& grid) override {
    return rendezvous_->node_comm(grid, rank_);
  }
  std::vector<std::unique_ptr<PeerComm>> make_level_comms(const Grid& grid, double timeout_seconds) override {
    std::vector<std::unique_ptr<PeerComm>> comms;
    for (const Level& level : grid.place(rank_).levels)
      comms.push_back(rendezvous_->comm(grid, level.name, level.ranks, level.me, timeout_seconds));
    return comms;
  }
  std::unique_ptr<PeerComm> make_global_comm(const Grid& grid, double timeout_seconds) override {
    std::vector<int> all;
    for (int r = 0; r < size(); ++r) all.push_back(r);
    return rendezvous_->comm(grid, '*', all, rank_, timeout_seconds);
  }
  std::unique_ptr<Transport> split(const SplitPlan& plan) override {
    const std::size_t split = splits_++;
    if (plan.members.empty()) return nullptr;
    return std::make_unique<ThreadTransport>(rendezvous_->group(split, plan.members), plan.me);
  }
  // There is no other library between threads.
  bool native_all_reduce(const std::byte*, std::byte*, std::size_t, DataType, Operation) override {
    return false;
  }
  void abandon() noexcept override { rendezvous_->abandon(); }

 private:
  std::shared_ptr<ThreadRendezvous> rendezvous_;
  int rank_;
  std::size_t splits_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Transport>> make_thread_transports(const std::vector<std::string>& host_of_rank) {
  const auto rendezvous = std::make_shared<ThreadRendezvous>(host_of_rank);
  std::vector<std::unique_ptr<Transport>> ranks;
  for (int r = 0; r < static_cast<int>(host_of_rank.size()); ++r)
    ranks.push_back(std::make_unique<ThreadTransport>(rendezvous, r));
  return ranks;
}

}  // namespace ddl
