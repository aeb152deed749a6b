// SPDX-License-Identifier: MIT
#include "runtime/telemetry/progress.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace ddlrun::runtime {
namespace {

constexpr auto bar_pause = std::chrono::milliseconds(100);
constexpr auto first_bar = std::chrono::milliseconds(300);
constexpr auto line_pause = std::chrono::seconds(10);

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// One that can go back to the start of its line.
bool is_screen(int file) {
  const char* kind = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): no thread sets it
  return isatty(file) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

double percent_done(const Progress& progress, const RunFacts& facts) {
  return 100.0 * static_cast<double>(progress.record.step) /
         static_cast<double>(std::max<std::size_t>(facts.total_steps, 1));
}

// The most important first.
std::vector<std::string> render_pieces(const Progress& progress) {
  std::vector<std::string> pieces{fmt::format("  loss {:.4f}", progress.record.loss),
                                  fmt::format("  {} images/s", render_thousands(progress.images_per_second))};
  if (progress.test_accuracy)
    pieces.push_back(fmt::format("  test {:.2f} %", 100.0 * *progress.test_accuracy));
  if (progress.seconds_left) pieces.push_back(fmt::format("  {} left", render_clock(*progress.seconds_left)));
  return pieces;
}

}  // namespace

std::string render_thousands(double value) {
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string render_clock(double seconds) {
  const auto all = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 1e9) + 0.5);
  return all < 3600 ? fmt::format("{}:{:02}", all / 60, all % 60)
                    : fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

std::string render_bar(const Progress& progress, const RunFacts& facts, int columns) {
  const auto most = static_cast<std::size_t>(std::max(columns - 1, 0));
  std::string left = fmt::format("epoch {}/{} ", progress.record.epoch, facts.epochs);
  std::string right = fmt::format(" {:3.0f}%", percent_done(progress, facts));
  for (const std::string& piece : render_pieces(progress))
    if (left.size() + right.size() + piece.size() <= most) right += piece;
  constexpr std::size_t brackets = 2;
  constexpr std::size_t least = 5;
  constexpr std::size_t longest = 40;
  if (left.size() + right.size() + brackets + least > most) return (left + right).substr(0, most);
  const std::size_t width = std::min(most - left.size() - right.size() - brackets, longest);
  const std::size_t done = width * progress.record.step / std::max<std::size_t>(facts.total_steps, 1);
  std::string bar(width, ' ');
  for (std::size_t i = 0; i < std::min(done, width); ++i) bar[i] = '=';
  if (done < width) bar[done] = '>';
  return left + "[" + bar + "]" + right;
}

std::string render_progress_line(const Progress& progress, const RunFacts& facts) {
  std::string text = fmt::format("epoch {}/{}  step {}/{}", progress.record.epoch, facts.epochs,
                                 progress.record.step, facts.total_steps);
  for (const std::string& piece : render_pieces(progress)) text += piece;
  return text;
}

std::string render_epoch_line(const EpochRecord& record, const RunFacts& facts) {
  std::string line = fmt::format("epoch {}/{}  train loss {:.4f}  accuracy {:.2f} %  test accuracy {:.2f} %",
                                 record.epoch, facts.epochs, record.train_loss, 100.0 * record.train_accuracy,
                                 100.0 * record.test_accuracy);
  if (record.timed_steps == 0) return line;
  const double images = static_cast<double>(record.timed_steps * facts.global_batch);
  return line + fmt::format("  {} images/s", render_thousands(images / std::max(record.train_seconds, 1e-9)));
}

ProgressReporter::ProgressReporter(const RunFacts& facts, MetricsFile& metrics, bool quiet)
    : facts_(facts), metrics_(metrics), quiet_(quiet), terminal_(is_screen(STDERR_FILENO)) {}

void ProgressReporter::on_start(std::size_t, std::size_t first_step) {
  first_step_ = last_step_ = first_step;
  if (first_step > 0) metrics_.write(render_resume_record(first_step));
  start_ = Clock::now();
  last_show_ = start_;
}

void ProgressReporter::on_step(const StepRecord& record) {
  metrics_.write(render_step_record(record, facts_.global_batch));
  const auto now = Clock::now();
  const bool due =
      terminal_ ? now - start_ > first_bar && now - last_show_ > bar_pause : now - last_show_ > line_pause;
  if (!quiet_ && due) show(record, now);
}

void ProgressReporter::show(const StepRecord& record, Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - last_show_).count();
  Progress progress{record,
                    static_cast<double>((record.step - last_step_) * facts_.global_batch) / seconds,
                    {},
                    test_accuracy_};
  if (record.step > first_step_) {  // with the tests and checkpoints so far
    progress.seconds_left =
        std::chrono::duration<double>(now - start_).count() *
        static_cast<double>(facts_.total_steps - std::min(record.step, facts_.total_steps)) /
        static_cast<double>(record.step - first_step_);
  }
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", render_bar(progress, facts_, terminal_columns()));
    bar_shown_ = true;
  } else {
    fmt::print(stderr, "{}\n", render_progress_line(progress, facts_));
  }
  std::fflush(stderr);
  last_show_ = now;
  last_step_ = record.step;
}

void ProgressReporter::clear_bar() {
  if (bar_shown_) fmt::print(stderr, "\r\033[K");
  bar_shown_ = false;
}

void ProgressReporter::on_test(const TestRecord& record) {
  test_accuracy_ = record.test_accuracy;
  metrics_.write(render_test_record(record));
  if (quiet_) return;
  clear_bar();
  fmt::print(stderr, "epoch {}/{}  step {}  test loss {:.4f}  accuracy {:.2f} %\n", record.epoch,
             facts_.epochs, record.step, record.test_loss, 100.0 * record.test_accuracy);
}

void ProgressReporter::on_epoch(const EpochRecord& record) {
  test_accuracy_ = record.test_accuracy;
  metrics_.write(render_epoch_record(record));
  metrics_.flush();
  if (quiet_) return;
  clear_bar();
  fmt::print(stderr, "{}\n", render_epoch_line(record, facts_));
}

void ProgressReporter::on_checkpoint(const CheckpointRecord& record) {
  metrics_.write(render_checkpoint_record(record));
  metrics_.flush();  // a resumed run needs the records up to its checkpoint
  const bool at_end = record.reason == SaveReason::end;  // a problem is then what the run ends with
  if (record.problem.empty() ? quiet_ : at_end) return;
  clear_bar();
  if (record.problem.empty()) {
    fmt::print(stderr, "checkpoint: {}, {} in {:.3f} s{}\n", printable(record.path),
               render_bytes(record.bytes), record.seconds, record.best ? ", the best so far" : "");
  } else {
    fmt::print(stderr, "{}",
               render_message("ddl-train", "warning",
                              {fmt::format("step {} was not saved, and the run goes on: {}", record.step,
                                           record.problem),
                               printable(record.path), record.remedy}));
  }
  std::fflush(stderr);
}

}  // namespace ddlrun::runtime
