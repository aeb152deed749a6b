// SPDX-License-Identifier: MIT
// Where the time of the sums goes: bytes and seconds of each dimension, and who keeps the others waiting.
// PowerAI DDL's -dump_iter and -rebind_iter. Pure, but the clock of TimedComm.
#pragma once

#include "ddl/transport/peer_comm.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ddl {

// All ranks over NCCL, in the place of X.
constexpr char nccl_dimension = 'N';

// What one dimension moved since the last report.
struct Transferred {
  char dimension = 'X';
  double bytes = 0.0;
  double seconds = 0.0;
};

// One rank's part of a report, as it travels to rank 0.
struct BandwidthSample {
  std::vector<Transferred> transferred;  // X first
  double waited_seconds = 0.0;           // for the ranks of this host, before adding
};
std::string render_sample(const BandwidthSample& sample);
BandwidthSample parse_sample(std::string_view text);

// Rank 0's memory of who came last.
class BandwidthReport {
 public:
  // One line: "ddl: 100 sums: X 31.2 GB/s, Y 0.117 GB/s; last to come: rank 3 (h2), others wait 1.20 ms a
  // sum". `samples` and `names` by rank. In 3 reports in a row the same rank: says so.
  // NCCL's time holds that in which it waits for late ranks: who comes last has the time of the sums alone,
  // and it is taken for all.
  std::string add(std::vector<BandwidthSample> samples, const std::vector<std::string>& names,
                  std::uint64_t sums);

 private:
  std::string last_;
  int times_ = 0;
};

// Counts what passes through a wire.
class TimedComm : public PeerComm {
 public:
  explicit TimedComm(std::unique_ptr<PeerComm> comm) : comm_(std::move(comm)) {}

  int rank() const override { return comm_->rank(); }
  int size() const override { return comm_->size(); }
  Ticket send(int to, std::span<const std::byte> bytes) override;
  Ticket receive(int from, std::span<std::byte> bytes) override { return comm_->receive(from, bytes); }
  void wait(Ticket ticket) override;
  void call_id(std::uint32_t call) override { comm_->call_id(call); }
  void set_stall_watch(StallWatch watch) override { comm_->set_stall_watch(std::move(watch)); }
  void set_call_namer(std::function<std::string()> name) override { comm_->set_call_namer(std::move(name)); }
  void set_inspector(LivenessInspector* inspector) override { comm_->set_inspector(inspector); }
  std::string name_of(int rank) const override { return comm_->name_of(rank); }

  double bytes() const { return bytes_; }
  double seconds() const { return seconds_; }
  void reset() { bytes_ = seconds_ = 0.0; }

 private:
  std::unique_ptr<PeerComm> comm_;
  double bytes_ = 0.0;
  double seconds_ = 0.0;  // waited for it
};

}  // namespace ddl
