// SPDX-License-Identifier: MIT
// --tensorboard DIR: writes events.out.tfevents.* files. The few messages of the Event protocol buffer that a
// run needs are encoded by hand.
#pragma once

#include "runtime/telemetry/metrics.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ddlrun::runtime {

// Pure: CRC-32C (Castagnoli).
std::uint32_t crc32c(std::string_view bytes);
// Pure: a TFRecord: length, masked CRC of the length, the bytes, masked CRC of the bytes.
std::string frame_record(std::string_view bytes);

// Pure: messages `Event`.
std::string encode_version_event(double wall_time);
std::string encode_scalars_event(double wall_time, std::int64_t step,
                                 std::span<const std::pair<std::string_view, double>> values);
std::string encode_text_event(double wall_time, std::string_view tag, std::string_view markdown);
// A resumed run: later steps of an earlier file are void.
std::string encode_restart_event(double wall_time, std::int64_t step);

// Rank 0's observer.
class TensorboardFile : public TrainObserver {
 public:
  // Creates the directory. Throws Error(request). An empty path writes nothing.
  TensorboardFile(const std::string& directory, const RunFacts& facts);

  void on_start(std::size_t total_steps, std::size_t first_step) override;
  void on_step(const StepRecord& record) override;
  void on_test(const TestRecord& record) override;
  void on_epoch(const EpochRecord& record) override;
  // Throws Error(request) if an event is still unwritten.
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
