// SPDX-License-Identifier: MIT
// Times the sums and every N of them lets rank 0 tell on stderr. Costs a barrier of the host a sum, so that
// waiting and adding can be told apart; without it nothing is measured.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl/levels.hpp"
#include "ddl/ranks.hpp"
#include "ddl/speed.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ddl {

// How many sums a report is of; 0: none are asked for.
std::uint64_t report_interval(const Options& options);

// Rank 0 tells on stderr what all ranks measured in so many sums. Collective.
void report_speed(Ranks& ranks, const Grid& grid, const SpeedSample& mine, std::uint64_t sums,
                  SpeedReport& report);

class SpeedWatch {
 public:
  // `every` 0: off, and the wires stay as they are.
  SpeedWatch(Ranks& ranks, const Grid& grid, std::uint64_t every, std::vector<std::unique_ptr<Wire>>& wires);

  // Runs `meet` (the host's barrier) and `sum`, of so many bytes. Collective, like both.
  template <typename Meet, typename Sum>
  void run(std::size_t bytes, const Meet& meet, const Sum& sum) {
    if (every_ == 0) return sum();
    time(bytes, meet, sum);
  }

 private:
  void time(std::size_t bytes, const std::function<void()>& meet, const std::function<void()>& sum);
  double wire_seconds() const;
  void report();

  Ranks& ranks_;
  const Grid& grid_;
  std::uint64_t every_;
  std::uint64_t sums_ = 0;
  double waited_ = 0.0;
  double host_bytes_ = 0.0;
  double host_seconds_ = 0.0;
  std::vector<char> dimensions_;
  std::vector<MeasuredWire*> wires_;
  SpeedReport report_;
};

}  // namespace ddl
