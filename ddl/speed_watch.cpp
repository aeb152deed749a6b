// SPDX-License-Identifier: MIT
#include "ddl/speed_watch.hpp"

#include "ddl/clock.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace ddl {

std::uint64_t report_interval(const Options& options) {
  return options.dump_every > 0 ? options.dump_every : options.rebind_every;
}

void report_speed(Ranks& ranks, const Grid& grid, const SpeedSample& mine, std::uint64_t sums,
                  SpeedReport& report) {
  std::vector<SpeedSample> samples;
  std::vector<std::string> names;
  for (const std::string& text : ranks.gather(render_sample(mine))) {
    names.push_back(grid.name_of(static_cast<int>(samples.size())));
    samples.push_back(parse_sample(text));
  }
  if (ranks.rank() == 0) fmt::print(stderr, "{}\n", report.add(std::move(samples), names, sums));
}

SpeedWatch::SpeedWatch(Ranks& ranks, const Grid& grid, std::uint64_t every,
                       std::vector<std::unique_ptr<Wire>>& wires)
    : ranks_(ranks), grid_(grid), every_(every) {
  if (every_ == 0) return;
  for (const Level& level : grid.place(ranks.rank()).levels) dimensions_.push_back(level.name);
  for (std::unique_ptr<Wire>& wire : wires) {
    auto measured = std::make_unique<MeasuredWire>(std::move(wire));
    wires_.push_back(measured.get());
    wire = std::move(measured);
  }
}

double SpeedWatch::wire_seconds() const {
  double seconds = 0.0;
  for (const MeasuredWire* wire : wires_) seconds += wire->seconds();
  return seconds;
}

void SpeedWatch::time(std::size_t bytes, const std::function<void()>& meet,
                      const std::function<void()>& sum) {
  const double start = steady_seconds();
  meet();
  const double met = steady_seconds();
  const double on_wires = wire_seconds();
  sum();
  waited_ += met - start;
  host_bytes_ += static_cast<double>(bytes);
  host_seconds_ += steady_seconds() - met - (wire_seconds() - on_wires);
  if (++sums_ == every_) report();
}

void SpeedWatch::report() {
  SpeedSample mine{{{'X', host_bytes_, host_seconds_}}, waited_};
  for (std::size_t i = 0; i < wires_.size(); ++i) {
    mine.moved.push_back({dimensions_[i], wires_[i]->bytes(), wires_[i]->seconds()});
    wires_[i]->reset();
  }
  report_speed(ranks_, grid_, mine, sums_, report_);
  sums_ = 0;
  waited_ = host_bytes_ = host_seconds_ = 0.0;
}

}  // namespace ddl
