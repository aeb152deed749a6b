// SPDX-License-Identifier: MIT
#include "bench/predict/sum_model.hpp"

#include "base/text/error.hpp"
#include "ddl/collectives/inter_node_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ddlrun::bench_predict {
namespace {

// Everything to everyone, level by level: all_reduce_gathered().
SumWork count_gathered(double slice, const std::vector<int>& levels, int ranks_a_host) {
  SumWork work;
  for (const int ranks : levels) {
    const double others = ranks - 1;
    const double steps = ddl::gathering_steps(ranks);
    work.stages += steps;
    work.messages += 2.0 * (steps > 1.0 ? steps : others);
    work.bytes += others * slice * ranks_a_host;
  }
  return work;
}

// Chunk by chunk, up the levels and down again: all_reduce_in_chunks().
SumWork count_chunked(double slice, const std::vector<int>& levels, int ranks_a_host) {
  SumWork work;
  const double fitting = slice / (levels.front() * static_cast<double>(ddl::chunks_aimed_at));
  const double least = static_cast<double>(ddl::smallest_message) *
                       static_cast<double>(ddl::messages_of_chunk(levels)) / levels.front();
  const auto longest = static_cast<double>(ddl::usual_message);
  const double message = std::clamp(fitting, std::min(least, longest), longest);
  work.chunks = std::max(1.0, std::ceil(slice / (message * levels.front())));
  double piece = slice;
  for (const int ranks : levels) {
    work.bytes += 2.0 * (ranks - 1) / ranks * piece * ranks_a_host;
    piece /= ranks;
    const auto piece_bytes = static_cast<std::size_t>(piece / work.chunks);
    const bool halved = ddl::is_halved(ranks, piece_bytes, static_cast<std::size_t>(work.chunks));
    const int steps = halved ? ddl::halving_steps(ranks) : 1;
    double messages = halved ? 0.0 : ranks - 1;
    for (int step = 0; halved && step < steps; ++step)
      messages += std::max(1.0, std::ceil(ddl::halving_blocks(ranks, step) * piece / work.chunks / longest));
    work.messages += work.chunks * 4.0 * messages;
    work.stages += 2.0 * steps;
  }
  return work;
}

using LogNetwork = std::array<double, 3>;

Network network_of(const LogNetwork& logs) {
  return {std::exp(logs[0]), std::exp(logs[1]), std::exp(logs[2])};
}

// A long sum counts most: a step waits for those, and a busy core delays short ones.
double weight_of(const MeasuredSum& sum, const MeasuredSum& longest) {
  return 0.1 + sum.seconds / longest.seconds;
}

double squared_error(const LogNetwork& logs, const std::vector<MeasuredSum>& sums, const SumShape& shape) {
  const MeasuredSum& longest = *std::ranges::max_element(sums, {}, &MeasuredSum::seconds);
  double error = 0.0;
  for (const MeasuredSum& sum : sums) {
    const double ratio = model_sum(sum.bytes, shape, network_of(logs)).total_s / sum.seconds;
    error += weight_of(sum, longest) * std::log(ratio) * std::log(ratio);
  }
  return error;
}

// A pattern search: three numbers, and a function that is cheap and has kinks.
LogNetwork descend(LogNetwork best, const std::vector<MeasuredSum>& sums, const SumShape& shape) {
  double error = squared_error(best, sums, shape);
  for (double step = 1.0; step > 1e-3;) {
    LogNetwork better = best;
    for (std::size_t axis = 0; axis < best.size(); ++axis) {
      for (const double sign : {-1.0, 1.0}) {
        LogNetwork tried = better;
        tried[axis] += sign * step;
        const double found = squared_error(tried, sums, shape);
        if (found >= error) continue;
        error = found;
        better = tried;
      }
    }
    if (better == best) step /= 2.0;
    best = better;
  }
  return best;
}

}  // namespace

SumWork count_sum_work(double bytes, const SumShape& shape) {
  std::vector<int> levels;
  for (const int ranks : shape.levels)
    if (ranks > 1) levels.push_back(ranks);
  if (levels.empty() || bytes <= 0.0) return {};
  const double slice = bytes / shape.ranks_a_host;
  double others = 0.0;
  double steps = 0.0;
  for (const int ranks : levels) {
    others += ranks - 1;
    steps += ddl::gathering_steps(ranks);
  }
  // What travels in one step is not narrowed.
  if (others * slice <= static_cast<double>(ddl::most_gathered) * std::max(steps, 2.0) / 2.0)
    return count_gathered(slice, levels, shape.ranks_a_host);
  return count_chunked(shape.narrow ? slice / 2.0 : slice, levels, shape.ranks_a_host);
}

SumTime model_sum(double bytes, const SumShape& shape, const Network& network) {
  const SumWork work = count_sum_work(bytes, shape);
  if (work.stages == 0.0) return {};
  SumTime time;
  time.wire_s = work.bytes / network.bytes_per_second;
  time.messages_s = work.messages * network.message_s;
  // While a chunk waits for its messages, the others are on the wire.
  const double busy = std::max(time.wire_s, time.messages_s);
  const double others = busy / work.stages * (1.0 - 1.0 / work.chunks);
  time.latency_s = network.latency_s + (work.stages - 1.0) * std::max(0.0, network.latency_s - others);
  time.total_s = busy + time.latency_s;
  return time;
}

FittedNetwork fit_network(const std::vector<MeasuredSum>& sums, const SumShape& shape) {
  if (sums.size() < 3) {
    throw Error(
        ErrorKind::request,
        {fmt::format("{} measured sums do not determine bandwidth, latency and messages", sums.size()),
         "sums between hosts", "ddlrun bench allreduce 1x2 h1,h2 --json sums.json -- --sizes 4k:16M"});
  }
  const auto [least, most] = std::ranges::minmax_element(sums, {}, &MeasuredSum::bytes);
  const SumWork large = count_sum_work(most->bytes, shape);
  const SumWork small = count_sum_work(least->bytes, shape);
  const double bandwidth = large.bytes / most->seconds;
  LogNetwork best{};
  double error = std::numeric_limits<double>::infinity();
  // From several places, for there are local minima: a busy core makes small sums as slow as large ones.
  for (const double faster : {1.0, 4.0}) {
    for (const double latency : {least->seconds, least->seconds / (2.0 * small.stages)}) {
      for (const double message : {1e-7, least->seconds / (4.0 * small.messages)}) {
        const LogNetwork found =
            descend({std::log(bandwidth * faster), std::log(latency), std::log(message)}, sums, shape);
        if (squared_error(found, sums, shape) >= error) continue;
        error = squared_error(found, sums, shape);
        best = found;
      }
    }
  }
  FittedNetwork fitted{network_of(best), 0.0};
  double weights = 0.0;
  for (const MeasuredSum& sum : sums) {
    const double weight = weight_of(sum, *most);
    const double ratio = model_sum(sum.bytes, shape, fitted.network).total_s / sum.seconds;
    fitted.error += weight * std::abs(std::log(ratio));
    weights += weight;
  }
  fitted.error = std::exp(fitted.error / weights) - 1.0;
  return fitted;
}

}  // namespace ddlrun::bench_predict
