// SPDX-License-Identifier: MIT
#include "runtime/parameter_server/server_trainer.hpp"

#include "base/text/text.hpp"
#include "runtime/core/hash.hpp"
#include "runtime/parameter_server/server_loop.hpp"
#include "runtime/parameter_server/worker.hpp"
#include "runtime/training/divergence.hpp"
#include "runtime/training/finite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace ddlrun::runtime {
namespace {

double seconds_from(TraceClock::time_point start) {
  return std::chrono::duration<double>(TraceClock::now() - start).count();
}

// The vectors of the whole net, on every rank: as of the last step that all ranks have done.
struct WholeVectors {
  std::vector<float> parameters;
  std::vector<std::vector<float>> optimizer_state;
  std::vector<float> layer_state;
};

class ServerTrainer {
 public:
  ServerTrainer(ServerRun run, const EngineFactory& make_engine, const TrainState* start)
      : run_(std::move(run)),
        rank_(static_cast<std::size_t>(run_.ranks.rank())),
        shard_(make_shard(run_.data, run_.plan.global_batch, run_.plan.seed,
                          std::min(rank_, run_.workers() - 1), run_.workers())),
        position_(start == nullptr ? TrainPosition{} : start->position) {
    run_.plan.schedule.total_steps = total_steps(run_.plan, run_.data.train_images->count());
    share_start(start);
    if (is_server()) {
      open_shard();
      return;
    }
    worker_.emplace(run_, shard_, make_engine, whole_.parameters, position_);
    std::copy(whole_.layer_state.begin(), whole_.layer_state.end(), worker_->layer_state().begin());
  }

  TrainSummary run() {
    TrainSummary summary;
    summary.total_steps = all_steps();
    summary.first_step = position_.step;
    run_.observer.on_start(summary.total_steps, position_.step);
    while (!summary.stopped && (position_.step < all_steps() || position_.tested_step != position_.step))
      run_part(summary);
    summary.weights_hash = check_weights();
    summary.last = position_.last;
    summary.steps = position_.step;
    summary.sums = describe();
    const auto images = static_cast<double>((position_.step - summary.first_step) * run_.plan.global_batch);
    summary.images_per_second = images / std::max(summary.train_seconds, 1e-9);
    return summary;
  }

 private:
  bool is_server() const { return rank_ >= run_.workers(); }
  std::size_t all_steps() const { return run_.plan.schedule.total_steps; }
  bool epoch_is_whole() const { return position_.step_in_epoch == shard_.steps_per_epoch(); }
  Range shard() const {
    return even_chunk(run_.net.parameter_count, rank_ - run_.workers(), run_.roles.servers);
  }
  void record_span(std::string TrainTrace::*name, TraceClock::time_point begin) const {
    if (run_.trace != nullptr)
      run_.sink()->span(TraceLane::compute, run_.trace->*name, begin, TraceClock::now());
  }

  // Rank 0's start on all ranks.
  void share_start(const TrainState* start) {
    whole_.parameters = start == nullptr ? initial_parameters(run_.net, run_.plan.seed) : start->parameters;
    whole_.layer_state = start == nullptr ? initial_state(run_.net) : start->layer_state;
    whole_.optimizer_state.resize(state_names(run_.plan.optimizer).size());
    for (std::size_t i = 0; i < whole_.optimizer_state.size(); ++i) {
      if (start != nullptr && rank_ == 0) whole_.optimizer_state[i] = start->optimizer_state.at(i);
      whole_.optimizer_state[i].resize(run_.net.parameter_count, 0.0F);
      if (start != nullptr) run_.ranks.broadcast(whole_.optimizer_state[i]);
    }
    whole_.parameters.resize(run_.net.parameter_count);
    whole_.layer_state.resize(run_.net.state_count);
    run_.ranks.broadcast(whole_.parameters);
    if (run_.net.state_count > 0) run_.ranks.broadcast(whole_.layer_state);
  }

  void open_shard() {
    const auto cut = [&](const std::vector<float>& all) {
      return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(shard().begin),
                                all.begin() + static_cast<std::ptrdiff_t>(shard().end));
    };
    std::vector<std::vector<float>> state;
    for (const std::vector<float>& one : whole_.optimizer_state) state.push_back(cut(one));
    ServerPlan server{run_.workers(), run_.roles.asynchronous, run_.roles.staleness,
                      position_.step, run_.plan.schedule,      run_.plan.optimizer};
    server_.emplace(std::move(server), shard(), plan_param_groups(run_.net, run_.plan.optimizer),
                    cut(whole_.parameters), std::move(state));
  }

