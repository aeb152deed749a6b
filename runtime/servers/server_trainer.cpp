// SPDX-License-Identifier: MIT
#include "runtime/servers/server_trainer.hpp"

#include "runtime/hash.hpp"
#include "runtime/servers/serve.hpp"
#include "runtime/training/batch_feed.hpp"
#include "runtime/training/evaluation.hpp"
#include "runtime/training/finite.hpp"
#include "runtime/training/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace ddlrun::runtime {
namespace {

using ServerClock = std::chrono::steady_clock;

double seconds_from(ServerClock::time_point start) {
  return std::chrono::duration<double>(ServerClock::now() - start).count();
}

// The vectors of the whole net, on every rank: where all of them meet between epochs.
struct WholeVectors {
  std::vector<float> parameters;
  std::vector<std::vector<float>> rule_state;
  std::vector<float> layer_state;
};

class ServerTrainer {
 public:
  ServerTrainer(const TrainPlan& plan, const ServerRoles& roles, const Net& net, const Dataset& data,
                Communicator& ranks, Parcels& parcels, const EngineFactory& make_engine,
                TrainObserver& observer, TrainSaver& saver, const TrainState* start)
      : plan_(plan),
        roles_(roles),
        net_(net),
        data_(data),
        ranks_(ranks),
        parcels_(parcels),
        observer_(observer),
        saver_(saver),
        rank_(static_cast<std::size_t>(ranks.rank())),
        workers_(static_cast<std::size_t>(ranks.size()) - roles.servers),
        shares_(share_out(data, plan.global_batch, plan.seed, std::min(rank_, workers_ - 1), workers_)),
        position_(start == nullptr ? TrainPosition{} : start->position),
        gradients_(is_server() ? 0 : net.parameter_count) {
    plan_.schedule.total_steps = total_steps(plan, data.train_images->count());
    for (std::size_t i = 0; i < roles.servers; ++i) {
      server_ranks_.push_back(static_cast<int>(workers_ + i));
      shards_.push_back(even_share(net.parameter_count, i, roles.servers));
    }
    share_start(start);
    if (is_server()) {
      open_shard();
    } else {
      open_engine(make_engine);
    }
  }

  TrainSummary run() {
    TrainSummary summary;
    summary.total_steps = plan_.schedule.total_steps;
    summary.first_step = position_.step;
    observer_.on_start(summary.total_steps, position_.step);
    while (!summary.stopped &&
           (position_.step < summary.total_steps || position_.tested_step != position_.step))
      run_epoch(summary);
    summary.weights_hash = check_weights();
    summary.last = position_.last;
    summary.steps = position_.step;
    summary.sums = describe();
    const auto images = static_cast<double>((position_.step - summary.first_step) * plan_.global_batch);
    summary.images_per_second = images / std::max(summary.train_seconds, 1e-9);
    return summary;
  }

 private:
  bool is_server() const { return rank_ >= workers_; }
  std::size_t server_index() const { return rank_ - workers_; }

  // Rank 0's start on all ranks.
  void share_start(const TrainState* start) {
    whole_.parameters = start == nullptr ? initial_parameters(net_, plan_.seed) : start->parameters;
    whole_.layer_state = start == nullptr ? initial_state(net_) : start->layer_state;
    whole_.rule_state.resize(state_names(plan_.rule).size());
    for (std::size_t i = 0; i < whole_.rule_state.size(); ++i) {
      if (start != nullptr && rank_ == 0) whole_.rule_state[i] = start->rule_state.at(i);
      whole_.rule_state[i].resize(net_.parameter_count, 0.0F);
      if (start != nullptr) ranks_.broadcast(whole_.rule_state[i]);
    }
    whole_.parameters.resize(net_.parameter_count);
    whole_.layer_state.resize(net_.state_count);
    ranks_.broadcast(whole_.parameters);
    if (net_.state_count > 0) ranks_.broadcast(whole_.layer_state);
  }

