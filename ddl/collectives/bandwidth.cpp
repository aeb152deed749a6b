// SPDX-License-Identifier: MIT
#include "ddl/collectives/bandwidth.hpp"

#include "ddl/core/clock.hpp"
#include "ddl/core/count_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace ddl {
namespace {

constexpr int always_last = 3;  // reports in a row

double bandwidth_of(const Transferred& transferred) {
  return transferred.seconds > 0.0 ? transferred.bytes / transferred.seconds / 1e9 : 0.0;
}

void exclude_waiting(std::vector<BandwidthSample>& samples) {
  double least = samples.front().waited_seconds;
  for (const BandwidthSample& each : samples) least = std::min(least, each.waited_seconds);
  for (BandwidthSample& each : samples)
    for (Transferred& transferred : each.transferred) transferred.seconds = least;
}

}  // namespace

std::string render_sample(const BandwidthSample& sample) {
  std::string text = fmt::format("{}", sample.waited_seconds);
  for (const Transferred& each : sample.transferred)
    text += fmt::format(" {} {} {}", each.dimension, each.bytes, each.seconds);
  return text;
}

BandwidthSample parse_sample(std::string_view text) {
  std::istringstream in{std::string(text)};
  BandwidthSample sample;
  in >> sample.waited_seconds;
  for (Transferred each; in >> each.dimension >> each.bytes >> each.seconds;)
    sample.transferred.push_back(each);
  return sample;
}

std::string BandwidthReport::add(std::vector<BandwidthSample> samples, const std::vector<std::string>& names,
                                 std::uint64_t sums) {
  const bool on_gpus = samples[0].transferred.front().dimension == nccl_dimension;
  if (on_gpus) exclude_waiting(samples);
  std::string line = fmt::format("ddl: {}{}:", count_text(sums, "sum"), on_gpus ? " on GPUs" : "");
  // A dimension is as fast as its slowest rank.
  for (std::size_t d = 0; d < samples[0].transferred.size(); ++d) {
    double slowest = bandwidth_of(samples[0].transferred[d]);
    for (const BandwidthSample& each : samples) {
      if (d < each.transferred.size()) slowest = std::min(slowest, bandwidth_of(each.transferred[d]));
    }
    const std::string name = on_gpus ? "NCCL" : std::string(1, samples[0].transferred[d].dimension);
    line += fmt::format("{} {} {:.3g} GB/s", d == 0 ? "" : ",", name, slowest);
  }
  // Who waits least is the one for whom the others wait.
  const auto by_wait = [](const BandwidthSample& a, const BandwidthSample& b) {
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

PeerComm::Ticket TimedComm::send(int to, std::span<const std::byte> bytes) {
  bytes_ += static_cast<double>(bytes.size());
  return comm_->send(to, bytes);
}

void TimedComm::wait(Ticket ticket) {
  const double start = steady_seconds();
  comm_->wait(ticket);
  seconds_ += steady_seconds() - start;
}

}  // namespace ddl
