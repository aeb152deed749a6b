// SPDX-License-Identifier: MIT
#include "launch/frameworks/horovod_settings.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ddlrun::frameworks {

namespace {

using Kind = HorovodKind;

constexpr std::array<HorovodKey, 23> keys_of_horovod{{
    {"params", "fusion_threshold_mb", "--fusion-threshold-mb", "HOROVOD_FUSION_THRESHOLD", Kind::megabytes,
     "size of the fusion buffer in MiB (128)"},
    {"params", "cycle_time_ms", "--cycle-time-ms", "HOROVOD_CYCLE_TIME", Kind::number,
     "milliseconds between two cycles of the coordinator (1)"},
    {"params", "cache_capacity", "--cache-capacity", "HOROVOD_CACHE_CAPACITY", Kind::count,
     "tensors in the response cache (1024)"},
    {"params", "hierarchical_allreduce", "--hierarchical-allreduce", "HOROVOD_HIERARCHICAL_ALLREDUCE",
     Kind::yes_no, "reduce within hosts first, then between them"},
    {"params", "hierarchical_allgather", "--hierarchical-allgather", "HOROVOD_HIERARCHICAL_ALLGATHER",
     Kind::yes_no, "gather within hosts first, then between them"},
    {"params", "torus_allreduce", "--torus-allreduce", "HOROVOD_TORUS_ALLREDUCE", Kind::yes_no,
     "reduce along rows and columns of ranks"},
    {"autotune", "enabled", "--autotune", "HOROVOD_AUTOTUNE", Kind::yes_no,
     "tune fusion size and cycle time while training"},
    {"autotune", "log_file", "--autotune-log-file", "HOROVOD_AUTOTUNE_LOG", Kind::text, "log of the tuning",
     "autotune.enabled"},
    {"autotune", "warmup_samples", "--autotune-warmup-samples", "HOROVOD_AUTOTUNE_WARMUP_SAMPLES",
     Kind::count, "warm-up samples to discard (3)", "autotune.enabled"},
    {"autotune", "steps_per_sample", "--autotune-steps-per-sample", "HOROVOD_AUTOTUNE_STEPS_PER_SAMPLE",
     Kind::count, "steps in each sample (10)", "autotune.enabled"},
    {"autotune", "bayes_opt_max_samples", "--autotune-bayes-opt-max-samples",
     "HOROVOD_AUTOTUNE_BAYES_OPT_MAX_SAMPLES", Kind::count, "maximum number of samples (20)",
     "autotune.enabled"},
    {"autotune", "gaussian_process_noise", "--autotune-gaussian-process-noise",
     "HOROVOD_AUTOTUNE_GAUSSIAN_PROCESS_NOISE", Kind::share, "noise of the samples, 0 to 1 (0.8)",
     "autotune.enabled"},
    {"timeline", "filename", "--timeline-filename", "HOROVOD_TIMELINE", Kind::text,
     "write a timeline for chrome://tracing"},
    {"timeline", "mark_cycles", "--timeline-mark-cycles", "HOROVOD_TIMELINE_MARK_CYCLES", Kind::yes_no,
     "mark Horovod's cycles in the timeline", "timeline.filename"},
    {"stall_check", "enabled", "--stall-check", "HOROVOD_STALL_CHECK_DISABLE", Kind::no_yes,
     "warn of ranks that other ranks wait for (on)"},
    {"stall_check", "warning_time_seconds", "--stall-check-warning-time-seconds",
     "HOROVOD_STALL_CHECK_TIME_SECONDS", Kind::count, "seconds before that warning (60)"},
    {"stall_check", "shutdown_time_seconds", "--stall-check-shutdown-time-seconds",
     "HOROVOD_STALL_SHUTDOWN_TIME_SECONDS", Kind::count,
     "seconds before Horovod ends a stalled job; 0 (default): never"},
    {"library_options", "mpi_threads_disable", "--mpi-threads-disable", "HOROVOD_MPI_THREADS_DISABLE",
     Kind::yes_no, "start MPI without thread support"},
    {"library_options", "num_nccl_streams", "--num-nccl-streams", "HOROVOD_NUM_NCCL_STREAMS", Kind::count,
     "NCCL streams of each rank (1)"},
    {"library_options", "thread_affinity", "--thread-affinity", "HOROVOD_THREAD_AFFINITY", Kind::cores,
     "core of Horovod's background thread, one for each rank of a host: 0,8"},
    {"library_options", "gloo_timeout_seconds", "--gloo-timeout-seconds", "HOROVOD_GLOO_TIMEOUT_SECONDS",
     Kind::count, "seconds for which Gloo waits for ranks (30)"},
    {"logging", "level", "--log-level", "HOROVOD_LOG_LEVEL", Kind::level,
     "TRACE, DEBUG, INFO, WARNING, ERROR or FATAL"},
    {"logging", "with_timestamp", "--log-with-timestamp", "HOROVOD_LOG_HIDE_TIME", Kind::no_yes,
     "print the time before each log line (on)"},
}};

[[noreturn]] void refuse_horovod(const HorovodKey& key, const HorovodValue& value, const std::string& wanted,
                                 const std::string& example) {
  const bool typed = value.place.starts_with("--");
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is not {}", printable(value.text, 40), wanted), value.place,
               typed ? fmt::format("{} {}", key.flag, example) : fmt::format("{}: {}", key.key, example)});
}