  void open_shard() {
    const Range shard = shards_[server_index()];
    const auto cut = [&](const std::vector<float>& all) {
      return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(shard.begin),
                                all.begin() + static_cast<std::ptrdiff_t>(shard.end));
    };
    std::vector<std::vector<float>> state;
    for (const std::vector<float>& one : whole_.rule_state) state.push_back(cut(one));
    ServerPlan server{workers_,       roles_.asynchronous, roles_.staleness,
                      position_.step, plan_.schedule,      plan_.rule};
    server_.emplace(std::move(server), shard, plan_rates(net_, plan_.rule), cut(whole_.parameters),
                    std::move(state));
  }

  void open_engine(const EngineFactory& make_engine) {
    engine_ = make_engine(net_, shares_.local_batch(), whole_.parameters, gradients_);
    std::copy(whole_.layer_state.begin(), whole_.layer_state.end(), engine_->state().begin());
    evaluation_.emplace(data_, shares_, *engine_, ranks_, LoaderOptions{plan_.data_threads, nullptr});
    feed_.emplace(
        data_, shares_,
        FeedPlan{plan_.seed, plan_.schedule.total_steps, 1, LoaderOptions{plan_.data_threads, nullptr}},
        position_);
  }

  void run_epoch(TrainSummary& summary) {
    const auto start = ServerClock::now();
    const std::size_t left = shares_.steps_per_epoch() - position_.step_in_epoch;
    const std::size_t until = std::min(position_.step + left, plan_.schedule.total_steps);
    std::size_t done = position_.step;
    if (is_server()) {
      serve_until(until, server_index() == 0, *server_, parcels_);
      done = server_->done();
    } else {
      done = work_until(until, summary);
    }
    const double seconds = seconds_from(start);
    summary.train_seconds += seconds;
    meet(done);
    end_epoch(summary, seconds, done < until);
  }

  // A worker's steps; how many are done when it stops.
  std::size_t work_until(std::size_t until, TrainSummary& summary) {
    std::size_t done = position_.step;
    while (done < until) {
      const StepRecord record = work(done, until);
      summary.comm_seconds += record.comm_seconds;
      summary.input_seconds += record.input_seconds;
      summary.compute_seconds += record.compute_seconds;
      observer_.on_step(record);
      done += 1;
    }
    return done;
  }

  // `until` falls when the servers say that all stop.
  StepRecord work(std::size_t done, std::size_t& until) {
    const auto start = ServerClock::now();
    StepRecord record{done + 1, position_.epoch, 0.0, learning_rate(plan_.schedule, done)};
    const LoadedBatch batch = feed_->next();
    record.input_seconds = batch.waited_seconds;
    engine_->start_step({plan_.seed, done, rank_});
    const std::size_t images = roles_.asynchronous ? shares_.local_batch() : plan_.global_batch;
    const LossSum sum = engine_->train_batch(batch.images, batch.labels,
                                             static_cast<float>(1.0 / static_cast<double>(images)));
    if (!std::isfinite(sum.loss) || !all_finite(gradients_)) refuse_mine(done);
    record.compute_seconds = seconds_from(start) - record.input_seconds;
    const auto before = ServerClock::now();
    exchange(done, until);
    record.comm_seconds = seconds_from(before);
    record.loss = sum.loss / static_cast<double>(shares_.local_batch());
    loss_sum_ += sum.loss;
    correct_sum_ += static_cast<double>(sum.correct);
    record.step_seconds = seconds_from(start);
    return record;
  }

  void exchange(std::size_t done, std::size_t& until) {
    std::vector<std::span<const float>> pushed;
    std::vector<std::span<float>> pulled;
    for (const Range& shard : shards_) {
      pushed.push_back(std::span(gradients_).subspan(shard.begin, shard.end - shard.begin));
      pulled.push_back(std::span(whole_.parameters).subspan(shard.begin, shard.end - shard.begin));
    }
    ParcelNote note;
    note.step = done;
    note.stops_at = stops_at_;
    note.wants_stop = saver_.stop_wanted() ? 1 : 0;
    for (const ParcelNote& answer : parcels_.exchange(server_ranks_, note, pushed, pulled)) {
      if (answer.stops_at == 0) continue;
      stops_at_ = answer.stops_at;
      until = std::min<std::size_t>(until, stops_at_);
    }
  }