  // The next step after which all ranks synchronize.
  std::size_t next_sync() const {
    TrainPosition ahead = position_;
    const std::size_t end =
        std::min(position_.step + shard_.steps_per_epoch() - position_.step_in_epoch, all_steps());
    while (ahead.step < end) {
      ahead.step += 1;
      ahead.step_in_epoch += 1;
      if (run_.saver.due(ahead, false) || test_is_due(ahead.step)) break;
    }
    return ahead.step;
  }
  bool test_is_due(std::size_t step) const {
    return run_.plan.test_every != 0 && step % run_.plan.test_every == 0;
  }

  void run_part(TrainSummary& summary) {
    const auto start = TraceClock::now();
    const std::size_t before = position_.step;
    const std::size_t until = next_sync();
    const std::size_t done =
        is_server() ? run_server(until) : worker_->work_until(before, until, position_.epoch, summary);
    epoch_seconds_ += seconds_from(start);
    summary.train_seconds += seconds_from(start);
    const bool stop = synchronize(done) || done < until;
    epoch_steps_ += position_.step - before;
    if (!all_finite(whole_.parameters)) throw_weights_not_finite({position_.step, run_.plan.schedule});
    const bool end = position_.step == all_steps();
    if (!end && done > before && run_.saver.due(position_, false)) save(SaveReason::due);
    if (end || epoch_is_whole()) {
      end_epoch(summary, stop);
    } else if (stop) {
      summary.stopped = true;
      save(SaveReason::stop);
    } else if (test_is_due(position_.step)) {
      test_between();
    }
  }

  std::size_t run_server(std::size_t until) {
    auto last = TraceClock::now();
    ServerLoopPlan plan;
    plan.until = until;
    plan.decides = rank_ == run_.workers();
    plan.stop_requested = [&] { return run_.saver.stop_requested(); };
    plan.on_step = [&](std::size_t done) {
      StepRecord record{done, position_.epoch, 0.0, learning_rate(run_.plan.schedule, done - 1)};
      record.step_seconds = seconds_from(std::exchange(last, TraceClock::now()));
      run_.observer.on_step(record);
    };
    plan.sink = run_.sink();
    run_server_loop(plan, *server_, run_.transport);
    return server_->done();
  }

  // The servers' shards become everybody's weights, and the workers' totals everybody's. Whether some rank
  // wants to stop.
  bool synchronize(std::size_t done) {
    gather_shards(whole_.parameters, server_ ? server_->weights() : std::span<const float>{});
    for (std::size_t i = 0; i < whole_.optimizer_state.size(); ++i)
      gather_shards(whole_.optimizer_state[i],
                    server_ ? std::span<const float>(server_->state()[i]) : std::span<const float>{});
    average_layer_state();
    const LossSum mine = worker_ ? worker_->take_totals() : LossSum{};
    // Counts above 2^24 would lose units as one float.
    const std::array<float, 4> totals{static_cast<float>(mine.loss), static_cast<float>(mine.correct >> 12U),
                                      static_cast<float>(mine.correct & 0xfffU),
                                      run_.saver.stop_requested() ? 1.0F : 0.0F};
    std::array<float, 4> all{};
    run_.ranks.all_reduce_sum(totals, all);
    position_.loss_sum += static_cast<double>(all[0]) / static_cast<double>(run_.plan.global_batch);
    position_.correct_sum += 4096.0 * static_cast<double>(all[1]) + static_cast<double>(all[2]);
    position_.step_in_epoch += done - position_.step;
    position_.step = done;
    return all[3] != 0.0F;
  }

  // A sum with zeros is exact, unless sums travel in fewer bits than weights have.
  void gather_shards(std::vector<float>& whole, std::span<const float> mine) {
    std::fill(whole.begin(), whole.end(), 0.0F);
    const auto place = server_ ? whole.begin() + static_cast<std::ptrdiff_t>(shard().begin) : whole.begin();
    std::copy(mine.begin(), mine.end(), place);
    run_.ranks.all_reduce_sum(std::span<float>(whole), "weights of the servers");
    if (std::equal(mine.begin(), mine.end(), place)) return;
    if (!all_finite(mine)) return;  // all ranks throw
    throw Error(ErrorKind::request, {"the weights of a parameter server were rounded in transit",
                                     rank_name(run_.ranks), "remove -wire from DDL_OPTIONS"});
  }