// What YAML 1.1, which horovodrun reads, takes for true and false.
std::optional<bool> parse_yes_no(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
  if (text == "false" || text == "no" || text == "off" || text == "0") return false;
  return std::nullopt;
}

std::string convert_switch(const HorovodKey& key, const HorovodValue& value) {
  const auto on = parse_yes_no(value.text);
  if (!on) refuse_horovod(key, value, "true or false", "true");
  return *on == (key.kind == Kind::yes_no) ? "1" : "0";
}

std::string convert_cores(const HorovodKey& key, const HorovodValue& value) {
  for (const std::string_view core : split(value.text, ',')) {
    if (!parse_unsigned(core, 65535)) refuse_horovod(key, value, "a list of cores", "0,8");
  }
  return value.text;
}

std::string convert_level(const HorovodKey& key, const HorovodValue& value) {
  constexpr std::array<std::string_view, 6> levels{"TRACE", "DEBUG", "INFO", "WARNING", "ERROR", "FATAL"};
  std::string upper = value.text;
  std::ranges::transform(upper, upper.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  if (std::ranges::find(levels, upper) == levels.end())
    refuse_horovod(key, value, "one of TRACE, DEBUG, INFO, WARNING, ERROR, FATAL", "INFO");
  return upper;
}

std::string convert_number(const HorovodKey& key, const HorovodValue& value) {
  const auto number = parse_number(value.text);
  if (!number || *number < 0) refuse_horovod(key, value, "a number from 0 on", "1");
  if (key.kind == Kind::share && *number > 1) refuse_horovod(key, value, "a number from 0 to 1", "0.8");
  return value.text;
}

}  // namespace

std::span<const HorovodKey> horovod_keys() { return keys_of_horovod; }

std::string key_name(const HorovodKey& key) { return fmt::format("{}.{}", key.section, key.key); }

std::string convert_horovod(const HorovodKey& key, const HorovodValue& value) {
  switch (key.kind) {
    case Kind::yes_no:
    case Kind::no_yes:
      return convert_switch(key, value);
    case Kind::cores:
      return convert_cores(key, value);
    case Kind::level:
      return convert_level(key, value);
    case Kind::number:
    case Kind::share:
      return convert_number(key, value);
    case Kind::text:
      if (value.text.empty()) refuse_horovod(key, value, "a file", "FILE");
      return value.text;
    case Kind::megabytes:
    case Kind::count:
      break;
  }
  const auto count = parse_unsigned(value.text, key.kind == Kind::megabytes ? 1u << 20 : INT32_MAX);
  if (!count)
    refuse_horovod(key, value, "a whole number from 0 on", key.kind == Kind::megabytes ? "64" : "10");
  return fmt::format("{}", key.kind == Kind::megabytes ? *count * 1024 * 1024 : *count);
}

void refuse_gloo(const std::string& controller, const std::string& place) {
  if (controller == "mpi") return;
  const bool gloo = controller == "gloo";
  throw Error(ErrorKind::usage,
              {gloo ? "Horovod's Gloo controller needs a rendezvous server, which ddlrun does not have: "
                      "Horovod is started on MPI"
                    : fmt::format("'{}' is no controller of Horovod's", printable(controller, 40)),
               place, "controller: mpi, with a Horovod that was built with MPI (horovodrun --check-build)"});
}

}  // namespace ddlrun::frameworks
