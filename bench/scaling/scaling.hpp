// SPDX-License-Identifier: MIT
// The same training on 1, 2, 4 ... ranks: how much faster it gets, and what eats the rest. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_report {

// What ddl-train's summary says about one run.
struct TrainRun {
  std::string net;
  int ranks = 1;
  int hosts = 1;  // not in the summary: those that were asked for
  int threads = 1;
  std::size_t parameters = 0;  // 0: an older ddl-train does not print them
  std::size_t global_batch = 0;
  std::size_t steps = 0;
  double images_per_second = 0.0;
  double exposed_percent = 0.0;  // of the time: waiting for sums that nothing was computed beside
  std::optional<double> input_percent;
  std::optional<double> compute_percent;  // forward and backward; without it, all the rest is taken for it
};

// The summary among what ddl-train printed: the line of "ddlrun.train/1". Throws Error(request); `where` says
// whose output it is.
TrainRun parse_train_summary(std::string_view text, const std::string& where);

// A step of one run, in milliseconds, and how it compares with the first run.
struct ScalingRow {
  TrainRun run;
  double step_ms = 0.0;
  double compute_ms = 0.0;
  double exposed_ms = 0.0;
  std::optional<double> input_ms;
  std::optional<double> other_ms;  // the update of the weights, and what is in none of these
  double speedup = 1.0;
  double ideal = 1.0;       // ranks over the first run's
  double efficiency = 1.0;  // speedup / ideal
};

struct Scaling {
  std::string net;
  std::string hosts;             // for people
  std::size_t batch_a_rank = 0;  // images a step
  std::vector<ScalingRow> rows;  // ascending ranks, one at least
};

// Of one rank, in one step.
std::size_t batch_a_rank(const TrainRun& run);

// Runs with the same batch per rank. Throws Error(request) where batches differ; `retry` is the command to
// type then.
Scaling compare_runs(const std::vector<TrainRun>& runs, const std::string& hosts, const std::string& retry);

// "Are 4 ranks 4 times faster than 1? No: 3.4 times (85 %). Of a step ...". About the last row. Neither yes
// nor no where a row is faster than its ranks allow. A second line has the speed-up from one full host to
// several.
std::string render_scaling_answer(const Scaling& scaling);
std::string render_scaling_table(const Scaling& scaling);
std::string render_scaling_json(const Scaling& scaling);  // "ddlrun.bench.scaling/1"
std::string render_scaling_svg(const Scaling& scaling);

}  // namespace ddlrun::bench_report
