// SPDX-License-Identifier: MIT
// Stopped at any step and gone on, a run ends with the same bits. An engine whose sums are exact makes that
// so for other numbers of ranks as well; its gradient depends on images, labels, weights and step.
#include "runtime/checkpoint/checkpoint_saver.hpp"
#include "runtime/comm/thread_communicator.hpp"
#include "runtime/training/trainer.hpp"
#include "tests/unit/runtime/checkpoint/fake_disk.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ddlrun::runtime {
namespace {

const std::string saving_place = "dir";

Dataset make_images() {
  Random random(3);
  ImageSet train{{1, 4, 4}, {}, {}};
  for (std::size_t i = 0; i < 70; ++i) {  // 4 steps of 16 an epoch, 6 images left out
    for (int p = 0; p < 16; ++p) train.pixels.push_back(static_cast<Label>(random.below(256)));
    train.labels.push_back(static_cast<Label>(i % 3));
  }
  return make_dataset(train, train, "test");
}

const Dataset& images() {
  static const Dataset data = make_images();
  return data;
}

Net make_net(int hidden = 5) {
  const Layer layers[] = {convolution(2, 3), batch_norm(), relu(), linear(hidden), linear(3)};
  return plan_net("toy", {1, 4, 4}, layers);
}

class ExactEngine : public Engine {
 public:
  ExactEngine(const Net& net, std::size_t batch, std::span<float> parameters, std::span<float> gradients)
      : batch_(batch), parameters_(parameters), gradients_(gradients), state_(initial_state(net)) {}

  void start_step(const StepKey& key) override { key_ = key; }
  std::span<float> state() override { return state_; }
  LossSum train_batch(std::span<const float> inputs, std::span<const Label> labels, float scale) override {
    // Small whole numbers over 1024, so that any order of adding gives the same float.
    for (std::size_t p = 0; p < gradients_.size(); ++p) {
      float sum = 0.0F;
      for (std::size_t i = 0; i < batch_; ++i) {
        const float pixel = std::round(4.0F * inputs[i * 16 + p % 16]);
        sum += pixel + static_cast<float>((labels[i] + p) % 3) - 1.0F +
               std::round(256.0F * parameters_[p]) / 16.0F;
        sum += static_cast<float>((key_.step + key_.seed) % 5) / 16.0F;
      }
      gradients_[p] = sum * scale;
    }
    for (std::size_t s = 0; s < state_.size(); ++s) state_[s] = 0.9F * state_[s] + 0.1F * inputs[s];
    double loss = 0.0;
    for (std::size_t i = 0; i < batch_; ++i)
      loss += std::round(16.0 * static_cast<double>(inputs[i * 16] + parameters_[0]));
    return {loss / 16.0, batch_ / 2};
  }
  LossSum evaluate(std::span<const float> inputs, std::span<const Label> labels) override {
    return {static_cast<double>(std::round(parameters_[1] * 64.0F)), (labels.size() + inputs.size()) % 7};
  }
  std::size_t evaluation_batch() const override { return 10; }

