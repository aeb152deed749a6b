// SPDX-License-Identifier: MIT
// Times the sums; after every N of them rank 0 prints a report to stderr. Costs a barrier of the host a sum,
// so that waiting and adding are measured apart; without it nothing is measured.
#pragma once

#include "ddl/collectives/bandwidth.hpp"
#include "ddl/core/grid.hpp"
#include "ddl/ddl.hpp"
#include "ddl/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace ddl {

// How many sums a report is of; 0: none are requested.
std::uint64_t report_interval(const Options& options);

// Rank 0 prints to stderr what all ranks measured in so many sums. Collective.
void report_bandwidth(Transport& transport, const Grid& grid, const BandwidthSample& mine, std::uint64_t sums,
                      BandwidthReport& report);

class BandwidthMonitor {
 public:
  // `every` 0: off, and the wires stay as they are.
  BandwidthMonitor(Transport& transport, const Grid& grid, std::uint64_t every,
                   std::vector<std::unique_ptr<PeerComm>>& comms);

  // Runs `rendezvous` (the host's barrier) and `sum`, of so many bytes. Collective, like both.
  template <typename Rendezvous, typename Sum>
  void run(std::size_t bytes, const Rendezvous& rendezvous, const Sum& sum) {
    if (every_ == 0) return sum();
    time(bytes, rendezvous, sum);
  }

 private:
  void time(std::size_t bytes, const std::function<void()>& rendezvous, const std::function<void()>& sum);
  double comm_seconds() const;
  void report();

  Transport& transport_;
  const Grid& grid_;
  std::uint64_t every_;
  std::uint64_t sums_ = 0;
  double waited_ = 0.0;
  double host_bytes_ = 0.0;
  double host_seconds_ = 0.0;
  std::vector<char> dimensions_;
  std::vector<TimedComm*> comms_;
  BandwidthReport report_;
};

}  // namespace ddl
