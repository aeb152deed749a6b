// SPDX-License-Identifier: MIT
#include "runtime/app/run_setup.hpp"

#include "base/text/error.hpp"
#include "runtime/app/option_warnings.hpp"
#include "runtime/app/run_net.hpp"
#include "runtime/app/thread_count.hpp"
#include "runtime/checkpoint/saved_model.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/open_images.hpp"
#include "runtime/data/synthetic.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/telemetry/layers_record_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace ddlrun::runtime {
namespace {

TrainPlan make_plan(const TrainOptions& options, const BatchPlan& batch) {
  TrainPlan plan;
  plan.epochs = options.epochs;
  plan.max_steps = options.max_steps;
  plan.global_batch = batch.global_batch;
  plan.accumulate = options.gradient_accumulation;
  plan.data_threads = options.data_threads;
  plan.test_every = options.test_every;
  plan.schedule = make_schedule(options, batch.lr_factor);
  plan.optimizer = make_optimizer(options);
  plan.overlap = options.overlap;
  plan.bucket_bytes = options.bucket_kb * 1024;
  plan.placement = options.optimizer_placement;
  plan.seed = options.seed;
  return plan;
}

// --max-steps without --epochs: no epoch ends the run before.
std::size_t exact_steps(const TrainOptions& options) {
  return options.max_steps != 0 && !options.given.contains("--epochs") ? options.max_steps
                                                                       : options.total_steps;
}

// Training images in files of the user's own, which all ranks share.
std::optional<std::size_t> count_own_images(const TrainOptions& options, const Dataset& data) {
  if (data.kind != name_of(DataKind::directories) && data.kind != name_of(DataKind::list))
    return std::nullopt;
  if (data.subsets || !options.solver.empty()) return std::nullopt;
  return data.train_images->count();
}

// Why these images: an option that a Caffe file gave was not typed.
std::string explain_data(const CaffeCommand& caffe, const std::string& reason, const Dataset& data) {
  const std::vector<std::string>& given = caffe.line.from_files;
  const bool from_file = std::find(given.begin(), given.end(), "--data") != given.end();
  return from_file ? "source in the net's file, " + data.kind : reason;
}

std::optional<ServerRoles> plan_roles(const TrainOptions& options) {
  if (options.parameter_servers == 0) return std::nullopt;
  return ServerRoles{options.parameter_servers, options.asynchronous, options.staleness.value_or(SIZE_MAX)};
}

RunFacts make_facts(const TrainOptions& options, const RunSetup& prepared, const std::string& data_reason,
                    const ThreadChoice& threads, const Communicator& communicator) {
  const int ranks = communicator.size();
  const Dataset& data = prepared.data;
  const TrainPlan& plan = prepared.plan;
  const std::size_t workers = static_cast<std::size_t>(ranks) - options.parameter_servers;
  const DataShard shard = make_shard(data, plan.global_batch, 0, 0, workers);
  RunFacts facts;
  facts.version = DDLRUN_VERSION;
  facts.net = prepared.net.name;
  facts.parameters = prepared.net.parameter_count;
  facts.data = data.directory;
  facts.data_reason = data_reason;
  facts.train_images = shard.train_images();
  facts.test_images = shard.test_images();
  facts.height = data.input().height;
  facts.width = data.input().width;
  facts.classes = data.classes;
  facts.ranks = ranks;
  facts.local_size = communicator.local_size();
  facts.servers = static_cast<int>(options.parameter_servers);
  facts.asynchronous = options.asynchronous;
  facts.threads = threads.threads;
  facts.threads_reason = threads.reason;
  facts.global_batch = plan.global_batch;
  facts.local_batch = plan.global_batch / workers;
  facts.epochs = plan.epochs;
  facts.total_steps = total_steps(plan, shard.train_images());
  facts.dropped_per_epoch = shard.dropped_images();
  facts.lr = prepared.lr;
  facts.lr_peak = plan.schedule.peak;
  facts.lr_decay = name_of(plan.schedule.decay);
  facts.warmup_steps = plan.schedule.warmup_steps;
  facts.momentum = options.momentum;
  facts.weight_decay = options.weight_decay;
  facts.seed = options.seed;
  facts.device = prepared.device.name;
  facts.engine = prepared.device.engine;
  if (options.parameter_servers == 0)
    facts.layers_record = render_layers_record(prepared.net, plan, prepared.device.name == "cpu");
  return facts;
}

// What all ranks must have alike: steps and batches that differ would meet in the wrong collective.
std::string render_shared_options(const TrainOptions& options, const RunFacts& facts) {
  std::string text = fmt::format(
      "--net {} --global-batch {} --epochs {} --lr {:.6g} ({}, {} warm-up steps) --momentum {:.6g} "
      "--weight-decay {:.6g} --seed {}",
      facts.net, facts.global_batch, facts.epochs, facts.lr_peak, facts.lr_decay, facts.warmup_steps,
      facts.momentum, facts.weight_decay, facts.seed);
  text += fmt::format(
      " --optimizer {} --gradient-accumulation {} --test-every {} --overlap {} --bucket-kb {} "
      "--optimizer-placement {}",
      render_optimizer(make_optimizer(options)), options.gradient_accumulation, options.test_every,
      static_cast<int>(options.overlap), options.bucket_kb, static_cast<int>(options.optimizer_placement));
  if (options.parameter_servers != 0) {
    text += fmt::format(" --async {} --staleness {}", options.asynchronous ? "yes" : "no",
                        options.staleness ? std::to_string(*options.staleness) : "any");
  }
  if (!options.checkpoint.empty())
    text +=
        fmt::format(" --checkpoint {} --checkpoint-every {}", options.checkpoint, options.checkpoint_steps);
  return options.resume ? text + " --resume " + options.resume_from : text;
}

// A checkpoint is also tested from another working directory.
std::string place_from_everywhere(const std::string& path) {
  return path.empty() || is_synthetic(path) ? path
                                            : std::filesystem::absolute(path).lexically_normal().string();
}

RunIdentity make_identity(const RunSetup& prepared, const DataRequest& request, int ranks) {
  RunIdentity identity;
  identity.program = fmt::format("ddl-train {}", DDLRUN_VERSION);
  identity.net_hash = fingerprint(prepared.net);
  identity.images = prepared.facts.train_images;
  identity.data_hash = fingerprint(prepared.data);
  identity.ranks = ranks;
  const char* dims = std::getenv("DDL_OPTIONS");  // NOLINT(concurrency-mt-unsafe): no thread of ours runs yet
  identity.dims = dims == nullptr ? "" : dims;
  identity.servers = prepared.facts.servers;
  identity.model = render_model(prepared.net, prepared.data, request);
  identity.model["test_data"] = place_from_everywhere(prepared.data.test_path);
  identity.model["test_root"] = place_from_everywhere(prepared.data.test_root);
  return identity;
}

RunContext measure(const RunSetup& prepared, const CaffeCommand& caffe) {
  RunContext run;
  run.data_kind = prepared.data.kind;
  run.total_steps = prepared.facts.total_steps;
  run.processors = count_processors();
  run.outputs = prepared.net.classes;
  run.classes = prepared.data.classes;
  run.last_layer = prepared.net.layers.back().layer.location;
  run.caffe_net = caffe.run.net.has_value();
  run.from_files = caffe.line.from_files;
  return run;
}

// Who does what: before anything else, for the rest is planned for the workers.
void prepare_roles(const TrainOptions& options, Communicator& ranks, RunSetup& prepared) {
  const auto size = static_cast<std::size_t>(ranks.size());
  require_equal(ranks,
                fmt::format("--parameter-servers {} --device {}", options.parameter_servers, options.device),
                ErrorKind::usage, "the ranks were started with different options",
                "the same ddl-train command on every rank");
  prepared.roles = plan_roles(options);
  run_collectively(ranks, [&] {
    if (prepared.roles) check_roles(*prepared.roles, size);
  });
  prepared.device = choose_device(options, size - options.parameter_servers, ranks);
}

}  // namespace

