// SPDX-License-Identifier: MIT
#include "ddl/host_pulse.hpp"

#include "ddl/clock.hpp"

#include <atomic>

namespace ddl {
namespace {

constexpr double silent_seconds = 1.0;

}  // namespace

// Zeroed memory is its first state. The steady clock is the host's.
struct HostPulse::Shared {
  std::atomic<std::uint64_t> ready;
  std::atomic<std::uint64_t> ended;
  std::atomic<double> looked;
};

static_assert(std::atomic<double>::is_always_lock_free && std::atomic<std::uint64_t>::is_always_lock_free);

HostPulse::HostPulse(HostGroup& group) : group_(group), block_(group.allocate(sizeof(Shared))) {}

HostPulse::Shared& HostPulse::of(int local_rank) const {
  return *reinterpret_cast<Shared*>(block_->part(local_rank).data());
}

void HostPulse::begin(std::uint64_t number) {
  number_ = number;
  beat();
}

void HostPulse::beat() { of(group_.local_rank()).looked.store(steady_seconds()); }
void HostPulse::ready() { of(group_.local_rank()).ready.store(number_); }
void HostPulse::end() { of(group_.local_rank()).ended.store(number_); }

std::vector<HostPulse::Silent> HostPulse::find_dead() const {
  std::vector<Silent> dead;
  for (int rank = 0; rank < group_.local_size(); ++rank) {
    // Who ended after the call is not dead to us.
    if (!group_.alive(rank) && of(rank).ended.load() < number_)
      dead.push_back({rank, group_.name_of(rank), "has ended", ""});
  }
  return dead;
}

std::vector<HostPulse::Silent> HostPulse::find_silent() const {
  std::vector<Silent> silent = find_dead();
  if (!silent.empty()) return silent;
  const double latest = steady_seconds() - silent_seconds;
  for (int rank = 0; rank < group_.local_size(); ++rank) {
    if (rank == group_.local_rank() || of(rank).ended.load() >= number_ || of(rank).looked.load() > latest)
      continue;
    silent.push_back({rank, group_.name_of(rank), "does not answer", group_.state_of(rank)});
  }
  return silent;
}

std::vector<HostPulse::Silent> HostPulse::find_unready() const {
  std::vector<Silent> late;
  for (int rank = 0; rank < group_.local_size(); ++rank) {
    if (of(rank).ready.load() < number_)
      late.push_back(
          {rank, group_.name_of(rank), "has not computed yet what it adds", "its stream has not come to it"});
  }
  return late;
}

}  // namespace ddl
