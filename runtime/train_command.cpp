// SPDX-License-Identifier: MIT
#include "runtime/train_command.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/affinity.hpp"
#include "runtime/caffe/caffe_words.hpp"
#include "runtime/data/open_images.hpp"
#include "runtime/engine/cpu_engine.hpp"
#include "runtime/nets/net_files.hpp"
#include "runtime/ranks/mpi_session.hpp"
#include "runtime/saving/checkpoint_saver.hpp"
#include "runtime/saving/stop_signal.hpp"
#include "runtime/seeing/watchers.hpp"
#include "runtime/train_options.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

namespace ddlrun::runtime {
namespace {

constexpr const char* train_name = "ddl-train";
constexpr int exit_stopped = 75;  // EX_TEMPFAIL: saved; the same command with --resume goes on

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
  RunIdentity identity;
};

TrainPlan make_plan(const TrainOptions& options, const BatchPlan& batch) {
  TrainPlan plan;
  plan.epochs = options.epochs;
  plan.max_steps = options.max_steps;
  plan.global_batch = batch.global_batch;
  plan.accumulate = options.accumulate;
  plan.data_threads = options.data_threads;
  plan.test_every = options.test_every;
  plan.schedule = make_schedule(options, batch.lr_factor);
  plan.rule = make_rule(options);
  plan.overlap = options.overlap;
  plan.bucket_bytes = options.bucket_kb * 1024;
  plan.update = options.update;
  plan.seed = options.seed;
  return plan;
}

RunFacts make_facts(const TrainOptions& options, const Prepared& prepared, const std::string& data_reason,
                    const ThreadChoice& threads, int ranks) {
  const Dataset& data = prepared.data;
  const Shares shares = share_out(data, prepared.plan.global_batch, 0, 0, static_cast<std::size_t>(ranks));
  const TrainPlan& plan = prepared.plan;
  RunFacts facts;
  facts.version = DDLRUN_VERSION;
  facts.net = prepared.net.name;
  facts.parameters = prepared.net.parameter_count;
  facts.data = data.directory;
  facts.data_reason = data_reason;
  facts.train_images = shares.train_images();
  facts.test_images = shares.test_images();
  facts.height = data.input().height;
  facts.width = data.input().width;
  facts.classes = data.classes;
  facts.ranks = ranks;
  facts.threads = threads.threads;
  facts.threads_reason = threads.reason;
  facts.global_batch = plan.global_batch;
  facts.local_batch = plan.global_batch / static_cast<std::size_t>(ranks);
  facts.epochs = plan.epochs;
  facts.total_steps = total_steps(plan, shares.train_images());
  facts.dropped_per_epoch = shares.left_out();
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
std::string render_shared_options(const TrainOptions& options, const RunFacts& facts) {
  std::string text = fmt::format(
      "--net {} --global-batch {} --epochs {} --lr {:.6g} ({}, {} warm-up steps) --momentum {:.6g} "
      "--weight-decay {:.6g} --seed {}",
      facts.net, facts.global_batch, facts.epochs, facts.lr_peak, facts.lr_decay, facts.warmup_steps,
      facts.momentum, facts.weight_decay, facts.seed);
  text += fmt::format(" --optimizer {} --accumulate {} --test-every {} --overlap {} --bucket-kb {} --update {}",
                      render_rule(make_rule(options)), options.accumulate, options.test_every,
                      static_cast<int>(options.overlap), options.bucket_kb, static_cast<int>(options.update));
  if (!options.checkpoint.empty())
    text +=
        fmt::format(" --checkpoint {} --checkpoint-every {}", options.checkpoint, options.checkpoint_steps);
  return options.resume ? text + " --resume " + options.resume_from : text;
}

RunIdentity make_identity(const Prepared& prepared, int ranks) {
  RunIdentity identity;
  identity.program = fmt::format("{} {}", train_name, DDLRUN_VERSION);
  identity.net_hash = fingerprint(prepared.net);
  identity.images = prepared.facts.train_images;
  identity.data_hash = fingerprint(prepared.data);
  identity.ranks = ranks;
  const char* dims = std::getenv("DDL_OPTIONS");  // NOLINT(concurrency-mt-unsafe): no thread of ours runs yet
  identity.dims = dims == nullptr ? "" : dims;
  return identity;
}

Prepared prepare(const TrainOptions& options, const CaffeCommand& caffe, Communicator& ranks) {
  const ThreadChoice threads = choose_threads(options.threads, ranks);
  set_cpu_threads(threads.threads);
  Prepared prepared;
  DataRequest request = options.images;
  request.train = options.data;
  OpenedImages images = open_images(std::move(request), ranks);
  prepared.data = std::move(images.data);
  const Dataset& data = prepared.data;
  run_agreed(ranks, [&] {
    const auto size = static_cast<std::size_t>(ranks.size());
    prepared.net = caffe.run.net ? plan_caffe_net(*caffe.run.net, data.input(), data.classes)
                                 : load_net(options.net, data.input(), data.classes);
    prepared.plan = make_plan(options, plan_batch(options, size));
    prepared.plan.steps_per_epoch =
        share_out(data, prepared.plan.global_batch, options.seed, 0, size).steps_per_epoch();
    take_exact_steps(prepared.plan, options.exact_steps);
    check_accumulation(prepared.plan, size);
  });
  const Net& net = prepared.net;
  require_equal(
      ranks, fmt::format("{}, {} parameters, hash {:016x}", net.name, net.parameter_count, fingerprint(net)),
      ErrorKind::request, "the ranks read different nets", "--net FILE with a file that all hosts share");
  prepared.facts = make_facts(options, prepared, images.reason, threads, ranks.size());
  prepared.identity = make_identity(prepared, ranks.size());
  require_equal(ranks, render_shared_options(options, prepared.facts), ErrorKind::usage,
                "the ranks were started with different options", "the same ddl-train command on every rank");
  return prepared;
}

// What a step is, where a plain one would not be understood from the line before.
void tell_learning(const TrainOptions& options, const TrainPlan& plan) {
  if (plan.rule.kind != UpdateKind::sgd || plan.accumulate > 1) {
    fmt::print(stderr, "learning: {}, {} micro-batch(es) a step, rate {}\n", render_rule(plan.rule), plan.accumulate,
               render_decay(plan.schedule));
  }
  if (options.lms_kb) {
    fmt::print(stderr, "lms: activations of any size are in host memory already, with --device cpu\n");
  }
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

// Collective.
std::optional<Resumption> find_resumption(const TrainOptions& options, const Prepared& prepared,
                                          const CheckpointDisk& disk, Communicator& ranks) {
  if (!options.resume) return std::nullopt;
  auto start = resume_run(options.resume_from, prepared.net, prepared.plan, prepared.identity, disk, ranks);
  // A job that is started again by the same command finds none at its first start.
  if (start || options.resume_from == options.checkpoint) return start;
  throw AgreedError(ErrorKind::request,
                    {"there is no checkpoint to go on from", "--resume " + printable(options.resume_from),
                     "--checkpoint DIR --resume   # a new run if the folder has none yet"});
}

void tell_resumption(const TrainOptions& options, const RunFacts& facts,
                     const std::optional<Resumption>& start) {
  if (!options.resume) return;
  if (!start) {
    if (!options.quiet)
      fmt::print(stderr, "resume: no checkpoint in {} yet, a new run\n", printable(options.resume_from));
    return;
  }
  for (const std::string& why : start->passed_over) {
    fmt::print(stderr, "{}",
               render_message(
                   train_name, "warning",
                   {"a newer checkpoint is passed over", why, "ls -l " + quote_shell(options.resume_from)}));
  }
  if (options.quiet) return;
  fmt::print(stderr, "resume: {}, step {} of {}\n", printable(start->path), start->state.position.step,
             facts.total_steps);
  for (const std::string& one : start->differences) fmt::print(stderr, "resume: other {}\n", one);
}

void tell_stop(const TrainOptions& options, const TrainSummary& summary) {
  fmt::print(stderr, "{}",
             render_message(train_name, "note",
                            {fmt::format("stopped by {} after step {} of {}, and saved", StopSignals::name(),
                                         summary.steps, summary.total_steps),
                             printable(join_path(options.checkpoint, checkpoint_name(summary.steps))),
                             "the same command with --resume"}));
}

// Collective. Returns whether a signal stopped it.
bool train_on(const TrainOptions& options, const CaffeCommand& caffe, Communicator& ranks, StallReport& stalls) {
  const Prepared prepared = prepare(options, caffe, ranks);
  const std::unique_ptr<CheckpointDisk> disk = make_posix_disk();
  const std::optional<Resumption> start = find_resumption(options, prepared, *disk, ranks);
  const bool first = ranks.rank() == 0;
  Watchers watchers({options.metrics, options.tensorboard, options.timeline, options.results, options.quiet,
                     start.has_value()},
                    prepared.facts, ranks, options.stall_seconds > 0.0 ? &stalls : nullptr);
  std::optional<TrainTrace> trace;
  if (watchers.sink() != nullptr) trace = make_train_trace(*watchers.sink(), prepared.net);
  TrainSaver none;
  std::optional<CheckpointSaver> saver;
  if (!options.checkpoint.empty()) {
    const CheckpointPlan plan{options.checkpoint, options.checkpoint_steps, options.keep};
    saver.emplace(plan, prepared.net, prepared.plan, prepared.identity, *disk, ranks, watchers.observer(),
                  StopSignals::wanted);
  }
  if (first) {
    if (!options.quiet) fmt::print(stderr, "{}", render_caffe(caffe, train_name, prepared.facts.test_images));
    if (!options.quiet) tell_start(prepared.facts);
    if (!options.quiet) tell_learning(options, prepared.plan);
    const std::string parts = render_parts(prepared.data);
    if (!options.quiet && !parts.empty()) fmt::print(stderr, "{}\n", parts);
    tell_resumption(options, prepared.facts, start);
  }
  const TrainSummary summary = watchers.run([&] {
    return train(prepared.plan, prepared.net, prepared.data, ranks, make_cpu_engine, watchers.observer(),
                 saver ? static_cast<TrainSaver&>(*saver) : none, start ? &start->state : nullptr,
                 trace ? &*trace : nullptr);
  });
  if (first && summary.stopped) {
    tell_stop(options, summary);
  } else if (first) {
    tell_end(options, watchers.facts(), summary);
  }
  return summary.stopped;
}

}  // namespace

int run_train_command(const std::vector<std::string>& words) {
  TrainOptions options;
  CaffeCommand caffe;
  std::optional<Error> mistake;
  std::optional<StopSignals> signals;
  bool stopped = false;
  try {
    caffe = read_caffe_command(words);
    options = parse_train_options(caffe.line.words);
    if (const auto root = find_list_root(caffe, options.data)) options.images.root = *root;
    // Horovod's wish for the same file; DYNAMIC is its word for another interface.
    const char* timeline = std::getenv("HOROVOD_TIMELINE");  // NOLINT(concurrency-mt-unsafe): no thread yet
    if (options.timeline.empty() && timeline != nullptr && std::string_view(timeline) != "DYNAMIC")
      options.timeline = timeline;
    if (options.help || options.version) {
      if (launched_rank().value_or(0) == 0)
        fmt::print("{}", options.help ? render_train_help() : fmt::format("ddl-train {}\n", DDLRUN_VERSION));
      return 0;
    }
    check_device(options);
    if (!options.checkpoint.empty()) signals.emplace();
  } catch (const Error& error) {
    mistake = error;
  }
  StallReport stalls(train_name);
  const int status = run_mpi_session(
      train_name, mistake, [&](Communicator& ranks) { stopped = train_on(options, caffe, ranks, stalls); },
      options.wire, stalls.watch(options.stall_seconds));
  return status == 0 && stopped ? exit_stopped : status;
}

}  // namespace ddlrun::runtime
