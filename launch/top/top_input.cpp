// SPDX-License-Identifier: MIT
#include "launch/top/top_input.hpp"

#include "base/os/host_info.hpp"
#include "base/os/unix_time.hpp"
#include "base/text/text.hpp"
#include "launch/history/metrics_file.hpp"
#include "launch/history/run_store.hpp"

#include <algorithm>
#include <utility>

namespace ddlrun::launch {

namespace {

constexpr std::uint64_t progress_bytes = 64u << 10;  // of the end of the metrics

}  // namespace

bool TopInput::is_stale() const { return usage && usage->is_stale(age_s); }

TopReader::TopReader(System& system, std::string directory)
    : system_(system), directory_(std::move(directory)) {
  input_.run = read_run(system_, directory_, false);
}

const TopInput& TopReader::read() {
  const auto now = unix_seconds(system_);
  read_usage(now);
  // The record of a large run has megabytes: while there is news of its ranks, it has none.
  input_.state = RunState::running;
  if (!input_.usage || input_.usage->over || input_.is_stale()) read_end();
  if (input_.run.host != system_.environment.host_name) input_.running_on = input_.run.host;
  input_.seconds = history_row(input_.run, directory_, input_.state, now).seconds;
  read_progress(now);
  return input_;
}

void TopReader::read_usage(std::int64_t now_s) {
  const std::string path = directory_ + std::string(usage_file);
  const auto part = system_.files.read_from(path, 0, max_usage_bytes);
  if (!part) return;
  input_.usage = parse_usage_json(part->bytes, path);
  input_.age_s = std::max<std::int64_t>(now_s - input_.usage->written_s, 0);
}

void TopReader::read_end() {
  input_.run = read_run(system_, directory_, false);
  input_.state = find_run_state(system_, input_.run);
}

void TopReader::read_progress(std::int64_t now_s) {
  const std::string path = find_metrics_file(system_, input_.run, directory_).path;
  if (path.empty()) return;
  constexpr std::uint64_t head_bytes = 4096;
  const auto head = system_.files.read_from(path, 0, head_bytes);
  if (!head) return;
  Training first;
  take_metrics_line(std::string_view(head->bytes).substr(0, head->bytes.find('\n')), first);
  if (!first.known) return;  // of another program
  const auto end =
      system_.files.read_from(path, head->size - std::min(head->size, progress_bytes), progress_bytes);
  if (!end) return;
  input_.progress = find_progress(end->bytes);
  const auto info = system_.kernel == nullptr ? std::nullopt : system_.kernel->file_info(path, true);
  if (info) input_.progress->age_s = std::max<std::int64_t>(now_s - info->modified_seconds, 0);
}

TrainingProgress find_progress(std::string_view lines) {
  Training training;
  for (const std::string_view line : split(lines, '\n')) take_metrics_line(line, training);
  TrainingProgress progress;
  if (!training.steps.empty()) progress.step = training.steps.back();
  if (!training.epochs.empty()) progress.epoch = training.epochs.back();
  return progress;
}

}  // namespace ddlrun::launch
