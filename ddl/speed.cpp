// SPDX-License-Identifier: MIT
#include "ddl/speed.hpp"

#include "ddl/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ddl {
namespace {

constexpr int always_last = 3;  // reports in a row

double speed_of(const Moved& moved) { return moved.seconds > 0.0 ? moved.bytes / moved.seconds / 1e9 : 0.0; }

void leave_out_waiting(std::vector<SpeedSample>& samples) {
  double least = samples.front().waited_seconds;
  for (const SpeedSample& each : samples) least = std::min(least, each.waited_seconds);
  for (SpeedSample& each : samples)
    for (Moved& moved : each.moved) moved.seconds = least;
}

}  // namespace

std::string render_sample(const SpeedSample& sample) {
  std::string text = fmt::format("{}", sample.waited_seconds);
  for (const Moved& each : sample.moved)
    text += fmt::format(" {} {} {}", each.dimension, each.bytes, each.seconds);
  return text;
}

SpeedSample parse_sample(std::string_view text) {
  std::istringstream in{std::string(text)};
  SpeedSample sample;
  in >> sample.waited_seconds;
  for (Moved each; in >> each.dimension >> each.bytes >> each.seconds;) sample.moved.push_back(each);
  return sample;
}

std::string SpeedReport::add(std::vector<SpeedSample> samples, const std::vector<std::string>& names,
                             std::uint64_t sums) {
  const bool on_gpus = samples[0].moved.front().dimension == nccl_dimension;
  if (on_gpus) leave_out_waiting(samples);
  std::string line = fmt::format("ddl: {} sums{}:", sums, on_gpus ? " on GPUs" : "");
  // A dimension is as fast as its slowest rank.
  for (std::size_t d = 0; d < samples[0].moved.size(); ++d) {
    double slowest = speed_of(samples[0].moved[d]);
    for (const SpeedSample& each : samples) {
      if (d < each.moved.size()) slowest = std::min(slowest, speed_of(each.moved[d]));
    }
    const std::string name = on_gpus ? "NCCL" : std::string(1, samples[0].moved[d].dimension);
    line += fmt::format("{} {} {:.3g} GB/s", d == 0 ? "" : ",", name, slowest);
  }
  // Who waits least is the one for whom the others wait.
  const auto by_wait = [](const SpeedSample& a, const SpeedSample& b) {
    return a.waited_seconds < b.waited_seconds;
  };
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end(), by_wait);
  const std::string& last = names[static_cast<std::size_t>(least - samples.begin())];
  times_ = last == last_ ? times_ + 1 : 1;
  last_ = last;
  line += fmt::format("; last to come: {}, others wait {:.3g} ms a sum", last,
                      (most->waited_seconds - least->waited_seconds) * 1e3 /
                          static_cast<double>(std::max<std::uint64_t>(sums, 1)));
  if (times_ >= always_last)
    line += fmt::format("; the last in {} reports in a row: see its cores and its host", times_);
  return line;
}

Wire::Ticket MeasuredWire::send(int to, std::span<const std::byte> bytes) {
  bytes_ += static_cast<double>(bytes.size());
  return wire_->send(to, bytes);
}

void MeasuredWire::wait(Ticket ticket) {
  const double start = steady_seconds();
  wire_->wait(ticket);
  seconds_ += steady_seconds() - start;
}

}  // namespace ddl
