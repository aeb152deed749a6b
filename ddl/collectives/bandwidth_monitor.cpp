// SPDX-License-Identifier: MIT
#include "ddl/collectives/bandwidth_monitor.hpp"

#include "ddl/core/clock.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace ddl {

std::uint64_t report_interval(const Options& options) {
  return options.dump_every > 0 ? options.dump_every : options.rebind_every;
}

void report_bandwidth(Transport& transport, const Grid& grid, const BandwidthSample& mine, std::uint64_t sums,
                      BandwidthReport& report) {
  std::vector<BandwidthSample> samples;
  std::vector<std::string> names;
  for (const std::string& text : transport.gather(render_sample(mine))) {
    names.push_back(grid.name_of(static_cast<int>(samples.size())));
    samples.push_back(parse_sample(text));
  }
  if (transport.rank() == 0) fmt::print(stderr, "{}\n", report.add(std::move(samples), names, sums));
}

BandwidthMonitor::BandwidthMonitor(Transport& transport, const Grid& grid, std::uint64_t every,
                                   std::vector<std::unique_ptr<PeerComm>>& comms)
    : transport_(transport), grid_(grid), every_(every) {
  if (every_ == 0) return;
  for (const Level& level : grid.place(transport.rank()).levels) dimensions_.push_back(level.name);
  for (std::unique_ptr<PeerComm>& comm : comms) {
    auto measured = std::make_unique<TimedComm>(std::move(comm));
    comms_.push_back(measured.get());
    comm = std::move(measured);
  }
}

double BandwidthMonitor::comm_seconds() const {
  double seconds = 0.0;
  for (const TimedComm* comm : comms_) seconds += comm->seconds();
  return seconds;
}

void BandwidthMonitor::time(std::size_t bytes, const std::function<void()>& rendezvous,
                            const std::function<void()>& sum) {
  const double start = steady_seconds();
  rendezvous();
  const double met = steady_seconds();
  const double on_comms = comm_seconds();
  sum();
  waited_ += met - start;
  host_bytes_ += static_cast<double>(bytes);
  host_seconds_ += steady_seconds() - met - (comm_seconds() - on_comms);
  if (++sums_ == every_) report();
}

void BandwidthMonitor::report() {
  BandwidthSample mine{{{'X', host_bytes_, host_seconds_}}, waited_};
  for (std::size_t i = 0; i < comms_.size(); ++i) {
    mine.transferred.push_back({dimensions_[i], comms_[i]->bytes(), comms_[i]->seconds()});
    comms_[i]->reset();
  }
  report_bandwidth(transport_, grid_, mine, sums_, report_);
  sums_ = 0;
  waited_ = host_bytes_ = host_seconds_ = 0.0;
}

}  // namespace ddl