  [[noreturn]] void refuse_mine(std::size_t done) const {
    throw Error(
        ErrorKind::request,
        {fmt::format("the loss or a gradient is not finite (NaN or infinite) in step {} of {}", done + 1,
                     plan_.schedule.total_steps),
         rank_name(ranks_), fmt::format("--lr {:.3g} --warmup-steps 100", plan_.schedule.peak / 10.0)});
  }

  // The servers' shards become everybody's weights, and the workers' totals everybody's.
  void meet(std::size_t done) {
    gather_shards(whole_.parameters, server_ ? server_->weights() : std::span<const float>{});
    for (std::size_t i = 0; i < whole_.rule_state.size(); ++i)
      gather_shards(whole_.rule_state[i],
                    server_ ? std::span<const float>(server_->state()[i]) : std::span<const float>{});
    average_layer_state();
    // Counts above 2^24 would lose units as one float.
    const auto correct = static_cast<std::uint64_t>(correct_sum_);
    const float mine[3] = {static_cast<float>(loss_sum_), static_cast<float>(correct >> 12U),
                           static_cast<float>(correct & 0xfffU)};
    float all[3] = {};
    ranks_.all_reduce_sum(mine, all);
    position_.loss_sum += static_cast<double>(all[0]) / static_cast<double>(plan_.global_batch);
    position_.correct_sum += 4096.0 * static_cast<double>(all[1]) + static_cast<double>(all[2]);
    loss_sum_ = correct_sum_ = 0.0;
    position_.step_in_epoch += done - position_.step;
    position_.step = done;
  }

  void gather_shards(std::vector<float>& whole, std::span<const float> mine) {
    std::fill(whole.begin(), whole.end(), 0.0F);
    if (server_)
      std::copy(mine.begin(), mine.end(),
                whole.begin() + static_cast<std::ptrdiff_t>(shards_[server_index()].begin));
    ranks_.all_reduce_sum(std::span<float>(whole));
  }

  void average_layer_state() {
    if (net_.state_count == 0) return;
    if (is_server()) {
      std::fill(whole_.layer_state.begin(), whole_.layer_state.end(), 0.0F);
    } else {
      std::copy(engine_->state().begin(), engine_->state().end(), whole_.layer_state.begin());
    }
    ranks_.all_reduce_sum(std::span<float>(whole_.layer_state));
    for (float& value : whole_.layer_state) value /= static_cast<float>(workers_);
    if (engine_) std::copy(whole_.layer_state.begin(), whole_.layer_state.end(), engine_->state().begin());
  }

  void end_epoch(TrainSummary& summary, double seconds, bool stopped) {
    const StepPlace place{position_.step, plan_.schedule};
    if (!all_finite(whole_.parameters)) refuse_weights(place);
    const bool end = position_.step == plan_.schedule.total_steps;
    if (stopped) {
      summary.stopped = true;
      save(SaveReason::stop);
      return;
    }
    const auto steps = static_cast<double>(std::max<std::size_t>(position_.step_in_epoch, 1));
    EpochRecord record{position_.epoch,
                       position_.step_in_epoch,
                       position_.loss_sum / steps,
                       position_.correct_sum / (steps * static_cast<double>(plan_.global_batch)),
                       0.0,
                       0.0,
                       seconds};
    const TestResult result =
        evaluation_ ? evaluation_->run(saver_.stop_wanted()) : Evaluation::watch(ranks_, shares_);
    record.test_loss = result.loss;
    record.test_accuracy = result.accuracy;
    check_weights();
    position_.last = record;
    position_.tested_step = position_.step;
    observer_.on_epoch(record);
    if (position_.step_in_epoch == shares_.steps_per_epoch()) {
      position_.epoch += 1;
      position_.step_in_epoch = 0;
      position_.loss_sum = position_.correct_sum = 0.0;
    }
    summary.stopped = result.stop && !end;
    if (end || summary.stopped || saver_.due(position_, true))
      save(end ? SaveReason::end : summary.stopped ? SaveReason::stop : SaveReason::due);
  }

