// SPDX-License-Identifier: MIT
#include "runtime/app/train_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/command_line.hpp"
#include "runtime/app/console_summary.hpp"
#include "runtime/app/run_setup.hpp"
#include "runtime/checkpoint/checkpoint_saver.hpp"
#include "runtime/checkpoint/stop_signal.hpp"
#include "runtime/checkpoint/unsaved_steps.hpp"
#include "runtime/comm/session.hpp"
#include "runtime/parameter_server/ddl_ps_transport.hpp"
#include "runtime/parameter_server/server_trainer.hpp"
#include "runtime/telemetry/observers.hpp"
#include "runtime/telemetry/telemetry_sinks.hpp"
#include "runtime/training/collapse.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>

namespace ddlrun::runtime {
namespace {

constexpr const char* train_name = "ddl-train";
constexpr int exit_stopped = 75;  // EX_TEMPFAIL: saved; the same command with --resume goes on

// Collective.
std::optional<ResumePoint> find_resumption(const TrainOptions& options, const RunSetup& prepared,
                                           CheckpointDisk& disk, Communicator& ranks) {
  if (!options.resume) return std::nullopt;
  auto start = resume_run(options.resume_from, prepared.net, prepared.plan, prepared.identity, disk, ranks);
  // A job that is started again by the same command finds none at its first start.
  if (start || options.resume_from == options.checkpoint) return start;
  throw CollectiveError(ErrorKind::request, {"there is no checkpoint here to resume from",
                                             "--resume " + printable(options.resume_from),
                                             "--resume DIR with checkpoints in it; or --checkpoint DIR "
                                             "--resume, which starts a new run where there is none"});
}

// Observer, saver, start state and trace of a run.
struct RunHooks {
  TrainObserver& observer;
  TrainSaver& saver;
  const TrainState* start;
  const TrainTrace* trace;
};

// Collective.
TrainSummary train_prepared(const RunSetup& prepared, Communicator& ranks, const RunHooks& ends,
                            const ddl::StallWatch& stall) {
  if (!prepared.roles) {
    GpuCommunicator* const gpu_communicator = prepared.device.gpu_communicator.get();
    return train(prepared.plan, prepared.net, prepared.data,
                 gpu_communicator == nullptr ? ranks : *gpu_communicator, prepared.device.make_engine,
                 ends.observer, ends.saver, ends.start, ends.trace);
  }
  PsTimeouts timeouts;
  if (const auto asked = requested_timeout()) timeouts.max_seconds = timeouts.silent_seconds = *asked;
  timeouts.stall = stall;
  const auto transport = make_ddl_ps_transport(ranks, prepared.net.parameter_count, timeouts);
  return train_with_servers(prepared.plan, *prepared.roles, prepared.net, prepared.data, ranks, *transport,
                            prepared.device.make_engine, ends.observer, ends.saver, ends.start, ends.trace);
}

// The default rate of the optimizer, where the typed one is far below it.
std::optional<double> much_larger_rate(const TrainOptions& options) {
  constexpr double far = 10.0;
  const double usual = default_rate(make_optimizer(options).kind);
  return options.lr && *options.lr * far < usual ? std::optional(usual) : std::nullopt;
}

// Warns once, after the first epoch that shows it.
class CollapseWarning : public TrainObserver {
 public:
  CollapseWarning(const Dataset& data, double lr, const TrainOptions& options)
      : checkpoint_(options.checkpoint) {
    if (const auto labels = measure_labels(*data.train_images))
      detector_.emplace(*labels, lr, options.clip == 0.0 && can_clip(options), much_larger_rate(options));
  }
  bool has_warned() const { return detector_ && detector_->has_reported(); }

  void on_step(const StepRecord& record) override {
    if (detector_) detector_->add(record);
  }

  void on_epoch(const EpochRecord& record) override {
    const auto collapse = detector_ ? detector_->add(record) : std::nullopt;
    if (!collapse) return;
    Message message = render_collapse(*collapse);
    if (collapse->best && !checkpoint_.empty())
      message.hint += fmt::format("   # {} keeps the weights of epoch {}",
                                  printable(join_path(checkpoint_, "best")), collapse->best->epoch);
    fmt::print(stderr, "{}", render_message(train_name, "warning", message));
  }