RunSetup set_up_run(const TrainOptions& options, const CaffeCommand& caffe, Communicator& ranks) {
  RunSetup prepared;
  prepare_roles(options, ranks, prepared);
  const ThreadChoice threads = choose_threads(options.threads, ranks);
  set_cpu_threads(threads.threads);
  DataRequest request = options.images;
  request.train = options.data;
  OpenedImages images = open_images(std::move(request), ranks);
  prepared.data = std::move(images.data);
  const Dataset& data = prepared.data;
  run_collectively(ranks, [&] {
    const auto size = static_cast<std::size_t>(ranks.size());
    const std::size_t workers = size - options.parameter_servers;
    const bool encoded = count_own_images(options, data).has_value();
    prepared.net = load_run_net(options, caffe, data.directory, encoded, data.input(), data.classes);
    const BatchPlan batch = plan_batch(options, workers, count_own_images(options, data));
    prepared.batch_choice = batch.choice;
    prepared.lr = batch.lr;
    prepared.plan = make_plan(options, batch);
    if (prepared.roles) check_servers(prepared.plan, *prepared.roles, size);
    prepared.plan.steps_per_epoch =
        make_shard(data, prepared.plan.global_batch, options.seed, 0, workers).steps_per_epoch();
    set_total_steps(prepared.plan, exact_steps(options));
    check_accumulation(prepared.plan, workers);
  });
  const Net& net = prepared.net;
  require_equal(
      ranks, fmt::format("{}, {} parameters, hash {:016x}", net.name, net.parameter_count, fingerprint(net)),
      ErrorKind::request, "the nets of the ranks differ", "--net FILE with a file on a shared file system");
  prepared.facts = make_facts(options, prepared, explain_data(caffe, images.reason, data), threads, ranks);
  prepared.identity = make_identity(prepared, options.images, ranks.size());
  prepared.notes = find_option_warnings(options, measure(prepared, caffe));
  require_equal(ranks, render_shared_options(options, prepared.facts), ErrorKind::usage,
                "the ranks were started with different options", "the same ddl-train command on every rank");
  return prepared;
}

}  // namespace ddlrun::runtime
