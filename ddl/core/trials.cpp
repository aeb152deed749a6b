// SPDX-License-Identifier: MIT
#include "ddl/trials.hpp"

#include <algorithm>
#include <utility>

namespace ddl {

Trials::Trials(std::vector<Turn> turns, Plan plan)
    : turns_(std::move(turns)), plan_(plan), seconds_(turns_.size()), decided_(turns_.size() < 2) {}

bool Trials::turn_ends() const {
  return !decided_ && calls_ >= plan_.warm_up && in_turn_ + 1 == turns_[current_].calls;
}

bool Trials::add(double seconds) {
  const bool ends = turn_ends();
  if (decided_ || ++calls_ <= plan_.warm_up) return false;
  if (in_turn_++ >= turns_[current_].uncounted) seconds_[current_].push_back(seconds);
  if (!ends) return false;
  in_turn_ = 0;
  for (std::size_t k = 0; k < turns_.size(); ++k) {  // the next one that has not been tried enough
    current_ = (current_ + 1) % turns_.size();
    if (seconds_[current_].size() < plan_.rounds) return false;
  }
  return true;
}

std::vector<double> Trials::medians() const {
  std::vector<double> medians;
  for (std::vector<double> times : seconds_) {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    medians.push_back(*middle);
  }
  return medians;
}

void Trials::decide(std::span<const double> costs) {
  const auto best = std::min_element(costs.begin(), costs.end());
  keep(*best < plan_.worth_it * costs.front() ? static_cast<std::size_t>(best - costs.begin()) : 0);
}

void Trials::keep(std::size_t candidate) {
  current_ = candidate;
  decided_ = true;
}

}  // namespace ddl
