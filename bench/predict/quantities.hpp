// SPDX-License-Identifier: MIT
// Quantities as typed: "10Gbit/s", "1.2GB/s", "20us", "1-256". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_predict {

// The payload of a line rate in bits: 1448 of the 1538 bytes that a full Ethernet frame of TCP occupies.
constexpr double payload_of_line_rate = 1448.0 / 1538.0;

// Bytes of payload in a second: bit/s is the rate of the line, B/s that of the payload. Nothing for other
// forms.
std::optional<double> parse_bandwidth(std::string_view text);
// Seconds of "20us", "1.5ms", "0.2s", "800ns".
std::optional<double> parse_seconds(std::string_view text);

// One direction of the interface of a host, in LogGP's terms.
struct Network {
  double bytes_per_second = 0.0;
  double latency_s = 0.0;  // of a small message from program to program
  double message_s = 0.0;  // a core, for each message that it sends or receives
};

// An assumption for TCP: a system call, and 32 KiB copied at about 8 GB/s.
constexpr double usual_message_s = 5e-6;

// "10Gbit/s,20us" or "10Gbit/s,20us,1us". Throws Error(usage).
Network parse_network(std::string_view text);

// "1-256": 1, 2, 4 ... 256; "1,2,6": these, ascending. Throws Error(usage).
std::vector<int> parse_host_counts(std::string_view text);

}  // namespace ddlrun::bench_predict
