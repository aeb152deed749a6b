// SPDX-License-Identifier: MIT
// What a run leaves behind for programs: records as JSON, and the file they go to.
#pragma once

#include "base/error.hpp"
#include "runtime/training/observer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// What was asked for and what was found, known before the first step.
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
  std::uint64_t peak_memory_bytes = 0;  // of the rank that used most; known at the end
  int peak_memory_rank = 0;
};

// What this process had in memory at most, until now.
std::uint64_t peak_memory_bytes();

// One object without a newline each; "type" comes first. A number that is not finite becomes null.
std::string render_config_record(const RunFacts& facts);
// The run goes on behind this step: what a file that is gone on with holds of later ones is void.
std::string render_resume_record(std::size_t step);
std::string render_step_record(const StepRecord& record, std::size_t global_batch);
std::string render_epoch_record(const EpochRecord& record);
std::string render_checkpoint_record(const CheckpointRecord& record);
std::string render_test_record(const TestRecord& record);
std::string render_summary_record(const RunFacts& facts, const TrainSummary& summary);
// The document of --json on stdout. `saved`: all files that were asked for are written.
std::string render_summary_json(const RunFacts& facts, const TrainSummary& summary, bool saved);
// The line on stdout: "ddl-train: ok key=value ...", "unsaved" for "ok" where a file is missing.
std::string render_summary_line(const RunFacts& facts, const TrainSummary& summary, bool saved);

// Everything about a run that ended: the summary, what was asked for, the epochs since its start or resume:
// the document of --summary-json.
std::string render_results(const RunFacts& facts, const TrainSummary& summary,
                           const std::vector<EpochRecord>& epochs);

// What a file is for, in messages.
struct FilePurpose {
  std::string option = "--metrics";
  std::string what = "the metrics file";
};

// Appends whole records only, so a reader never meets half a one; creates or empties the file at once, so a
// wrong path is found before the training.
class MetricsFile {
 public:
  // Throws Error(request). An empty path writes nothing. `append`: to the records of the run that goes on.
  explicit MetricsFile(const std::string& path, bool append = false);
  MetricsFile(const std::string& path, FilePurpose use, bool append = false);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // Buffered up to a second. A disk that refuses is told once on stderr, and tried again: no reason to end a
  // training.
  void write(const std::string& record);        // a line
  void write_bytes(const std::string& record);  // as it is
  // Throws Error(request) if the disk refuses the file's first bytes.
  void flush();
  // Throws Error(request) if something is not written even now.
  void finish();

 private:
  Error refusal(const char* what) const;
  bool write_pending();

  std::string path_;
  FilePurpose use_;
  std::string pending_;
  double last_flush_ = 0.0;
  int file_ = -1;
  bool begun_ = false;
  bool told_ = false;
  std::size_t left_out_ = 0;  // records, while the disk refused too many
};

}  // namespace ddlrun::runtime
