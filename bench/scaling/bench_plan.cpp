// SPDX-License-Identifier: MIT
#include "bench/scaling/bench_plan.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace ddlrun::bench_report {

namespace {

constexpr int most_bench_ranks = 1 << 20;

ScalingRun place_scaling_run(int ranks, int per_host, int hosts) {
  if (ranks <= per_host) return {ranks, ranks, 1};
  if (ranks % per_host != 0) {
    throw Error(ErrorKind::request,
                {fmt::format("{} ranks do not fill hosts of {} ranks", ranks, per_host), "--ranks",
                 fmt::format("--ranks {}, or another --per-host", ranks / per_host * per_host)});
  }
  if (ranks / per_host > hosts) {
    throw Error(ErrorKind::request,
                {fmt::format("{} ranks need {} hosts of {} ranks, there {} {}", ranks, ranks / per_host,
                             per_host, hosts == 1 ? "is" : "are", hosts),
                 "--ranks", fmt::format("--ranks {}, or more HOSTS", per_host * hosts)});
  }
  return {ranks, per_host, ranks / per_host};
}

}  // namespace

bool has_option(const std::vector<std::string>& words, std::string_view name) {
  return std::any_of(words.begin(), words.end(), [name](const std::string& word) {
    return word == name || (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '=');
  });
}

std::vector<int> parse_rank_counts(std::string_view text) {
  std::vector<int> counts;
  for (const std::string_view part : split(text, ',')) {
    const auto count = parse_unsigned(part, most_bench_ranks);
    if (!count || *count == 0) {
      throw Error(ErrorKind::usage, {fmt::format("'{}' is no number of ranks from 1 to {}",
                                                 printable(part, 40), most_bench_ranks),
                                     "--ranks", "--ranks 1,2,4"});
    }
    counts.push_back(static_cast<int>(*count));
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

std::vector<int> default_rank_counts(const BenchHosts& hosts) {
  const int full = std::max(1, hosts.ranks_of_a_host);
  std::vector<int> counts;
  for (int ranks = 1; ranks < full; ranks *= 2) counts.push_back(ranks);
  for (int filled = 1; filled < hosts.hosts; filled *= 2) counts.push_back(filled * full);
  counts.push_back(hosts.hosts * full);
  return counts;
}

ScalingPlan plan_scaling(const std::vector<int>& counts, const BenchHosts& hosts, int per_host) {
  const int most = *std::max_element(counts.begin(), counts.end());
  if (per_host == 0) per_host = hosts.hosts == 1 ? most : std::max(1, hosts.ranks_of_a_host);
  ScalingPlan plan;
  for (const int ranks : counts) plan.runs.push_back(place_scaling_run(ranks, per_host, hosts.hosts));
  int densest = 1;
  for (const ScalingRun& run : plan.runs) densest = std::max(densest, run.ranks_a_host);
  if (densest > hosts.cores) {
    throw Error(ErrorKind::request,
                {fmt::format("{} ranks on a host need as many cores, there are {}", densest, hosts.cores),
                 "--ranks", fmt::format("--ranks 1,{}, or more HOSTS", hosts.cores)});
  }
  plan.cores_a_rank = hosts.cores / densest;
  return plan;
}

std::vector<int> default_sum_counts(int cores) { return cores >= 4 ? std::vector{2, 4} : std::vector{2}; }

bool leaves_batch_open(const std::vector<std::string>& given) {
  return !has_option(given, "--batch-size") && !has_option(given, "--solver");
}

std::vector<std::size_t> order_scaling_runs(const ScalingPlan& plan, const std::vector<std::string>& given) {
  std::vector<std::size_t> order(plan.runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (leaves_batch_open(given) && !order.empty()) std::rotate(order.begin(), order.end() - 1, order.end());
  return order;
}

std::vector<std::string> batch_words(const std::vector<std::string>& given, std::size_t images) {
  constexpr std::string_view name = "--gradient-accumulation";
  std::size_t parts = 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::string_view value;
    if (given[i] == name && i + 1 < given.size()) value = given[i + 1];
    if (given[i].starts_with(name) && given[i].size() > name.size() && given[i][name.size()] == '=')
      value = std::string_view(given[i]).substr(name.size() + 1);
    if (const auto count = parse_unsigned(value, 1U << 20U); count && *count != 0) parts = *count;
  }
  return {"--batch-size", fmt::format("{}", std::max<std::size_t>(1, images / parts))};
}

std::vector<std::string> scaling_trainer_words(const std::vector<std::string>& given) {
  if (!given.empty() && !given[0].starts_with('-')) {
    throw Error(ErrorKind::usage, {fmt::format("'{}' is no option of ddl-train: scaling runs nothing else",
                                               printable(given[0], 60)),
                                   "behind --", "ddlrun bench scaling -- --net lenet5 --batch-size 64"});
  }
  for (const char* name : {"--global-batch", "--resume", "--checkpoint"}) {
    if (!has_option(given, name)) continue;
    throw Error(
        ErrorKind::usage,
        {fmt::format("{} cannot go with scaling: each run has the same batch a rank and begins anew", name),
         "behind --", "ddlrun bench scaling -- --batch-size 64"});
  }
  std::vector<std::string> words = given;
  if (!has_option(given, "--max-steps") && !has_option(given, "--epochs"))
    words.insert(words.end(), {"--max-steps", "400", "--epochs", "1000"});
  for (const char* name : {"--json", "--quiet"})
    if (!has_option(given, name)) words.emplace_back(name);
  return words;
}

}  // namespace ddlrun::bench_report