 private:
  std::size_t batch_;
  std::span<float> parameters_;
  std::span<float> gradients_;
  std::vector<float> state_;
  StepKey key_;
};

std::unique_ptr<Engine> make_exact(const Net& net, std::size_t batch, std::span<float> parameters,
                                   std::span<float> gradients) {
  return std::make_unique<ExactEngine>(net, batch, parameters, gradients);
}

TrainPlan make_run(std::size_t epochs = 3) {
  TrainPlan plan;
  plan.epochs = epochs;
  plan.global_batch = 16;
  plan.schedule.peak = 0.05;
  plan.schedule.warmup_steps = 2;
  plan.schedule.decay = LrDecay::cosine;
  plan.optimizer.weight_decay = 0.001;
  return plan;
}

RunIdentity make_run_identity(const Net& net, int ranks) {
  return {"test 1", fingerprint(net), images().train_images->count(), fingerprint(images()), ranks, ""};
}

class Notes : public TrainObserver {
 public:
  void on_step(const StepRecord& record) override { losses.push_back(record.loss); }
  void on_epoch(const EpochRecord& record) override { epochs.push_back(record); }
  void on_checkpoint(const CheckpointRecord& record) override { checkpoints.push_back(record); }
  std::vector<double> losses;
  std::vector<EpochRecord> epochs;
  std::vector<CheckpointRecord> checkpoints;
};

struct RunOptions {
  decltype(RunIdentity::model) model;
  int ranks = 1;
  TrainPlan plan = make_run();
  CheckpointPlan saving{saving_place, 0, 2, false, {}};
  std::size_t stop_at = SIZE_MAX;  // a step
  int stop_rank = 0;
  bool resume = false;
};

struct RunResult {
  Notes notes;
  TrainSummary summary;
};

RunResult run_saving(FakeDisk& disk, const RunOptions& options) {
  RunResult result;
  const Net net = make_net();
  run_ranks_as_threads(options.ranks, [&](Communicator& group) {
    RunIdentity identity = make_run_identity(net, group.size());
    identity.model = options.model;
    std::optional<ResumePoint> start;
    if (options.resume) start = resume_run(saving_place, net, options.plan, identity, disk, group);
    Notes others;
    Notes& observer = group.rank() == 0 ? result.notes : others;
    // Asked in a step before it is reported; after the last step of an epoch also while testing.
    const std::size_t first = start ? start->state.position.step : 0;
    const bool mine = group.rank() == options.stop_rank;
    CheckpointPlan saving = options.saving;
    saving.continues = start && group.rank() == 0;
    if (saving.continues) saving.damaged = start->damaged;
    CheckpointSaver saver(saving, net, options.plan, identity, disk, group, observer,
                          [&] { return mine && first + observer.losses.size() + 1 >= options.stop_at; });
    const TrainSummary summary = train(options.plan, net, images(), group, make_exact, observer, saver,
                                       start ? &start->state : nullptr);
    if (group.rank() == 0) result.summary = summary;
    saver.require_saved();
  });
  return result;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/checkpoint/checkpoint");

// namespace

TEST_CASE(
    "checkpoint: stopped at every step and gone on, the weights, losses and tests are those of one run") {
  for (const int ranks : {1, 2}) {
    FakeDisk straight_disk;
    RunOptions options;
    options.ranks = ranks;
    const RunResult straight = run_saving(straight_disk, options);
    REQUIRE(straight.summary.steps == 12);
    for (std::size_t stop = 1; stop < 12; ++stop) {
      CAPTURE(stop);
      FakeDisk disk;
      RunOptions half = options;
      half.stop_at = stop;
      half.stop_rank = ranks - 1;
      RunResult first = run_saving(disk, half);
      CHECK(first.summary.stopped);
      CHECK(first.notes.checkpoints.back().reason == SaveReason::stop);
      RunOptions rest = options;
      rest.resume = true;
      const RunResult second = run_saving(disk, rest);
      CHECK(!second.summary.stopped);
      CHECK(second.summary.first_step == first.summary.steps);
      CHECK(second.summary.weights_hash == straight.summary.weights_hash);
      first.notes.losses.insert(first.notes.losses.end(), second.notes.losses.begin(),
                                second.notes.losses.end());
      CHECK(first.notes.losses == straight.notes.losses);
      CHECK(second.notes.epochs.back().train_loss == straight.notes.epochs.back().train_loss);
      CHECK(second.notes.epochs.back().train_accuracy == straight.notes.epochs.back().train_accuracy);
      // All of the checkpoint, with optimizer and state, but the time that was measured.
      const Net net = make_net();
      const TrainState a = read_state(disk, "dir/ckpt-000012.safetensors",
                                      verify_checkpoint(disk, "dir/ckpt-000012.safetensors"), net, {});
      const TrainState b =
          read_state(straight_disk, "dir/ckpt-000012.safetensors",
                     verify_checkpoint(straight_disk, "dir/ckpt-000012.safetensors"), net, {});
      CHECK(a.parameters == b.parameters);
      CHECK(a.optimizer_state == b.optimizer_state);
      CHECK(a.layer_state == b.layer_state);
      CHECK(a.position.loss_sum == b.position.loss_sum);
      CHECK(a.position.epoch == b.position.epoch);
    }
  }
}

TEST_CASE("checkpoint: another number of ranks goes on with the same images and weights") {
  FakeDisk straight_disk;
  const RunResult straight = run_saving(straight_disk, {});
  for (const int first_ranks : {1, 2, 4}) {
    for (const int second_ranks : {1, 2, 4, 8}) {
      FakeDisk disk;
      RunOptions options;
      options.ranks = first_ranks;
      options.stop_at = 6;
      run_saving(disk, options);
      options.stop_at = SIZE_MAX;
      options.ranks = second_ranks;
      options.resume = true;
      const RunResult second = run_saving(disk, options);
      CHECK(second.notes.losses ==
            std::vector<double>(straight.notes.losses.begin() + 6, straight.notes.losses.end()));
    }
  }
}

TEST_CASE("checkpoint: a run that is over is not run again; one that grows goes on inside its epoch") {
  FakeDisk disk;
  RunOptions options;
  options.plan.schedule.decay = LrDecay::none;
  options.plan.max_steps = 6;
  const RunResult over = run_saving(disk, options);
  CHECK(over.notes.checkpoints.back().reason == SaveReason::end);
  options.resume = true;
  const RunResult again = run_saving(disk, options);
  CHECK(again.notes.losses.empty());
  CHECK(again.summary.weights_hash == over.summary.weights_hash);
  CHECK(again.summary.last.test_loss == over.summary.last.test_loss);
  options.plan.max_steps = 0;
  const RunResult more = run_saving(disk, options);
  RunOptions whole;
  whole.plan.schedule.decay = LrDecay::none;
  FakeDisk other;
  CHECK(more.summary.weights_hash == run_saving(other, whole).summary.weights_hash);
}

// Epochs have 4 steps. The first one is the best until the end, so it is also saved between others.
TEST_CASE("checkpoint: when they are due") {
  struct Row {
    std::size_t every;
    std::vector<std::size_t> steps;
  };
  for (const Row& row : {Row{0, {4, 8, 12}}, Row{1, {1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
                         Row{5, {4, 5, 10, 12}}, Row{100, {4, 12}}}) {
    FakeDisk disk;
    RunOptions options;
    options.saving.every_steps = row.every;
    const RunResult run = run_saving(disk, options);
    std::vector<std::size_t> steps;
    for (const CheckpointRecord& record : run.notes.checkpoints) {
      steps.push_back(record.step);
      CHECK(record.bytes > 1000);
      CHECK(record.problem.empty());
    }
    CHECK(steps == row.steps);
  }
}

TEST_CASE(
    "checkpoint: a disk that refuses one leaves the run alone, and ends it when the last cannot be written") {
  FakeDisk disk;
  RunOptions options;
  options.saving.every_steps = 1;
  disk.plan_fault(40, Fault::refuse);
  const RunResult run = run_saving(disk, options);
  std::size_t problems = 0;
  for (const CheckpointRecord& record : run.notes.checkpoints) problems += record.problem.empty() ? 0 : 1;
  CHECK(problems == 1);
  CHECK(run.summary.steps == 12);

  FakeDisk full;
  options.saving.every_steps = 0;
  options.plan.epochs = 1;
  full.plan_fault(4, Fault::refuse);  // after the directory was tried
  expect_error(ErrorKind::request, "No space left on device", [&] { run_saving(full, options); });
}

TEST_CASE(
    "checkpoint: asked to stop on a full disk, a run names the last good one, wherever the disk refuses") {
  RunOptions options;
  options.saving.every_steps = 3;
  options.stop_at = 7;
  FakeDisk room;
  run_saving(room, options);
  std::size_t earlier = 0;
  for (std::size_t back = 0; back < 10; ++back) {  // from the last change of the last checkpoint
    CAPTURE(back);
    FakeDisk full;
    full.plan_fault(room.calls() - back, Fault::refuse);
    const Message message = expect_error(
        ErrorKind::request, "after step 7 of 12, but not saved: ", [&] { run_saving(full, options); });
    CHECK(message.what.find("No space left on device") != std::string::npos);
    CHECK(message.what.starts_with("stopped by "));
    const std::string words = "the last good checkpoint: ";
    REQUIRE(message.where.starts_with(words));
    const std::string file = message.where.substr(words.size());
    CHECK_NOTHROW(verify_checkpoint(full, file));
    CHECK(message.hint.find("--resume") != std::string::npos);
    if (file == "dir/ckpt-000006.safetensors") ++earlier;
  }
  CHECK(earlier >= 8);  // once `latest` is renamed the new one is good, synced or not

  FakeDisk none;
  options.saving.every_steps = 0;
  options.stop_at = 2;
  none.plan_fault(4, Fault::refuse);  // after the directory was tried
  const Message message =
      expect_error(ErrorKind::request, "but not saved", [&] { run_saving(none, options); });
  CHECK(message.where == "no checkpoint of this run is in dir");
}

TEST_CASE("checkpoint: weights that are not finite are not saved") {
  FakeDisk disk;
  RunOptions options;
  options.saving.every_steps = 1;
  options.plan.schedule.peak = 3e38;
  options.plan.schedule.warmup_steps = 0;
  options.plan.schedule.decay = LrDecay::none;
  expect_error(ErrorKind::request, "not finite", [&] { run_saving(disk, options); });
  CHECK(!find_checkpoint(disk, saving_place));
}

TEST_CASE("checkpoint: another run is refused with both values") {
  FakeDisk disk;
  RunOptions options;
  options.stop_at = 6;
  run_saving(disk, options);
  SelfCommunicator alone;
  const Net net = make_net();
  const RunIdentity identity = make_run_identity(net, 1);
  struct Row {
    const char* part;
    const char* hint;
    std::function<void(Net&, TrainPlan&, RunIdentity&)> change;
  };
  const Row rows[] = {
      {"of the net toy, but this run trains lenet5", "--net toy",
       [](Net& n, TrainPlan&, RunIdentity&) { n.name = "lenet5"; }},
      {"global batch is 16, but this run's is 32", "--global-batch 16 --lr 0.05",
       [](Net&, TrainPlan& p, RunIdentity&) { p.global_batch = 32; }},
      {"seed 1, but this run's has seed 2", "--seed 1", [](Net&, TrainPlan& p, RunIdentity&) { p.seed = 2; }},
      {"is at step 6, but this run ends at step 5", "--max-steps 11 ",
       [](Net&, TrainPlan& p, RunIdentity&) { p.max_steps = 5; }},
      {"on 70 images", "--data", [](Net&, TrainPlan&, RunIdentity& i) { i.images = 71; }},
      {"on 70 images", "--data", [](Net&, TrainPlan&, RunIdentity& i) { i.data_hash += 1; }},
      {"the layers of toy differ", "the original net",
       [](Net& n, TrainPlan&, RunIdentity& i) {
         n = make_net(6);
         i.net_hash = fingerprint(n);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.part);
    Net other = net;
    TrainPlan plan = make_run();
    RunIdentity self = identity;
    row.change(other, plan, self);
    const Message message = expect_error(ErrorKind::request, row.part,
                                         [&] { resume_run(saving_place, other, plan, self, disk, alone); });
    CHECK(message.hint.starts_with(row.hint));
  }
  CHECK(!resume_run("elsewhere", net, make_run(), identity, disk, alone));
}

TEST_CASE("checkpoint: a value of its file is one word of the command that a hint shows") {
  FakeDisk disk;
  RunOptions options;
  options.stop_at = 6;
  options.model = {{"val_fraction", "0.1; id"}};
  run_saving(disk, options);
  SelfCommunicator alone;
  const auto resume = [&] {
    resume_run(saving_place, make_net(), make_run(), {"", fingerprint(make_net()), 71, 0, 1, ""}, disk, alone);
  };
  CHECK(expect_error(ErrorKind::request, "0.1; id", resume).hint == "--val-fraction '0.1; id'");
}

TEST_CASE("checkpoint: what is reported about another rate, and about a checkpoint that is passed over") {
  FakeDisk disk;
  RunOptions options;
  options.stop_at = 6;
  run_saving(disk, options);
  disk.content("dir/ckpt-000006.safetensors").back() ^= 1;
  SelfCommunicator alone;
  const Net net = make_net();
  TrainPlan plan = make_run(5);
  plan.schedule.peak = 0.1;
  const auto start = resume_run(saving_place, net, plan, make_run_identity(net, 1), disk, alone);
  REQUIRE(start);
  CHECK(start->state.position.step == 4);
  CHECK(start->differences == std::vector<std::string>{"lr: 0.1, but 0.05 in the checkpoint",
                                                       "total_steps: 20, but 12 in the checkpoint"});
  REQUIRE(start->skipped.size() == 1);
  CHECK(start->skipped[0].find("is damaged") != std::string::npos);
  CHECK(start->damaged == std::vector<std::size_t>{6});
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
