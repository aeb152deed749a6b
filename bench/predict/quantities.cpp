// SPDX-License-Identifier: MIT
#include "bench/predict/quantities.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace ddlrun::bench_predict {
namespace {

constexpr std::uint64_t most_predicted_hosts = 1U << 20U;

struct UnitFactor {
  std::string_view name;
  double factor;
};

// Case decides between bits and bytes, as in "Gb/s" and "GB/s".
constexpr auto bandwidth_units = std::to_array<UnitFactor>({
    {"bit/s", payload_of_line_rate / 8},
    {"kbit/s", payload_of_line_rate * 1e3 / 8},
    {"Mbit/s", payload_of_line_rate * 1e6 / 8},
    {"Gbit/s", payload_of_line_rate * 1e9 / 8},
    {"Tbit/s", payload_of_line_rate * 1e12 / 8},
    {"Mb/s", payload_of_line_rate * 1e6 / 8},
    {"Gb/s", payload_of_line_rate * 1e9 / 8},
    {"Mbps", payload_of_line_rate * 1e6 / 8},
    {"Gbps", payload_of_line_rate * 1e9 / 8},
    {"B/s", 1},
    {"kB/s", 1e3},
    {"MB/s", 1e6},
    {"GB/s", 1e9},
    {"MiB/s", 1024.0 * 1024},
    {"GiB/s", 1024.0 * 1024 * 1024},
});
constexpr auto time_units = std::to_array<UnitFactor>({{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}});

// "1.5ms": the number and its unit; nothing unless the number is positive or zero and the unit is known.
std::optional<double> parse_with_unit(std::string_view text, std::span<const UnitFactor> units) {
  const auto end = text.find_first_not_of("0123456789.");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const auto number = parse_number(text.substr(0, end));
  const std::string_view name = text.substr(end);
  const auto unit = std::ranges::find_if(units, [&](const UnitFactor& each) { return each.name == name; });
  if (!number || unit == units.end()) return std::nullopt;
  return *number * unit->factor;
}

[[noreturn]] void refuse_network(const std::string& what) {
  throw Error(ErrorKind::usage, {what, "--network", "--network 10Gbit/s,20us"});
}

[[noreturn]] void refuse_hosts(std::string_view text) {
  throw Error(ErrorKind::usage, {fmt::format("'{}' is no list of numbers of hosts from 1 to {}",
                                             printable(text, 40), most_predicted_hosts),
                                 "--hosts", "--hosts 1-256   # or --hosts 1,2,6"});
}

int host_count(std::string_view part, std::string_view text) {
  const auto count = parse_unsigned(part, most_predicted_hosts);
  if (!count || *count == 0) refuse_hosts(text);
  return static_cast<int>(*count);
}

}  // namespace

std::optional<double> parse_bandwidth(std::string_view text) {
  const auto found = parse_with_unit(text, bandwidth_units);
  return found && *found > 0.0 ? found : std::nullopt;
}

std::optional<double> parse_seconds(std::string_view text) { return parse_with_unit(text, time_units); }

Network parse_network(std::string_view text) {
  const auto parts = split(text, ',');
  if (parts.size() < 2 || parts.size() > 3)
    refuse_network(
        fmt::format("'{}' is not BANDWIDTH,LATENCY or BANDWIDTH,LATENCY,MESSAGE", printable(text, 60)));
  Network network;
  const auto bandwidth = parse_bandwidth(parts[0]);
  if (!bandwidth)
    refuse_network(fmt::format("'{}' is no bandwidth: a number and bit/s, Mbit/s, Gbit/s, MB/s or GB/s",
                               printable(parts[0], 40)));
  network.bytes_per_second = *bandwidth;
  const auto time_of = [&](std::size_t part, std::string_view name) {
    const auto seconds = parse_seconds(parts[part]);
    if (!seconds)
      refuse_network(
          fmt::format("'{}' is no {}: a number and ns, us, ms or s", printable(parts[part], 40), name));
    return *seconds;
  };
  network.latency_s = time_of(1, "latency");
  network.message_s = parts.size() == 3 ? time_of(2, "time of a message") : usual_message_s;
  return network;
}

std::vector<int> parse_host_counts(std::string_view text) {
  std::vector<int> counts;
  for (const std::string_view part : split(text, ',')) {
    const auto dash = part.find('-');
    if (dash == std::string_view::npos) {
      counts.push_back(host_count(part, text));
      continue;
    }
    const int first = host_count(part.substr(0, dash), text);
    const int last = host_count(part.substr(dash + 1), text);
    if (first > last) refuse_hosts(text);
    for (int count = first; count < last; count *= 2) counts.push_back(count);
    counts.push_back(last);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

}  // namespace ddlrun::bench_predict
