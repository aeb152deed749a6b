// SPDX-License-Identifier: MIT
#include "runtime/progress.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace ddlrun::runtime {
namespace {

constexpr auto bar_pause = std::chrono::milliseconds(100);
constexpr auto first_bar = std::chrono::milliseconds(300);
constexpr auto line_pause = std::chrono::seconds(10);

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string render_thousands(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string render_bar(const StepRecord& record, const RunFacts& facts, double images_per_second,
                       int columns) {
  const std::string left = fmt::format("epoch {}/{} ", record.epoch, facts.epochs);
  const std::string right =
      fmt::format(" {:3.0f}%  loss {:.4f}  {} images/s",
                  100.0 * static_cast<double>(record.step) / static_cast<double>(facts.total_steps),
                  record.loss, render_thousands(images_per_second));
  const int room = columns - 1 - static_cast<int>(left.size() + right.size()) - 2;
  if (room < 5) return (left + right).substr(0, static_cast<std::size_t>(columns > 1 ? columns - 1 : 0));
  const auto width = static_cast<std::size_t>(room > 40 ? 40 : room);
  const std::size_t done = width * record.step / facts.total_steps;
  std::string bar(width, ' ');
  for (std::size_t i = 0; i < done; ++i) bar[i] = '=';
  if (done < width) bar[done] = '>';
  return left + "[" + bar + "]" + right;
}

Reporter::Reporter(const RunFacts& facts, MetricsFile& metrics, bool quiet)
    : facts_(facts), metrics_(metrics), quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

void Reporter::on_start(std::size_t, std::size_t first_step) {
  last_step_ = first_step;
  start_ = Clock::now();
  last_show_ = start_;
}

void Reporter::on_step(const StepRecord& record) {
  metrics_.write(render_step_record(record, facts_.global_batch));
  const auto now = Clock::now();
  const bool due =
      terminal_ ? now - start_ > first_bar && now - last_show_ > bar_pause : now - last_show_ > line_pause;
  if (!quiet_ && due) show(record, now);
}

void Reporter::show(const StepRecord& record, Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - last_show_).count();
  const double rate = static_cast<double>((record.step - last_step_) * facts_.global_batch) / seconds;
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", render_bar(record, facts_, rate, terminal_columns()));
    bar_shown_ = true;
  } else {
    fmt::print(stderr, "epoch {}/{}  step {}/{}  loss {:.4f}  {} images/s\n", record.epoch, facts_.epochs,
               record.step, facts_.total_steps, record.loss, render_thousands(rate));
  }
  std::fflush(stderr);
  last_show_ = now;
  last_step_ = record.step;
}

void Reporter::clear_bar() {
  if (bar_shown_) fmt::print(stderr, "\r\033[K");
  bar_shown_ = false;
}

void Reporter::on_epoch(const EpochRecord& record) {
  metrics_.write(render_epoch_record(record));
  metrics_.flush();
  if (quiet_) return;
  clear_bar();
  const double rate =
      static_cast<double>(record.steps * facts_.global_batch) / std::max(record.train_seconds, 1e-9);
  fmt::print(stderr,
             "epoch {}/{}  train loss {:.4f}  accuracy {:.2f} %  test accuracy {:.2f} %  {} images/s\n",
             record.epoch, facts_.epochs, record.train_loss, 100.0 * record.train_accuracy,
             100.0 * record.test_accuracy, render_thousands(rate));
}

void Reporter::on_checkpoint(const CheckpointRecord& record) {
  metrics_.write(render_checkpoint_record(record));
  metrics_.flush();  // what the run goes on from, it has also told
  if (quiet_ && record.problem.empty()) return;
  clear_bar();
  if (record.problem.empty()) {
    fmt::print(stderr, "checkpoint: {}, {} in {:.3f} s\n", printable(record.path), render_bytes(record.bytes),
               record.seconds);
  } else {
    fmt::print(stderr, "{}",
               render_message(
                   "ddl-train", "warning",
                   {"step " + std::to_string(record.step) + " was not saved: " + record.problem,
                    printable(record.path), "df -h   # the run goes on, and tries again when it is due"}));
  }
  std::fflush(stderr);
}

}  // namespace ddlrun::runtime
