// SPDX-License-Identifier: MIT
#include "runtime/metrics.hpp"

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

double communication_percent(const TrainSummary& summary) {
  return summary.train_seconds > 0.0 ? 100.0 * summary.comm_seconds / summary.train_seconds : 0.0;
}

}  // namespace

std::string render_config_record(const RunFacts& facts) {
  return dump({{"type", "config"},
               {"schema", "ddlrun.train.metrics/1"},
               {"version", facts.version},
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
               {"engine", facts.engine}});
}

std::string render_step_record(const StepRecord& record, std::size_t global_batch) {
  const double rate = static_cast<double>(global_batch) / std::max(record.step_seconds, 1e-9);
  return dump({{"type", "step"},
               {"step", record.step},
               {"epoch", record.epoch},
               {"loss", record.loss},
               {"lr", record.lr},
               {"images_s", rounded(rate)},
               {"step_ms", rounded(1e3 * record.step_seconds)},
               {"comm_ms", rounded(1e3 * record.comm_seconds)}});
}

std::string render_epoch_record(const EpochRecord& record) {
  return dump({{"type", "epoch"},
               {"epoch", record.epoch},
               {"steps", record.steps},
               {"train_loss", record.train_loss},
               {"train_accuracy", record.train_accuracy},
               {"test_loss", record.test_loss},
               {"test_accuracy", record.test_accuracy},
               {"train_seconds", rounded(record.train_seconds)}});
}

std::string render_checkpoint_record(const CheckpointRecord& record) {
  const char* const reasons[] = {"due", "stop", "end"};
  return dump({{"type", "checkpoint"},
               {"step", record.step},
               {"epoch", record.epoch},
               {"file", record.path},
               {"bytes", record.bytes},
               {"seconds", rounded(record.seconds)},
               {"reason", reasons[static_cast<int>(record.reason)]},
               {"problem", record.problem.empty() ? MetricsJson() : MetricsJson(record.problem)}});
}

std::string render_summary_json(const RunFacts& facts, const TrainSummary& summary, bool as_record) {
  MetricsJson json;
  if (as_record) json["type"] = "summary";
  json["schema"] = "ddlrun.train/1";
  json["net"] = facts.net;
  json["data"] = facts.data;
  json["ranks"] = facts.ranks;
  json["threads"] = facts.threads;
  json["global_batch"] = facts.global_batch;
  json["epochs"] = summary.last.epoch;
  json["steps"] = summary.steps;
  json["train_loss"] = summary.last.train_loss;
  json["test_loss"] = summary.last.test_loss;
  json["test_accuracy"] = summary.last.test_accuracy;
  json["images_s"] = rounded(summary.images_per_second);
  json["train_seconds"] = rounded(summary.train_seconds);
  json["comm_percent"] = rounded(communication_percent(summary));
  json["weights_equal"] = true;  // train() throws otherwise
  json["weights_hash"] = fmt::format("{:016x}", summary.weights_hash);
  return dump(json);
}

std::string render_summary_line(const RunFacts& facts, const TrainSummary& summary) {
  return fmt::format(
      "ddl-train: ok net={} ranks={} threads={} global_batch={} epochs={} steps={} train_loss={:.4f} "
      "test_loss={:.4f} test_accuracy={:.4f} images_s={:.0f} train_seconds={:.2f} comm_percent={:.1f} "
      "weights=equal hash={:016x}",
      facts.net, facts.ranks, facts.threads, facts.global_batch, summary.last.epoch, summary.steps,
      summary.last.train_loss, summary.last.test_loss, summary.last.test_accuracy, summary.images_per_second,
      summary.train_seconds, communication_percent(summary), summary.weights_hash);
}

}  // namespace ddlrun::runtime
