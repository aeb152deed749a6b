// SPDX-License-Identifier: MIT
// Which runs `ddlrun bench` makes: decided before anything is started. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::bench_report {

// What bench knows about its hosts: the fewest cores and GPUs of one, and how many there are.
struct BenchHosts {
  int hosts = 1;
  int cores = 1;
  int ranks_of_a_host = 1;  // launch's default, unless given
};

// "1,2,4": ascending, each once. Throws Error(usage).
std::vector<int> parse_rank_counts(std::string_view text);
// 1, 2, 4 ... up to a full host, then full hosts 1, 2, 4 ..., and all of them.
std::vector<int> default_rank_counts(const BenchHosts& hosts);

struct ScalingRun {
  int ranks = 1;
  int ranks_a_host = 1;
  int hosts = 1;
};

struct ScalingPlan {
  std::vector<ScalingRun> runs;
  int cores_a_rank = 1;  // the same in all runs, else fewer ranks would have more cores each
};

// Hosts are filled one after the other. `per_host` 0: what the hosts have, or on one host all ranks of the
// largest run. Throws Error(request) where a count does not fill hosts, or there are too few.
ScalingPlan plan_scaling(const std::vector<int>& counts, const BenchHosts& hosts, int per_host);

// 2 and 4 ranks as far as there are cores; 2 at least, so that launch says what is missing.
std::vector<int> default_sum_counts(int cores);

// Whether the words have the option, with its value apart or behind "=".
bool has_option(const std::vector<std::string>& words, std::string_view name);

// The order in which the runs start, as indices of the plan: from the fewest ranks on. Without a batch in the
// user's words the most ranks are first. ddl-train chooses the batch of a rank by the number of images and of
// ranks, so theirs is the smallest, and the others train with it.
std::vector<std::size_t> order_scaling_runs(const ScalingPlan& plan, const std::vector<std::string>& given);
// Whether the words leave the batch of a rank to ddl-train.
bool leaves_batch_open(const std::vector<std::string>& given);
// The option that gives each rank `images` a step: fewer at a time with --gradient-accumulation.
std::vector<std::string> batch_words(const std::vector<std::string>& given, std::size_t images);

// The words behind "--" for ddl-train: the user's, a fixed number of steps where none is given, and a summary
// as JSON. Throws Error(usage) for a program, and for --global-batch.
std::vector<std::string> scaling_trainer_words(const std::vector<std::string>& given);

}  // namespace ddlrun::bench_report
