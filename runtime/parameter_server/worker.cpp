// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/worker.hpp"

#include "runtime/training/divergence.hpp"
#include "runtime/training/finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ddlrun::runtime {
namespace {

double seconds_between(TraceClock::time_point begin, TraceClock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

Worker::Worker(const ServerRun& run, const DataShard& shard, const EngineFactory& make_engine,
               std::span<float> parameters, const TrainPosition& start)
    : run_(run),
      local_batch_(shard.local_batch()),
      parameters_(parameters),
      gradients_(run.net.parameter_count),
      engine_(make_engine(run.net, local_batch_, parameters, gradients_)),
      evaluation_(run.data, shard, *engine_, run.ranks, {run.plan.data_threads, run.sink()}),
      batch_loader_(run.data, shard,
                    {run.plan.seed, run.plan.schedule.total_steps, 1, {run.plan.data_threads, run.sink()}},
                    start) {
  for (std::size_t i = 0; i < run.roles.servers; ++i) {
    servers_.push_back(static_cast<int>(run.workers() + i));
    shards_.push_back(even_chunk(run.net.parameter_count, i, run.roles.servers));
  }
  if (run.trace != nullptr) engine_->trace(&run.trace->layers);
}

std::size_t Worker::work_until(std::size_t done, std::size_t until, std::size_t epoch,
                               TrainSummary& summary) {
  while (done < until) {
    const StepRecord record = work(done, until, epoch);
    summary.comm_seconds += record.comm_seconds;
    summary.input_seconds += record.input_seconds;
    summary.compute_seconds += record.compute_seconds;
    summary.sum_seconds += record.sum_seconds;
    run_.observer.on_step(record);
    done += 1;
  }
  return done;
}

LossSum Worker::take_totals() {
  const LossSum taken = totals_;
  totals_ = {};
  return taken;
}

// `until` falls when the servers say that all stop.
StepRecord Worker::work(std::size_t done, std::size_t& until, std::size_t epoch) {
  const auto start = TraceClock::now();
  StepRecord record{done + 1, epoch, 0.0, learning_rate(run_.plan.schedule, done)};
  const LoadedBatch batch = batch_loader_.next();
  record.input_seconds = batch.waited_seconds;
  engine_->start_step({run_.plan.seed, done, static_cast<std::uint64_t>(run_.ranks.rank())});
  const std::size_t images = run_.roles.asynchronous ? local_batch_ : run_.plan.global_batch;
  const LossSum sum =
      engine_->train_batch(batch.images, batch.labels, static_cast<float>(1.0 / static_cast<double>(images)));
  if (!std::isfinite(sum.loss) || !all_finite(gradients_)) refuse_mine(done);
  const auto computed = TraceClock::now();
  record.compute_seconds = seconds_between(start, computed) - record.input_seconds;
  record.loss = exchange(done, until, sum.loss) / static_cast<double>(images);
  const auto end = TraceClock::now();
  if (run_.sink() != nullptr) run_.sink()->span(TraceLane::compute, "push and pull", computed, end);
  record.comm_seconds = record.sum_seconds = seconds_between(computed, end);
  record.step_seconds = seconds_between(start, end);
  totals_.loss += sum.loss;
  totals_.correct += sum.correct;
  return record;
}

// The loss as the servers know it: of all workers, asynchronous: of this one.
double Worker::exchange(std::size_t done, std::size_t& until, double loss) {
  std::vector<std::span<const float>> pushed;
  std::vector<std::span<float>> pulled;
  for (const Range& shard : shards_) {
    pushed.push_back(std::span(gradients_).subspan(shard.begin, shard.end - shard.begin));
    pulled.push_back(parameters_.subspan(shard.begin, shard.end - shard.begin));
  }
  const bool stop_requested = server_requests_stop_ || run_.saver.stop_requested();
  const PushPullHeader header{done, end_step_, stop_requested ? 1U : 0U, loss};
  const std::vector<PushPullHeader> answers = run_.transport.exchange(servers_, header, pushed, pulled);
  for (const PushPullHeader& reply : answers) {
    server_requests_stop_ = server_requests_stop_ || reply.stop_requested != 0;
    if (reply.end_step == 0) continue;
    end_step_ = reply.end_step;
    until = std::min<std::size_t>(until, end_step_);
  }
  return answers.front().loss;
}

void Worker::refuse_mine(std::size_t done) const {
  throw Error(ErrorKind::request,
              {fmt::format("the loss or a gradient is not finite (NaN or infinite) in step {} of {}",
                           done + 1, run_.plan.schedule.total_steps),
               rank_name(run_.ranks), suggest_lower_rate({done, run_.plan.schedule}, true)});
}

}  // namespace ddlrun::runtime
