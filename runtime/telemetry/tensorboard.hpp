// SPDX-License-Identifier: MIT
// --tensorboard DIR: events.out.tfevents.*, which TensorBoard and its relatives read. The few messages of the
// Event protocol buffer that a run needs are written by hand.
#pragma once

#include "runtime/telemetry/metrics.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ddlrun::runtime {

// Pure: Castagnoli's CRC.
std::uint32_t crc32c(std::string_view bytes);
// Pure: length, its masked sum, the bytes, their masked sum.
std::string frame_record(std::string_view bytes);

// Pure: messages `Event`.
std::string encode_version_event(double wall_time);
std::string encode_scalars_event(double wall_time, std::int64_t step,
                                 std::span<const std::pair<std::string_view, double>> values);
std::string encode_text_event(double wall_time, std::string_view tag, std::string_view markdown);
// A run that goes on from a checkpoint: later steps of an earlier file no longer hold.
std::string encode_restart_event(double wall_time, std::int64_t step);

// Rank 0's observer.
class TensorboardFile : public TrainObserver {
 public:
  // Makes the directory. Throws Error(request). An empty one writes nothing.
  TensorboardFile(const std::string& directory, const RunFacts& facts);

  void on_start(std::size_t total_steps, std::size_t first_step) override;
  void on_step(const StepRecord& record) override;
  void on_test(const TestRecord& record) override;
  void on_epoch(const EpochRecord& record) override;
  // Throws Error(request) if something is not written.
  void finish() { file_.finish(); }
  const std::string& path() const { return path_; }

 private:
  void write(const std::string& event);

  std::string path_;
  double global_batch_;
  std::string facts_text_;
  std::size_t last_step_ = 0;
  MetricsFile file_;
};

}  // namespace ddlrun::runtime