  void average_layer_state() {
    if (run_.net.state_count == 0) return;
    if (worker_) {
      std::copy(worker_->layer_state().begin(), worker_->layer_state().end(), whole_.layer_state.begin());
    } else {
      std::fill(whole_.layer_state.begin(), whole_.layer_state.end(), 0.0F);
    }
    run_.ranks.all_reduce_sum(std::span<float>(whole_.layer_state), "layer state");
    for (float& value : whole_.layer_state) value /= static_cast<float>(run_.workers());
    if (worker_)
      std::copy(whole_.layer_state.begin(), whole_.layer_state.end(), worker_->layer_state().begin());
  }

  TestResult test() {
    const auto start = TraceClock::now();
    const TestResult result = worker_ ? worker_->evaluation().run(run_.saver.stop_requested())
                                      : Evaluation::watch(run_.ranks, shard_);
    record_span(&TrainTrace::test, start);
    return result;
  }

  // A stop request that comes here takes effect at the next rendezvous.
  void test_between() {
    const auto start = TraceClock::now();
    const TestResult result = test();
    run_.observer.on_test(
        {position_.step, position_.epoch, result.loss, result.accuracy, seconds_from(start)});
  }

  void end_epoch(TrainSummary& summary, bool stop) {
    const auto steps = static_cast<double>(std::max<std::size_t>(position_.step_in_epoch, 1));
    EpochRecord record{position_.epoch,
                       position_.step_in_epoch,
                       position_.loss_sum / steps,
                       position_.correct_sum / (steps * static_cast<double>(run_.plan.global_batch)),
                       0.0,
                       0.0,
                       std::exchange(epoch_seconds_, 0.0),
                       std::exchange(epoch_steps_, 0)};
    const TestResult result = test();
    record.test_loss = result.loss;
    record.test_accuracy = result.accuracy;
    check_weights();
    position_.last = record;
    position_.tested_step = position_.step;
    run_.observer.on_epoch(record);
    if (epoch_is_whole()) {
      position_.epoch += 1;
      position_.step_in_epoch = 0;
      position_.loss_sum = position_.correct_sum = 0.0;
    }
    const bool end = position_.step == all_steps();
    summary.stopped = (stop || result.stop) && !end;
    if (end || summary.stopped || run_.saver.due(position_, true))
      save(end ? SaveReason::end : summary.stopped ? SaveReason::stop : SaveReason::due);
  }

  void save(SaveReason reason) {
    const auto start = TraceClock::now();
    const std::vector<std::span<const float>> state(whole_.optimizer_state.begin(),
                                                    whole_.optimizer_state.end());
    run_.saver.save({position_, whole_.parameters, state, whole_.layer_state}, reason);
    record_span(&TrainTrace::save, start);
  }

  std::uint64_t check_weights() {
    const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(whole_.parameters)));
    require_equal(run_.ranks, fmt::format("{:016x}", hash), ErrorKind::internal,
                  fmt::format("the weights differ between ranks after step {}", position_.step),
                  "report it with the command line and the MPI version");
    return hash;
  }

  // "2 server(s), 3 worker(s), asynchronous: 1.90 updates of others between pull and push, 4 at most"
  std::string describe() {
    const StalenessStats mine = server_ ? server_->staleness() : StalenessStats{};
    StalenessStats all;
    for (const std::string& one :
         run_.ranks.gather_all(fmt::format("{} {} {}", mine.pushes, mine.sum, mine.most))) {
      const std::vector<std::string_view> words = split(one, ' ');
      all.pushes += parse_unsigned(words.at(0)).value_or(0);
      all.sum += parse_unsigned(words.at(1)).value_or(0);
      all.most = std::max(all.most, parse_unsigned(words.at(2)).value_or(0));
    }
    const std::string who = fmt::format("{} server(s), {} worker(s)", run_.roles.servers, run_.workers());
    if (!run_.roles.asynchronous) return who + ", synchronous";
    return fmt::format(
        "{}, asynchronous: staleness {:.2f} on average, {} at most", who,
        static_cast<double>(all.sum) / static_cast<double>(std::max<std::uint64_t>(all.pushes, 1)), all.most);
  }

  ServerRun run_;
  std::size_t rank_;
  DataShard shard_;  // of the workers; a server sees the last one's
  TrainPosition position_;
  WholeVectors whole_;
  double epoch_seconds_ = 0.0;
  std::size_t epoch_steps_ = 0;
  std::optional<ShardServer> server_;
  std::optional<Worker> worker_;
};

}  // namespace

TrainSummary train_with_servers(const TrainPlan& plan, const ServerRoles& roles, const Net& net,
                                const Dataset& data, Communicator& ranks, PsTransport& transport,
                                const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                                const TrainState* start, const TrainTrace* trace) {
  return ServerTrainer({plan, roles, net, data, ranks, transport, observer, saver, trace}, make_engine, start)
      .run();
}

}  // namespace ddlrun::runtime
