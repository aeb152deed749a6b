// SPDX-License-Identifier: MIT
// Where the time of the sums goes: bytes and seconds of each dimension, and who keeps the others waiting.
// PowerAI DDL's -dump_iter and -rebind_iter. Pure, but the clock of MeasuredWire.
#pragma once

#include "ddl/wire.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ddl {

// All ranks over NCCL, in the place of X.
constexpr char nccl_dimension = 'N';

// What one dimension moved since the last report.
struct Moved {
  char dimension = 'X';
  double bytes = 0.0;
  double seconds = 0.0;
};

// One rank's part of a report, as it travels to rank 0.
struct SpeedSample {
  std::vector<Moved> moved;     // X first
  double waited_seconds = 0.0;  // for the ranks of this host, before adding
};
std::string render_sample(const SpeedSample& sample);
SpeedSample parse_sample(std::string_view text);

// Rank 0's memory of who came last.
class SpeedReport {
 public:
  // One line: "ddl: 100 sums: X 31.2 GB/s, Y 0.117 GB/s; last to come: rank 3 (h2), others wait 1.20 ms a
  // sum". `samples` and `names` by rank. In 3 reports in a row the same rank: says so.
  // NCCL's time holds that in which it waits for late ranks: who comes last has the time of the sums alone,
  // and it is taken for all.
  std::string add(std::vector<SpeedSample> samples, const std::vector<std::string>& names,
                  std::uint64_t sums);

 private:
  std::string last_;
  int times_ = 0;
};

// Counts what passes through a wire.
class MeasuredWire : public Wire {
 public:
  explicit MeasuredWire(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}

  int rank() const override { return wire_->rank(); }
  int size() const override { return wire_->size(); }
  Ticket send(int to, std::span<const std::byte> bytes) override;
  Ticket receive(int from, std::span<std::byte> bytes) override { return wire_->receive(from, bytes); }
  void wait(Ticket ticket) override;
  void stamp(std::uint32_t call) override { wire_->stamp(call); }
  void watch(StallWatch watch) override { wire_->watch(std::move(watch)); }
  void name_calls(std::function<std::string()> name) override { wire_->name_calls(std::move(name)); }
  void call_roll(RollCall* roll) override { wire_->call_roll(roll); }
  std::string name_of(int rank) const override { return wire_->name_of(rank); }

  double bytes() const { return bytes_; }
  double seconds() const { return seconds_; }
  void reset() { bytes_ = seconds_ = 0.0; }

 private:
  std::unique_ptr<Wire> wire_;
  double bytes_ = 0.0;
  double seconds_ = 0.0;  // waited for it
};

}  // namespace ddl
