// SPDX-License-Identifier: MIT
#include "runtime/train_command.hpp"

#include "base/error.hpp"
#include "runtime/affinity.hpp"
#include "runtime/cpu_engine.hpp"
#include "runtime/mpi_session.hpp"
#include "runtime/progress.hpp"
#include "runtime/sharding.hpp"
#include "runtime/train_options.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

namespace ddlrun::runtime {
namespace {

constexpr const char* program_name = "ddl-train";

void check_device(const TrainOptions& options) {
  if (options.device == "cpu") return;
  throw Error(ErrorKind::request,
              {"this version of ddl-train trains on CPUs only; training with CUDA arrives in a later one",
               "--device " + options.device, "ddl-train --device cpu"});
}

// What this rank found; the same on all ranks once prepare() has compared it.
struct Prepared {
  Dataset data;
  Net net;
  TrainPlan plan;
  RunFacts facts;
};

TrainPlan make_plan(const TrainOptions& options, const BatchPlan& batch) {
  TrainPlan plan;
  plan.epochs = options.epochs;
  plan.max_steps = options.max_steps;
  plan.global_batch = batch.global_batch;
  plan.schedule = {options.lr * batch.lr_factor, options.warmup_steps, 0, options.lr_decay};
  plan.rule = {static_cast<float>(options.momentum), static_cast<float>(options.weight_decay)};
  plan.seed = options.seed;
  return plan;
}

RunFacts make_facts(const TrainOptions& options, const Prepared& prepared, const DataPlace& place,
                    const ThreadChoice& threads, int ranks) {
  const Dataset& data = prepared.data;
  const TrainPlan& plan = prepared.plan;
  RunFacts facts;
  facts.version = DDLRUN_VERSION;
  facts.net = prepared.net.name;
  facts.parameters = prepared.net.parameter_count;
  facts.data = data.directory;
  facts.data_reason = place.reason;
  facts.train_images = data.train.count();
  facts.test_images = data.test.count();
  facts.height = data.train.shape.height;
  facts.width = data.train.shape.width;
  facts.classes = data.classes;
  facts.ranks = ranks;
  facts.threads = threads.threads;
  facts.threads_reason = threads.reason;
  facts.global_batch = plan.global_batch;
  facts.local_batch = plan.global_batch / static_cast<std::size_t>(ranks);
  facts.epochs = plan.epochs;
  facts.total_steps = total_steps(plan, data.train.count());
  facts.dropped_per_epoch = data.train.count() % plan.global_batch;
  facts.lr = options.lr;
  facts.lr_peak = plan.schedule.peak;
  facts.lr_decay = name_of(plan.schedule.decay);
  facts.warmup_steps = plan.schedule.warmup_steps;
  facts.momentum = options.momentum;
  facts.weight_decay = options.weight_decay;
  facts.seed = options.seed;
  facts.device = options.device;
  facts.engine = "oneDNN " + cpu_library_version();
  return facts;
}

// What all ranks must have alike: steps and batches that differ would meet in the wrong collective.
std::string render_shared_options(const RunFacts& facts) {
  return fmt::format(
      "--net {} --global-batch {} --epochs {} --lr {:.6g} ({}, {} warm-up steps) --momentum {:.6g} "
      "--weight-decay {:.6g} --seed {}",
      facts.net, facts.global_batch, facts.epochs, facts.lr_peak, facts.lr_decay, facts.warmup_steps,
      facts.momentum, facts.weight_decay, facts.seed);
}

Prepared prepare(const TrainOptions& options, Communicator& ranks) {
  const ThreadChoice threads = choose_threads(options.threads, ranks);
  set_cpu_threads(threads.threads);
  Prepared prepared;
  DataPlace place;
  run_agreed(ranks, [&] {
    const auto size = static_cast<std::size_t>(ranks.size());
    place = find_data(options.data);
    prepared.data = load_dataset(place.directory);
    prepared.net = build_net(options.net, prepared.data.train.shape, prepared.data.classes);
    prepared.plan = make_plan(options, plan_batch(options, size));
    local_batch(prepared.plan.global_batch, size, prepared.data.train.count());
  });
  const Dataset& data = prepared.data;
  require_equal(
      ranks,
      fmt::format("{} + {} images, hash {:016x}", data.train.count(), data.test.count(), fingerprint(data)),
      ErrorKind::request, "the ranks read different images",
      "--data DIR with a directory that all hosts share");
  prepared.facts = make_facts(options, prepared, place, threads, ranks.size());
  require_equal(ranks, render_shared_options(prepared.facts), ErrorKind::usage,
                "the ranks were started with different options", "the same ddl-train command on every rank");
  return prepared;
}

void tell_start(const RunFacts& facts) {
  fmt::print(stderr, "data: {} ({}), {} + {} images of {}x{}, {} classes\n", facts.data, facts.data_reason,
             render_thousands(static_cast<double>(facts.train_images)),
             render_thousands(static_cast<double>(facts.test_images)), facts.height, facts.width,
             facts.classes);
  fmt::print(stderr, "net: {}, {} parameters; {}, {} rank(s) x {} thread(s) ({})\n", facts.net,
             render_thousands(static_cast<double>(facts.parameters)), facts.engine, facts.ranks,
             facts.threads, facts.threads_reason);
  fmt::print(
      stderr,
      "batch: {} = {} rank(s) x {}; learning rate {:.6g} ({}); {} steps, {} images left out per epoch\n",
      facts.global_batch, facts.ranks, facts.local_batch, facts.lr_peak,
      facts.lr_peak == facts.lr ? "--lr" : fmt::format("--lr {:.6g} scaled", facts.lr), facts.total_steps,
      facts.dropped_per_epoch);
}

void tell_end(const TrainOptions& options, const RunFacts& facts, const TrainSummary& summary) {
  if (!options.quiet) {
    fmt::print(
        stderr,
        "done: {:.2f} % of the test images right after {} steps; {} images/s; weights equal on {} rank(s)\n",
        100.0 * summary.last.test_accuracy, summary.steps, render_thousands(summary.images_per_second),
        facts.ranks);
  }
  fmt::print("{}\n",
             options.json ? render_summary_json(facts, summary, false) : render_summary_line(facts, summary));
  if (std::fflush(stdout) != 0) {
    throw Error(ErrorKind::request,
                {"the summary could not be written", "stdout", "ddl-train > FILE on a disk with room"});
  }
}

void train_on(const TrainOptions& options, Communicator& ranks) {
  const Prepared prepared = prepare(options, ranks);
  std::optional<MetricsFile> metrics;
  run_agreed(ranks, [&] { metrics.emplace(ranks.rank() == 0 ? options.metrics : ""); });
  TrainObserver silent;
  if (ranks.rank() != 0) {
    train(prepared.plan, prepared.net, prepared.data, ranks, make_cpu_engine, silent);
    return;
  }
  metrics->write(render_config_record(prepared.facts));
  if (!options.quiet) tell_start(prepared.facts);
  Reporter reporter(prepared.facts, *metrics, options.quiet);
  const TrainSummary summary =
      train(prepared.plan, prepared.net, prepared.data, ranks, make_cpu_engine, reporter);
  metrics->write(render_summary_json(prepared.facts, summary, true));
  metrics->flush();
  tell_end(options, prepared.facts, summary);
}

}  // namespace

int run_train_command(const std::vector<std::string>& words) {
  TrainOptions options;
  std::optional<Error> mistake;
  try {
    options = parse_train_options(words);
    if (options.help || options.version) {
      if (launched_rank().value_or(0) == 0)
        fmt::print("{}", options.help ? render_train_help() : fmt::format("ddl-train {}\n", DDLRUN_VERSION));
      return 0;
    }
    check_device(options);
  } catch (const Error& error) {
    mistake = error;
  }
  return run_mpi_session(program_name, mistake, [&](Communicator& ranks) { train_on(options, ranks); });
}

}  // namespace ddlrun::runtime
