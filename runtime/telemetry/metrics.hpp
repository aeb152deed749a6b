// SPDX-License-Identifier: MIT
// Machine-readable results of a run: records as JSON, and the file for them.
#pragma once

#include "base/text/error.hpp"
#include "runtime/training/observer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Configuration and environment of a run, known before the first step.
struct RunFacts {
  std::string version;
  std::string net;
  std::size_t parameters = 0;
  std::string data;
  std::string data_reason;
  std::size_t train_images = 0;
  std::size_t test_images = 0;
  int height = 0;
  int width = 0;
  int classes = 0;
  int ranks = 1;
  int local_size = 1;  // ranks on the host of rank 0
  int servers = 0;  // of the ranks; the others are workers
  bool asynchronous = false;
  int threads = 1;
  std::string threads_reason;
  std::size_t global_batch = 0;
  std::size_t local_batch = 0;
  std::size_t epochs = 0;
  std::size_t total_steps = 0;
  std::size_t dropped_per_epoch = 0;  // images that do not fill a global batch
  double lr = 0.0;
  double lr_peak = 0.0;
  std::string lr_decay;
  std::size_t warmup_steps = 0;
  double momentum = 0.0;
  double weight_decay = 0.0;
  std::uint64_t seed = 0;
  std::string device;
  std::string engine;
  std::string layers_record;  // render_layers_record(); "": none
  std::uint64_t peak_memory_bytes = 0;  // of the rank that used most; known at the end
  int peak_memory_rank = 0;
};

// Peak memory of this process so far.
std::uint64_t peak_memory_bytes();

// Each one JSON object without a newline; "type" comes first. Numbers that are not finite become null.
std::string render_config_record(const RunFacts& facts);
// The run resumes after this step; earlier records of later steps in the same file are void.
std::string render_resume_record(std::size_t step);
std::string render_step_record(const StepRecord& record, std::size_t global_batch);
std::string render_epoch_record(const EpochRecord& record);
std::string render_checkpoint_record(const CheckpointRecord& record);
std::string render_test_record(const TestRecord& record);
std::string render_summary_record(const RunFacts& facts, const TrainSummary& summary);
// The document of --json on stdout. `saved`: all requested files are written.
std::string render_summary_json(const RunFacts& facts, const TrainSummary& summary, bool saved);
// The line on stdout: "ddl-train: ok key=value ...", with "unsaved" instead of "ok" if a file is missing.
std::string render_summary_line(const RunFacts& facts, const TrainSummary& summary, bool saved);

// The document of --summary-json: summary, configuration and the epochs since the start or resume.
std::string render_results(const RunFacts& facts, const TrainSummary& summary,
                           const std::vector<EpochRecord>& epochs);

// Describes a file in messages: its option and its purpose.
struct FilePurpose {
  std::string option = "--metrics";
  std::string what = "the metrics file";
};

// Appends complete records only, so a reader never sees a partial one. Creates or truncates the file at once,
// so a wrong path fails before the training.
class MetricsFile {
 public:
  // Throws Error(request). An empty path writes nothing. `append`: keeps the records of the resumed run.
  explicit MetricsFile(const std::string& path, bool append = false);
  MetricsFile(const std::string& path, FilePurpose use, bool append = false);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // Buffered for up to a second. A write error is reported once on stderr and retried; it does not end the
  // training.
  void write(const std::string& record);        // a line
  void write_bytes(const std::string& record);  // as it is
  // Throws Error(request) if the first write fails.
  void flush();
  // Throws Error(request) if a record is still unwritten.
  void finish();

 private:
  Error refusal(const char* what) const;
  bool write_pending();

  std::string path_;
  FilePurpose use_;
  std::string pending_;
  double last_flush_ = 0.0;
  int fd_ = -1;
  bool begun_ = false;
  bool warned_ = false;
  std::size_t left_out_ = 0;  // records dropped during write errors
};

}  // namespace ddlrun::runtime