 private:
  std::optional<CollapseDetector> detector_;
  std::string checkpoint_;  // the directory, "" for none
};

// Runs the training, and prints on rank 0 what an error leaves unsaved.
TrainSummary run_reporting(const std::function<TrainSummary()>& run,
                           const std::optional<UnsavedSteps>& steps) {
  try {
    return run();
  } catch (...) {
    if (const auto unsaved = steps ? steps->describe() : std::nullopt)
      fmt::print(stderr, "{}", render_message(train_name, "note", *unsaved));
    throw;
  }
}

bool is_in(const std::string& file, const std::string& directory) {
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  return std::filesystem::equivalent(parent.empty() ? "." : parent, directory, ignored);
}

// Collective. Returns whether a signal stopped it.
bool train_on(const TrainOptions& options, const CaffeCommand& caffe, Communicator& ranks,
              StallInspector& stall_inspector) {
  TelemetryPlan telemetry_plan = plan_telemetry(options);
  run_collectively(ranks, [&] { check_outputs(telemetry_plan, ranks.rank() == 0); });
  const RunSetup prepared = set_up_run(options, caffe, ranks);
  const std::unique_ptr<CheckpointDisk> disk = make_posix_disk();
  // Before what is read, that it stays the newest.
  if (!options.checkpoint.empty()) lock_run_directory(options.checkpoint, *disk, ranks);
  const std::optional<ResumePoint> start = find_resumption(options, prepared, *disk, ranks);
  const bool first = ranks.rank() == 0;
  telemetry_plan.resumed = start.has_value();
  TelemetrySinks telemetry(telemetry_plan, prepared.facts, ranks,
                           options.stall_seconds > 0.0 ? &stall_inspector : nullptr);
  std::optional<TrainTrace> trace;
  if (telemetry.sink() != nullptr) trace = make_train_trace(*telemetry.sink(), prepared.net);
  TrainSaver none;
  std::optional<CheckpointSaver> saver;
  std::optional<UnsavedSteps> unsaved;
  ObserverFanout observers;
  observers.add(telemetry.observer());
  if (!options.checkpoint.empty()) {
    const bool continues = first && start && is_in(start->path, options.checkpoint);
    const CheckpointPlan plan{options.checkpoint,
                              options.checkpoint_steps,
                              options.keep_checkpoints,
                              continues,
                              continues ? start->damaged : std::vector<std::size_t>{},
                              resume_command(options)};
    if (first && !continues) warn_other_run(options.checkpoint, newest_step(*disk, options.checkpoint));
    if (first) observers.add(unsaved.emplace(options.checkpoint, plan.resume_command));
    saver.emplace(plan, prepared.net, prepared.plan, prepared.identity, *disk, ranks, observers,
                  StopSignals::wanted);
  }
  if (first) print_start(options, caffe, prepared, start);
  std::optional<CollapseWarning> collapse;
  if (first) {
    collapse.emplace(prepared.data, prepared.facts.lr, options);
    observers.add(*collapse);
  }
  const RunHooks ends{observers, saver ? static_cast<TrainSaver&>(*saver) : none,
                      start ? &start->state : nullptr, trace ? &*trace : nullptr};
  const auto train_all = [&] {
    return train_prepared(prepared, ranks, ends, stall_inspector.watch(options.stall_seconds));
  };
  const TrainSummary summary = run_reporting([&] { return telemetry.run(train_all); }, unsaved);
  if (first && summary.stopped) {
    print_stop(options, summary);
  } else if (first) {
    const bool saved = telemetry.has_written() && (!saver || saver->has_saved());
    print_end(options, telemetry.facts(), summary, saved);
    if (!collapse->has_warned()) warn_guessing(options, prepared, summary);
    if (saver) print_best(options, saver->best(), summary);
  }
  if (saver) saver->require_saved();
  telemetry.require_written();
  return summary.stopped;
}

}  // namespace

int run_train_command(const std::vector<std::string>& args) {
  if (args.empty() && !launched_rank()) {  // typed by itself: a training without options is `ddl-train train`
    fmt::print("{}", render_train_help());
    return 0;
  }
  CommandLine command;
  std::optional<Error> options_error;
  std::optional<StopSignals> signals;
  bool stopped = false;
  try {
    command = read_command_line(args, launched_rank() ? TypedAt::launcher : TypedAt::program);
    const TrainOptions& options = command.options;
    if (options.help || options.version) {
      if (launched_rank().value_or(0) == 0)
        fmt::print("{}", options.help ? render_train_help() : fmt::format("ddl-train {}\n", DDLRUN_VERSION));
      return 0;
    }
    if (!options.checkpoint.empty()) signals.emplace();
  } catch (const Error& error) {
    options_error = error;
  }
  StallInspector stall_inspector(train_name);
  const int status = run_session(
      train_name, options_error,
      [&](Communicator& ranks) {
        stopped = train_on(command.options, command.caffe, ranks, stall_inspector);
      },
      command.options.grad_dtype, stall_inspector.watch(command.options.stall_seconds));
  return status == 0 && stopped ? exit_stopped : status;
}

}  // namespace ddlrun::runtime