  void save(SaveReason reason) {
    const std::vector<std::span<const float>> state(whole_.rule_state.begin(), whole_.rule_state.end());
    saver_.save({position_, whole_.parameters, state, whole_.layer_state}, reason);
  }

  std::uint64_t check_weights() {
    const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(whole_.parameters)));
    require_equal(ranks_, fmt::format("{:016x}", hash), ErrorKind::internal,
                  fmt::format("the weights differ between ranks after step {}", position_.step),
                  "report it with the command line and the MPI version");
    return hash;
  }

  // "2 servers, 3 workers, asynchronous: 1.9 updates of others between pull and push, 4 at most"
  std::string describe() {
    const std::string mine = server_ ? fmt::format("{} {} {}", server_->staleness().pushes,
                                                   server_->staleness().sum, server_->staleness().most)
                                     : "";
    std::uint64_t pushes = 0;
    std::uint64_t sum = 0;
    std::uint64_t most = 0;
    for (const std::string& one : ranks_.gather_all(mine)) {
      std::uint64_t p = 0;
      std::uint64_t s = 0;
      std::uint64_t m = 0;
      if (std::sscanf(one.c_str(), "%lu %lu %lu", &p, &s, &m) != 3) continue;
      pushes += p;
      sum += s;
      most = std::max(most, m);
    }
    const std::string who = fmt::format("{} server(s), {} worker(s)", roles_.servers, workers_);
    if (!roles_.asynchronous) return who + ", synchronous";
    return fmt::format("{}, asynchronous: {:.2f} updates of others between pull and push, {} at most", who,
                       static_cast<double>(sum) / static_cast<double>(std::max<std::uint64_t>(pushes, 1)),
                       most);
  }

  TrainPlan plan_;
  ServerRoles roles_;
  const Net& net_;
  const Dataset& data_;
  Communicator& ranks_;
  Parcels& parcels_;
  TrainObserver& observer_;
  TrainSaver& saver_;
  std::size_t rank_;
  std::size_t workers_;
  Shares shares_;  // of the workers; a server sees the last one's
  TrainPosition position_;
  std::vector<int> server_ranks_;
  std::vector<Range> shards_;
  WholeVectors whole_;
  std::vector<float> gradients_;
  std::uint64_t stops_at_ = 0;
  double loss_sum_ = 0.0;  // of this rank, since all met
  double correct_sum_ = 0.0;
  std::optional<ShardServer> server_;
  std::unique_ptr<Engine> engine_;
  std::optional<Evaluation> evaluation_;
  std::optional<BatchFeed> feed_;
};

Error refuse_roles(std::string what, std::string hint) {
  return {ErrorKind::usage, {std::move(what), "command line", std::move(hint)}};
}

}  // namespace

void check_servers(const TrainPlan& plan, const ServerRoles& roles, std::size_t ranks) {
  if (roles.servers == 0 || roles.servers >= ranks) {
    throw refuse_roles(fmt::format("{} server(s) of {} rank(s) leave no worker", roles.servers, ranks),
                       fmt::format("--servers 1 with {} ranks or more", 2));
  }
  if (needs_norms(plan.rule))
    throw refuse_roles(
        fmt::format("{} looks at whole tensors, and a server has a part of them", name_of(plan.rule.kind)),
        "--optimizer sgd");
  if (plan.accumulate != 1)
    throw refuse_roles("a worker pushes each batch, so batches are not accumulated", "--accumulate 1");
  if (plan.test_every != 0)
    throw refuse_roles("with servers the test is made after each epoch, when all ranks meet",
                       "no --test-every");
}

TrainSummary train_with_servers(const TrainPlan& plan, const ServerRoles& roles, const Net& net,
                                const Dataset& data, Communicator& ranks, Parcels& parcels,
                                const EngineFactory& make_engine, TrainObserver& observer, TrainSaver& saver,
                                const TrainState* start) {
  return ServerTrainer(plan, roles, net, data, ranks, parcels, make_engine, observer, saver, start).run();
}

}  // namespace ddlrun::runtime
