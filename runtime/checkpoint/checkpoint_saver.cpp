// SPDX-License-Identifier: MIT
#include "runtime/checkpoint/checkpoint_saver.hpp"

#include "base/text/text.hpp"
#include "runtime/checkpoint/stop_signal.hpp"
#include "runtime/core/hash.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>

namespace ddlrun::runtime {
namespace {

// A file of another kind is not reported as a damaged header.
void require_layout(const CheckpointDisk& disk, const std::string& file, std::uint64_t size) {
  constexpr std::size_t needed = length_bytes + 1;
  std::string start(std::min<std::uint64_t>(size, needed), '\0');
  disk.read(file, 0, std::as_writable_bytes(std::span(start)));
  if (start.size() == needed && start.back() == '{') return;
  const std::size_t slash = file.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  throw Error(ErrorKind::request, {fmt::format("this file of {} bytes is not a checkpoint: {}", size,
                                               start.size() == needed ? "the header is missing"
                                                                      : "the smallest checkpoint has 10"),
                                   printable(file), "--resume " + quote_shell(directory)});
}

// The newest of a directory, also by its file `latest`, or exactly that file.
std::optional<FoundCheckpoint> find_start(const CheckpointDisk& disk, const std::string& from) {
  const auto size = disk.size(from);
  if (!size) return find_checkpoint(disk, from);
  if (from.ends_with("/latest") && newest_step(disk, from.substr(0, from.rfind('/'))))
    return find_checkpoint(disk, from.substr(0, from.rfind('/')));
  if (const auto named = follow_name(disk, from))
    return FoundCheckpoint{*named, verify_checkpoint(disk, *named), {}, {}};
  require_layout(disk, from, *size);
  return FoundCheckpoint{from, verify_checkpoint(disk, from), {}, {}};
}

std::optional<ResumePoint> read_start(const std::string& from, const Net& net, const TrainPlan& run,
                                      const RunIdentity& identity, const CheckpointDisk& disk) {
  const auto found = find_start(disk, from);
  if (!found) return std::nullopt;
  TrainPlan plan = run;
  plan.schedule.total_steps = total_steps(run, identity.images);
  check_same_run(found->header.metadata, net, plan, identity, found->path);
  return ResumePoint{read_state(disk, found->path, found->header, net, run.optimizer), found->path,
                     found->skipped, found->damaged,
                     find_differences(found->header.metadata, net, plan, identity)};
}

// Where a stopped run can go on although it could not save; `alone` false: what is there is another run's.
// `remedy`: of what was not saved.
Message print_last_good(const CheckpointDisk& disk, const CheckpointPlan& plan, bool alone,
                        const std::string& remedy) {
  const Message none{"", "no checkpoint of this run is in " + printable(plan.directory),
                     "the same command, which starts a new run; but first: " + remedy};
  if (!alone) return none;
  try {
    const auto found = find_checkpoint(disk, plan.directory);
    if (!found) return none;
    return {"", "the last good checkpoint: " + printable(found->path),
            plan.resume_command + "   # but first: " + remedy};
  } catch (const Error& error) {
    return {"", error.message().what, remedy};
  }
}

}  // namespace

void lock_run_directory(const std::string& directory, CheckpointDisk& disk, Communicator& ranks) {
  run_collectively(ranks, [&] {
    if (ranks.rank() != 0) return;
    if (const auto note = lock_directory(disk, directory))
      fmt::print(stderr, "{}", render_message("ddl-train", "note", *note));
  });
}

CheckpointSaver::CheckpointSaver(const CheckpointPlan& plan, const Net& net, const TrainPlan& run,
                                 RunIdentity identity, CheckpointDisk& disk, Communicator& ranks,
                                 TrainObserver& observer, std::function<bool()> stop_requested)
    : plan_(plan),
      net_(net),
      run_(run),
      identity_(std::move(identity)),
      disk_(disk),
      ranks_(ranks),
      observer_(observer),
      stop_requested_(std::move(stop_requested)),
      directory_(disk, plan.directory, plan.keep, plan.damaged),
      alone_(plan.continues) {
  run_.schedule.total_steps = total_steps(run, identity_.images);
  lock_run_directory(plan.directory, disk, ranks_);
  run_collectively(ranks_, [&] {
    if (ranks_.rank() == 0) directory_.prepare();
  });
  share_best();
}

// Of the run that goes on, so that a worse epoch does not replace it. A damaged one counts as none.
void CheckpointSaver::share_best() {
  std::string position;
  if (plan_.continues) {
    try {
      if (const auto path = follow_name(disk_, join_path(plan_.directory, "best")))
        position = verify_checkpoint(disk_, *path).metadata.at("position");
    } catch (const std::exception&) {
      position.clear();
    }
  }
  position = ranks_.gather_all(position).front();
  if (!position.empty()) best_ = parse_position(position, plan_.directory).last;
}

bool CheckpointSaver::is_best(const TrainPosition& position) const {
  if (position.tested_step != position.step) return false;  // the last test was of other weights
  if (!best_) return true;
  const double gain = position.last.test_accuracy - best_->test_accuracy;
  return gain > 0.0 || (gain == 0.0 && position.last.test_loss < best_->test_loss);
}

bool CheckpointSaver::due(const TrainPosition& position, bool epoch_done) const {
  if (epoch_done) return plan_.every_steps == 0 || is_best(position);
  return plan_.every_steps != 0 && position.step % plan_.every_steps == 0;
}

// What differs between ranks must not become what all go on from.
void CheckpointSaver::require_equal_state(const TrainStateView& state) {
  std::uint64_t hash = hash_start;
  hash = hash_bytes(std::as_bytes(state.parameters), hash);
  for (const auto& part : state.optimizer_state) hash = hash_bytes(std::as_bytes(part), hash);
  hash = hash_bytes(std::as_bytes(state.layer_state), hash);
  require_equal(ranks_, fmt::format("{:016x}", hash), ErrorKind::internal,
                fmt::format("the states of the ranks differ after step {}", state.position.step),
                "report it with the command line and the MPI version");
}

void CheckpointSaver::save(const TrainStateView& state, SaveReason reason) {
  const auto start = std::chrono::steady_clock::now();
  const bool writes = ranks_.rank() == 0;
  require_equal_state(state);
  CheckpointDirectory::Written written{checkpoint_name(state.position.step), 0};
  // Between two epochs: the one that has ended.
  const std::size_t epoch = state.position.epoch - (state.position.step_in_epoch == 0 ? 1 : 0);
  const bool best = is_best(state.position);
  CheckpointRecord record{
      join_path(plan_.directory, written.name), state.position.step, epoch, 0, 0.0, reason, "", ""};
  try {
    // All wait for the writer here and vote; only then does it become the one to go on from.
    run_collectively(ranks_, [&] {
      if (writes) {
        if (!alone_) directory_.move_aside();
        alone_ = true;
        written = directory_.write(state.position.step, render_run(net_, run_, identity_, state.position),
                                   checkpoint_tensors(net_, run_.optimizer, state));
      }
    });
    run_collectively(ranks_, [&] {
      if (!writes) return;
      if (best) directory_.make_best(written.name);
      directory_.make_latest(written.name);
    });
    if (best) best_ = state.position.last;
    record.best = best;
  } catch (const CollectiveError& error) {
    if (error.kind() == ErrorKind::internal) throw;
    if (reason == SaveReason::stop) refuse_unsaved_stop(state.position, error.message());
    if (reason == SaveReason::end) problem_ = error;
    record.problem = fmt::format("{}: {}", error.message().where, error.message().what);
    record.remedy = error.message().hint;
  }
  record.bytes = written.bytes;
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (writes) observer_.on_checkpoint(record);
}

// An error, for a job that is started again on status 75 would run into the same disk. Only rank 0 looks at
// the disk (elsewhere alone_ is false), and it is the rank that reports.
void CheckpointSaver::refuse_unsaved_stop(const TrainPosition& position, const Message& why) const {
  Message message = print_last_good(disk_, plan_, alone_, why.hint);
  message.what = fmt::format("stopped by {} after step {} of {}, but not saved: {}: {}", StopSignals::name(),
                             position.step, run_.schedule.total_steps, why.where, why.what);
  throw CollectiveError(ErrorKind::request, std::move(message));
}

bool CheckpointSaver::has_saved() const { return !problem_; }

void CheckpointSaver::require_saved() const {
  if (problem_) throw CollectiveError(*problem_);
}

std::optional<ResumePoint> resume_run(const std::string& from, const Net& net, const TrainPlan& run,
                                      const RunIdentity& identity, const CheckpointDisk& disk,
                                      Communicator& ranks) {
  std::optional<ResumePoint> start;
  run_collectively(ranks, [&] {
    if (ranks.rank() == 0) start = read_start(from, net, run, identity, disk);
  });
  const std::string position = ranks.gather_all(start ? render_position(start->state.position) : "").front();
  if (position.empty()) return std::nullopt;
  if (!start) start.emplace();
  start->state.position = parse_position(position, from);
  return start;
}

}  // namespace ddlrun::runtime
