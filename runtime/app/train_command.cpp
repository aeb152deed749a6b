// SPDX-License-Identifier: MIT
#include "runtime/app/train_command.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/app/command_line.hpp"
#include "runtime/app/console_summary.hpp"
#include "runtime/app/run_setup.hpp"
#include "runtime/checkpoint/checkpoint_saver.hpp"
#include "runtime/checkpoint/stop_signal.hpp"
#include "runtime/comm/mpi_session.hpp"
#include "runtime/parameter_server/mpi_ps_transport.hpp"
#include "runtime/parameter_server/server_trainer.hpp"
#include "runtime/telemetry/telemetry_sinks.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <optional>

namespace ddlrun::runtime {
namespace {

constexpr const char* train_name = "ddl-train";
constexpr int exit_stopped = 75;  // EX_TEMPFAIL: saved; the same command with --resume goes on

// Collective.
std::optional<Resumption> find_resumption(const TrainOptions& options, const Prepared& prepared,
                                          CheckpointDisk& disk, Communicator& ranks) {
  if (!options.resume) return std::nullopt;
  auto start = resume_run(options.resume_from, prepared.net, prepared.plan, prepared.identity, disk, ranks);
  // A job that is started again by the same command finds none at its first start.
  if (start || options.resume_from == options.checkpoint) return start;
  throw AgreedError(ErrorKind::request,
                    {"there is no checkpoint to go on from", "--resume " + printable(options.resume_from),
                     "--checkpoint DIR --resume   # a new run if the folder has none yet"});
}

// Whom a run tells what, and where it begins.
struct RunEnds {
  TrainObserver& observer;
  TrainSaver& saver;
  const TrainState* start;
  const TrainTrace* trace;
};

// Collective.
TrainSummary train_prepared(const Prepared& prepared, Communicator& ranks, const RunEnds& ends,
                            const ddl::StallWatch& stall) {
  if (!prepared.roles) {
    GpuRanks* const gpu_ranks = prepared.device.gpu_ranks.get();
    return train(prepared.plan, prepared.net, prepared.data, gpu_ranks == nullptr ? ranks : *gpu_ranks,
                 prepared.device.make_engine, ends.observer, ends.saver, ends.start, ends.trace);
  }
  ParcelPatience patience;
  if (const auto asked = asked_patience()) patience.most_seconds = patience.silent_seconds = *asked;
  patience.stall = stall;
  const auto parcels = make_mpi_parcels(prepared.net.parameter_count, patience);
  return train_with_servers(prepared.plan, *prepared.roles, prepared.net, prepared.data, ranks, *parcels,
                            prepared.device.make_engine, ends.observer, ends.saver, ends.start, ends.trace);
}

bool is_in(const std::string& file, const std::string& folder) {
  std::error_code ignored;
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  return std::filesystem::equivalent(parent.empty() ? "." : parent, folder, ignored);
}

// Collective. Returns whether a signal stopped it.
bool train_on(const TrainOptions& options, const CaffeCommand& caffe, Communicator& ranks,
              StallReport& stalls) {
  WatchPlan watched = plan_watching(options);
  run_agreed(ranks, [&] { check_outputs(watched, ranks.rank() == 0); });
  const Prepared prepared = prepare_run(options, caffe, ranks);
  const std::unique_ptr<CheckpointDisk> disk = make_posix_disk();
  // Before what is read, that it stays the newest.
  if (!options.checkpoint.empty()) hold_run_folder(options.checkpoint, *disk, ranks);
  const std::optional<Resumption> start = find_resumption(options, prepared, *disk, ranks);
  const bool first = ranks.rank() == 0;
  watched.resumed = start.has_value();
  Watchers watchers(watched, prepared.facts, ranks, options.stall_seconds > 0.0 ? &stalls : nullptr);
  std::optional<TrainTrace> trace;
  if (watchers.sink() != nullptr) trace = make_train_trace(*watchers.sink(), prepared.net);
  TrainSaver none;
  std::optional<CheckpointSaver> saver;
  if (!options.checkpoint.empty()) {
    const bool goes_on = first && start && is_in(start->path, options.checkpoint);
    const CheckpointPlan plan{options.checkpoint,
                              options.checkpoint_steps,
                              options.keep,
                              goes_on,
                              goes_on ? start->damaged : std::vector<std::size_t>{},
                              go_on_words(options)};
    if (first && !goes_on) tell_other_run(options.checkpoint, newest_step(*disk, options.checkpoint));
    saver.emplace(plan, prepared.net, prepared.plan, prepared.identity, *disk, ranks, watchers.observer(),
                  StopSignals::wanted);
  }
  if (first) tell_start(options, caffe, prepared, start);
  const RunEnds ends{watchers.observer(), saver ? static_cast<TrainSaver&>(*saver) : none,
                     start ? &start->state : nullptr, trace ? &*trace : nullptr};
  const TrainSummary summary = watchers.run(
      [&] { return train_prepared(prepared, ranks, ends, stalls.watch(options.stall_seconds)); });
  if (first && summary.stopped) {
    tell_stop(options, summary);
  } else if (first) {
    const bool saved = watchers.has_written() && (!saver || saver->has_saved());
    tell_end(options, watchers.facts(), summary, saved);
  }
  if (saver) saver->require_saved();
  watchers.require_written();
  return summary.stopped;
}

}  // namespace

int run_train_command(const std::vector<std::string>& words) {
  TrainLine command;
  std::optional<Error> mistake;
  std::optional<StopSignals> signals;
  bool stopped = false;
  try {
    command = read_train_line(words);
    const TrainOptions& options = command.options;
    if (options.help || options.version) {
      if (launched_rank().value_or(0) == 0)
        fmt::print("{}", options.help ? render_train_help() : fmt::format("ddl-train {}\n", DDLRUN_VERSION));
      return 0;
    }
    if (!options.checkpoint.empty()) signals.emplace();
  } catch (const Error& error) {
    mistake = error;
  }
  StallReport stalls(train_name);
  const int status = run_mpi_session(
      train_name, mistake,
      [&](Communicator& ranks) { stopped = train_on(command.options, command.caffe, ranks, stalls); },
      command.options.wire, stalls.watch(command.options.stall_seconds));
  return status == 0 && stopped ? exit_stopped : status;
}

}  // namespace ddlrun::runtime
