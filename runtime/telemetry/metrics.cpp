// SPDX-License-Identifier: MIT
#include "runtime/telemetry/metrics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace ddlrun::runtime {
namespace {

using MetricsJson = nlohmann::ordered_json;

std::string dump(const MetricsJson& json) {
  return json.dump(-1, ' ', false, MetricsJson::error_handler_t::replace);  // paths need not be UTF-8
}

// Five significant digits are enough for a measured time or rate.
double rounded(double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  const double unit = std::pow(10.0, 4.0 - std::floor(std::log10(std::abs(value))));
  return std::round(value * unit) / unit;
}

double percent_of_training(double seconds, const TrainSummary& summary) {
  return summary.train_seconds > 0.0 ? 100.0 * seconds / summary.train_seconds : 0.0;
}
double communication_percent(const TrainSummary& summary) {
  return percent_of_training(summary.comm_seconds, summary);
}

MetricsJson config_json(const RunFacts& facts) {
  return {{"version", facts.version},
          {"net", facts.net},
          {"parameters", facts.parameters},
          {"data", facts.data},
          {"data_reason", facts.data_reason},
          {"train_images", facts.train_images},
          {"test_images", facts.test_images},
          {"image_height", facts.height},
          {"image_width", facts.width},
          {"classes", facts.classes},
          {"ranks", facts.ranks},
          {"local_size", facts.local_size},
          {"workers", facts.ranks - facts.servers},
          {"servers", facts.servers},
          {"asynchronous", facts.asynchronous},
          {"threads", facts.threads},
          {"threads_reason", facts.threads_reason},
          {"global_batch", facts.global_batch},
          {"local_batch", facts.local_batch},
          {"epochs", facts.epochs},
          {"total_steps", facts.total_steps},
          {"dropped_images_per_epoch", facts.dropped_per_epoch},
          {"lr", facts.lr},
          {"lr_peak", facts.lr_peak},
          {"lr_decay", facts.lr_decay},
          {"warmup_steps", facts.warmup_steps},
          {"momentum", facts.momentum},
          {"weight_decay", facts.weight_decay},
          {"seed", facts.seed},
          {"device", facts.device},
          {"engine", facts.engine}};
}

MetricsJson epoch_json(const EpochRecord& record) {
  return {{"epoch", record.epoch},
          {"steps", record.steps},
          {"train_loss", record.train_loss},
          {"train_accuracy", record.train_accuracy},
          {"test_loss", record.test_loss},
          {"test_accuracy", record.test_accuracy},
          {"train_seconds", rounded(record.train_seconds)},
          {"timed_steps", record.timed_steps}};
}

MetricsJson summary_json(const RunFacts& facts, const TrainSummary& summary) {
  return {{"schema", "ddlrun.train/1"},
          {"net", facts.net},
          {"parameters", facts.parameters},
          {"data", facts.data},
          {"ranks", facts.ranks},
          {"workers", facts.ranks - facts.servers},
          {"servers", facts.servers},
          {"asynchronous", facts.asynchronous},
          {"threads", facts.threads},
          {"global_batch", facts.global_batch},
          {"epochs", summary.last.epoch},
          {"steps", summary.steps},
          {"resumed_at_step", summary.first_step == 0 ? MetricsJson() : MetricsJson(summary.first_step)},
          {"train_loss", summary.last.train_loss},
          {"train_accuracy", summary.last.train_accuracy},
          {"test_loss", summary.last.test_loss},
          {"test_accuracy", summary.last.test_accuracy},
          {"images_s", rounded(summary.images_per_second)},
          {"train_seconds", rounded(summary.train_seconds)},
          {"compute_percent", rounded(percent_of_training(summary.compute_seconds, summary))},
          {"comm_percent", rounded(communication_percent(summary))},
          {"input_percent", rounded(percent_of_training(summary.input_seconds, summary))},
          {"sum_percent", rounded(percent_of_training(summary.sum_seconds, summary))},
          {"sums", summary.sums},
          {"peak_memory_bytes", facts.peak_memory_bytes},
          {"peak_memory_rank", facts.peak_memory_rank},
          {"weights_equal", true},  // train() throws otherwise
          {"weights_hash", fmt::format("{:016x}", summary.weights_hash)}};
}

// {"type": ..} in front of what `body` holds.
MetricsJson typed(const char* type, const MetricsJson& body) {
  MetricsJson json = {{"type", type}};
  json.update(body);
  return json;
}

// Fields of runs with parameter servers only.
std::string render_roles(const RunFacts& facts) {
  if (facts.servers == 0) return "";
  return fmt::format(" workers={} servers={} mode={}", facts.ranks - facts.servers, facts.servers,
                     facts.asynchronous ? "asynchronous" : "synchronous");
}

}  // namespace

