// SPDX-License-Identifier: MIT
#include "doctor/diagnose/episodes.hpp"

#include <algorithm>

namespace ddlrun::diagnose {

namespace {

constexpr std::uint64_t max_between = 25;  // ordinary lines within one episode
constexpr std::size_t max_episodes = 1024;

}  // namespace

void Episodes::take(std::uint64_t sequence) {
  if (!starts_.empty() && sequence <= last_) return;
  if (starts_.empty() || is_new_run_ || sequence > last_ + max_between + 1) {
    if (starts_.size() >= max_episodes) starts_.pop_front();
    starts_.push_back(sequence);
  }
  last_ = sequence;
  is_new_run_ = false;
}

void Episodes::take_start(std::uint64_t sequence) { is_new_run_ = !starts_.empty() && sequence > last_; }

std::uint64_t Episodes::start_of(std::uint64_t sequence) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), sequence);
  return after == starts_.begin() ? 0 : *(after - 1);
}

}  // namespace ddlrun::diagnose
