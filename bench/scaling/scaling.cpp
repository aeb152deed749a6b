// SPDX-License-Identifier: MIT
#include "bench/scaling/scaling.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::bench_report {
namespace {

constexpr double as_good_as_ideal = 0.97;
constexpr double nearly_ideal = 0.90;
// The work of a rank is the same in all runs, so more than its share of the speed is a slow first run.
constexpr double most_credible = 1.10;
constexpr double worth_telling = 0.005;  // of a step

ScalingRow make_row(const TrainRun& run) {
  ScalingRow row;
  row.run = run;
  row.step_ms = 1e3 * static_cast<double>(run.global_batch) / run.images_per_second;
  row.exposed_ms = row.step_ms * run.exposed_percent / 100.0;
  if (run.input_percent) row.input_ms = row.step_ms * *run.input_percent / 100.0;
  const double rest = std::max(0.0, row.step_ms - row.exposed_ms - row.input_ms.value_or(0.0));
  row.compute_ms = run.compute_percent ? std::min(rest, row.step_ms * *run.compute_percent / 100.0) : rest;
  if (run.compute_percent) row.other_ms = rest - row.compute_ms;
  return row;
}

// The first row above all that its ranks allow.
const ScalingRow* find_incredible(const Scaling& scaling) {
  const auto found =
      std::ranges::find_if(scaling.rows, [](auto& row) { return row.efficiency > most_credible; });
  return found == scaling.rows.end() ? nullptr : &*found;
}

// "1 host -> 2 hosts: 1.9 times; 4 hosts: 3.6 times", of rows with as many ranks a host as the last; else "".
std::string render_host_steps(const Scaling& scaling) {
  const TrainRun& last = scaling.rows.back().run;
  const auto is_full = [&](const ScalingRow& row) {
    return row.run.ranks * last.hosts == last.ranks * row.run.hosts;
  };
  const auto one = std::ranges::find_if(
      scaling.rows, [&](const ScalingRow& row) { return row.run.hosts == 1 && is_full(row); });
  if (one == scaling.rows.end() || last.hosts == 1) return "";
  std::vector<std::string> parts;
  for (const ScalingRow& row : scaling.rows) {
    if (row.run.hosts == 1 || !is_full(row)) continue;
    parts.push_back(fmt::format("{} hosts: {:.3g} times", row.run.hosts,
                                row.run.images_per_second / one->run.images_per_second));
  }
  return "1 host -> " + join(parts, "; ") + "\n";
}

std::string ranks_text(int ranks) { return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"); }

// What grew from the first run's step to the last's, largest first.
std::string render_losses(const ScalingRow& first, const ScalingRow& last) {
  struct Loss {
    double ms;
    std::string what;
  };
  const double computing = last.compute_ms - first.compute_ms;
  const double least = worth_telling * last.step_ms;
  std::vector<Loss> losses = {
      {last.exposed_ms - first.exposed_ms, "waiting for sums of other ranks"},
      {last.input_ms.value_or(0.0) - first.input_ms.value_or(0.0), "waiting for images"},
      {last.other_ms.value_or(0.0) - first.other_ms.value_or(0.0), "updating the weights and the rest"},
      {computing, "computing"}};
  std::sort(losses.begin(), losses.end(), [](const Loss& a, const Loss& b) { return a.ms > b.ms; });
  std::vector<std::string> parts;
  for (const Loss& loss : losses)
    if (loss.ms > least) parts.push_back(fmt::format("{:.3g} ms more for {}", loss.ms, loss.what));
  for (const Loss& loss : losses)
    if (-loss.ms > least) parts.push_back(fmt::format("{:.3g} ms less for {}", -loss.ms, loss.what));
  if (parts.empty()) return "";
  std::string text = fmt::format(" A step takes {:.3g} ms instead of {:.3g} ms: {}.", last.step_ms,
                                 first.step_ms, join(parts, ", "));
  if (computing > least)
    text += " Computing is slower where ranks share memory, caches and clock, or other programs run.";
  return text;
}

}  // namespace

std::size_t batch_a_rank(const TrainRun& run) {
  return run.global_batch / static_cast<std::size_t>(run.ranks);
}

Scaling compare_runs(const std::vector<TrainRun>& runs, const std::string& hosts, const std::string& retry) {
  Scaling scaling;
  scaling.hosts = hosts;
  for (const TrainRun& run : runs) {
    const std::size_t each = batch_a_rank(run);
    if (scaling.rows.empty()) {
      scaling.net = run.net;
      scaling.batch_a_rank = each;
    } else if (each != scaling.batch_a_rank) {
      throw Error(ErrorKind::request,
                  {fmt::format("the runs have {} and {} images a rank and step: they cannot be compared",
                               scaling.batch_a_rank, each),
                   ranks_text(run.ranks), retry});
    }
    scaling.rows.push_back(make_row(run));
    ScalingRow& row = scaling.rows.back();
    const ScalingRow& first = scaling.rows.front();
    row.speedup = run.images_per_second / first.run.images_per_second;
    row.ideal = static_cast<double>(run.ranks) / first.run.ranks;
    row.efficiency = row.speedup / row.ideal;
  }
  return scaling;
}

std::string render_scaling_answer(const Scaling& scaling) {
  const ScalingRow& first = scaling.rows.front();
  const ScalingRow& last = scaling.rows.back();
  if (scaling.rows.size() == 1) {
    return fmt::format("{} train{} {:.0f} images/s. No other number of ranks was measured to compare with.\n",
                       ranks_text(last.run.ranks), last.run.ranks == 1 ? "s" : "",
                       last.run.images_per_second);
  }
  const std::string question = fmt::format("Are {} {:.3g} times faster than {}?", ranks_text(last.run.ranks),
                                           last.ideal, first.run.ranks);
  if (const ScalingRow* const row = find_incredible(scaling)) {
    return fmt::format(
        "{} The runs were disturbed and give no answer: {:.3g} times ({:.0f} %) with {} is not credible. Try "
        "--repeat 5 on an idle machine.\n",
        question, row->speedup, 100.0 * row->efficiency, ranks_text(row->run.ranks));
  }
  const char* const verdict = last.efficiency >= as_good_as_ideal ? "Yes"
                              : last.efficiency >= nearly_ideal   ? "Nearly"
                                                                  : "No";
  const std::string found =
      last.speedup < 1.0 ? fmt::format("they are slower, at {:.2g} times the speed", last.speedup)
                         : fmt::format("{:.3g} times ({:.0f} %)", last.speedup, 100.0 * last.efficiency);
  return fmt::format("{} {}: {}.{}\n{}", question, verdict, found, render_losses(first, last),
                     render_host_steps(scaling));
}

std::string render_scaling_table(const Scaling& scaling) {
  const bool input = std::any_of(scaling.rows.begin(), scaling.rows.end(),
                                 [](auto& row) { return row.input_ms.has_value(); });
  const bool other = std::any_of(scaling.rows.begin(), scaling.rows.end(),
                                 [](auto& row) { return row.other_ms.has_value(); });
  const auto optional_ms = [](const std::optional<double>& ms) {
    return ms ? fmt::format(" {:>9.3f}", *ms) : fmt::format(" {:>9}", "-");
  };
  std::string text = fmt::format(
      "# {}, {} images a rank and step, on {}\n# {:>4} {:>8} {:>10} {:>8} {:>11} {:>9} "
      "{:>11} {:>11}{}{}\n",
      printable(scaling.net), scaling.batch_a_rank, printable(scaling.hosts), "ranks", "threads", "images/s",
      "speedup", "efficiency", "step ms", "compute ms", "exposed ms",
      input ? fmt::format(" {:>9}", "input ms") : "", other ? fmt::format(" {:>9}", "other ms") : "");
  for (const ScalingRow& row : scaling.rows) {
    text += fmt::format("{:>7} {:>8} {:>10.0f} {:>8.2f} {:>9.1f} % {:>9.3f} {:>11.3f} {:>11.3f}",
                        row.run.ranks, row.run.threads, row.run.images_per_second, row.speedup,
                        100.0 * row.efficiency, row.step_ms, row.compute_ms, row.exposed_ms);
    if (input) text += optional_ms(row.input_ms);
    if (other) text += optional_ms(row.other_ms);
    text += "\n";
  }
  return text + render_scaling_answer(scaling);
}

}  // namespace ddlrun::bench_report