std::string render_config_record(const RunFacts& facts) {
  MetricsJson json = {{"type", "config"}, {"schema", "ddlrun.train.metrics/1"}};
  json.update(config_json(facts));
  return dump(json);
}

std::string render_resume_record(std::size_t step) { return dump({{"type", "resume"}, {"step", step}}); }

std::string render_step_record(const StepRecord& record, std::size_t global_batch) {
  const double rate = static_cast<double>(global_batch) / std::max(record.step_seconds, 1e-9);
  return dump({{"type", "step"},
               {"step", record.step},
               {"epoch", record.epoch},
               {"loss", record.loss},
               {"lr", record.lr},
               {"images_s", rounded(rate)},
               {"step_ms", rounded(1e3 * record.step_seconds)},
               {"compute_ms", rounded(1e3 * record.compute_seconds)},
               {"comm_ms", rounded(1e3 * record.comm_seconds)},
               {"input_ms", rounded(1e3 * record.input_seconds)},
               {"sum_ms", rounded(1e3 * record.sum_seconds)}});
}

std::string render_epoch_record(const EpochRecord& record) {
  MetricsJson json = typed("epoch", epoch_json(record));
  json["peak_memory_bytes"] = peak_memory_bytes();
  return dump(json);
}

std::string render_test_record(const TestRecord& record) {
  return dump({{"type", "test"},
               {"step", record.step},
               {"epoch", record.epoch},
               {"test_loss", record.test_loss},
               {"test_accuracy", record.test_accuracy},
               {"seconds", rounded(record.seconds)}});
}

std::string render_checkpoint_record(const CheckpointRecord& record) {
  const char* const reasons[] = {"due", "stop", "end"};
  return dump({{"type", "checkpoint"},
               {"step", record.step},
               {"epoch", record.epoch},
               {"file", record.path},
               {"bytes", record.bytes},
               {"seconds", rounded(record.seconds)},
               {"best", record.best},
               {"reason", reasons[static_cast<int>(record.reason)]},
               {"problem", record.problem.empty() ? MetricsJson() : MetricsJson(record.problem)}});
}

std::string render_summary_record(const RunFacts& facts, const TrainSummary& summary) {
  return dump(typed("summary", summary_json(facts, summary)));
}

std::string render_summary_json(const RunFacts& facts, const TrainSummary& summary, bool saved) {
  MetricsJson json = summary_json(facts, summary);
  json["saved"] = saved;
  return dump(json);
}

std::string render_results(const RunFacts& facts, const TrainSummary& summary,
                           const std::vector<EpochRecord>& epochs) {
  MetricsJson json = summary_json(facts, summary);
  json["stopped"] = summary.stopped;
  json["config"] = config_json(facts);
  json["history"] = MetricsJson::array();
  for (const EpochRecord& epoch : epochs) json["history"].push_back(epoch_json(epoch));
  return json.dump(2, ' ', false, MetricsJson::error_handler_t::replace) + "\n";
}

std::string render_summary_line(const RunFacts& facts, const TrainSummary& summary, bool saved) {
  return fmt::format(
      "ddl-train: {} net={} ranks={}{} threads={} global_batch={} epochs={} steps={} train_loss={:.4f} "
      "test_loss={:.4f} test_accuracy={:.4f} images_s={:.0f} train_seconds={:.2f} comm_percent={:.1f} "
      "weights=equal hash={:016x}",
      saved ? "ok" : "unsaved", facts.net, facts.ranks, render_roles(facts), facts.threads,
      facts.global_batch, summary.last.epoch, summary.steps, summary.last.train_loss, summary.last.test_loss,
      summary.last.test_accuracy, summary.images_per_second, summary.train_seconds,
      communication_percent(summary), summary.weights_hash);
}

}  // namespace ddlrun::runtime
