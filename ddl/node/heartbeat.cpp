// SPDX-License-Identifier: MIT
#include "ddl/node/heartbeat.hpp"

#include "ddl/core/clock.hpp"

#include <atomic>

namespace ddl {
namespace {

constexpr double unresponsive_after = 1.0;

}  // namespace

// Zeroed memory is its first state. The steady clock is the host's.
struct Heartbeat::Shared {
  std::atomic<std::uint64_t> ready;
  std::atomic<std::uint64_t> ended;
  std::atomic<double> looked;
};

static_assert(std::atomic<double>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

Heartbeat::Heartbeat(NodeComm& group) : group_(group), block_(group.allocate(sizeof(Shared))) {}

Heartbeat::Shared& Heartbeat::of(int local_rank) const {
  return *reinterpret_cast<Shared*>(block_->part(local_rank).data());
}

void Heartbeat::begin(std::uint64_t number) {
  number_ = number;
  beat();
}

void Heartbeat::beat() { of(group_.local_rank()).looked.store(steady_seconds()); }
void Heartbeat::ready() { of(group_.local_rank()).ready.store(number_); }
void Heartbeat::end() { of(group_.local_rank()).ended.store(number_); }

std::vector<Heartbeat::Unresponsive> Heartbeat::find_dead() const {
  std::vector<Unresponsive> dead;
  for (int rank = 0; rank < group_.local_size(); ++rank) {
    // Who ended after the call is not dead to us.
    if (!group_.alive(rank) && of(rank).ended.load() < number_)
      dead.push_back({rank, group_.name_of(rank), "has ended", ""});
  }
  return dead;
}

std::vector<Heartbeat::Unresponsive> Heartbeat::find_unresponsive() const {
  std::vector<Unresponsive> silent = find_dead();
  if (!silent.empty()) return silent;
  const double latest = steady_seconds() - unresponsive_after;
  for (int rank = 0; rank < group_.local_size(); ++rank) {
    if (rank == group_.local_rank() || of(rank).ended.load() >= number_ || of(rank).looked.load() > latest)
      continue;
    silent.push_back({rank, group_.name_of(rank), "does not answer", group_.state_of(rank)});
  }
  return silent;
}

std::vector<Heartbeat::Unresponsive> Heartbeat::find_unready() const {
  std::vector<Unresponsive> late;
  for (int rank = 0; rank < group_.local_size(); ++rank) {
    if (of(rank).ready.load() < number_)
      late.push_back({rank, group_.name_of(rank), "has not computed its input yet",
                      "its stream has not reached the sum"});
  }
  return late;
}

}  // namespace ddl
