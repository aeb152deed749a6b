// SPDX-License-Identifier: MIT
// Ranks whose gradients somebody else has summed: here another group of threads.
#include "runtime/engine/cuda/gpu_communicator.hpp"

#include "runtime/comm/thread_communicator.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/training/trainer.hpp"

#include <doctest/doctest.h>

#include <array>
#include <barrier>
#include <vector>

namespace ddlrun::runtime {
namespace {

constexpr int gpu_rank_count = 3;

// Adds up in the order of ranks, as the threads do.
class Adder {
 public:
  void add_up(int rank, std::span<float> mine) {
    parts_[static_cast<std::size_t>(rank)].assign(mine.begin(), mine.end());
    all_.arrive_and_wait();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = parts_[0][i];
      for (std::size_t r = 1; r < parts_.size(); ++r) mine[i] += parts_[r][i];
    }
    all_.arrive_and_wait();
  }

 private:
  std::array<std::vector<float>, gpu_rank_count> parts_;
  std::barrier<> all_{gpu_rank_count};
};

class SummingEngine : public Engine {
 public:
  SummingEngine(std::unique_ptr<Engine> engine, std::span<float> gradients, Adder& adder, int rank)
      : engine_(std::move(engine)), gradients_(gradients), adder_(adder), rank_(rank) {}
  LossSum train_batch(std::span<const float> images, std::span<const Label> labels, float scale) override {
    const LossSum sum = engine_->train_batch(images, labels, scale);
    adder_.add_up(rank_, gradients_);
    return sum;
  }
  LossSum evaluate(std::span<const float> images, std::span<const Label> labels) override {
    return engine_->evaluate(images, labels);
  }
  std::size_t evaluation_batch() const override { return engine_->evaluation_batch(); }

 private:
  std::unique_ptr<Engine> engine_;
  std::span<float> gradients_;
  Adder& adder_;
  int rank_;
};

TrainSummary train_mlp(const TrainPlan& plan, bool sums_first) {
  const Dataset data = load_dataset(DDLRUN_TEST_DATA "/fashion-mnist-subset");
  const Net net = build_net("mlp", data.input(), data.classes);
  Adder adder;
  TrainSummary first;
  run_ranks_as_threads(gpu_rank_count, [&](Communicator& plain) {
    set_cpu_threads(1);
    GpuCommunicator ranks(plain);
    TrainObserver silent;
    const EngineFactory make = [&](const Net& of, std::size_t batch, std::span<float> parameters,
                                   std::span<float> gradients) -> std::unique_ptr<Engine> {
      auto engine = make_cpu_engine(of, batch, parameters, gradients);
      if (!sums_first) return engine;
      ranks.mark_as_summed(gradients);
      return std::make_unique<SummingEngine>(std::move(engine), gradients, adder, plain.rank());
    };
    const TrainSummary summary = train(plan, net, data, ranks, make, silent);
    if (plain.rank() == 0) first = summary;
  });
  return first;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/engine/cuda/gpu_communicator");

// namespace

TEST_CASE("gpu ranks: what is summed already is not summed again, with any updater and transport") {
  TrainPlan plan;
  plan.global_batch = 30;
  plan.max_steps = 12;
  plan.schedule.peak = 0.02;
  plan.overlap = Overlap::off;
  const TrainSummary plain = train_mlp(plan, false);
  struct Row {
    OptimizerPlacement update;
    Overlap overlap;
    std::size_t bucket_bytes;
    std::size_t accumulate;
  };
  for (const Row& row :
       {Row{OptimizerPlacement::rank, Overlap::off, 0, 1}, Row{OptimizerPlacement::host, Overlap::off, 0, 1},
        Row{OptimizerPlacement::rank, Overlap::on, 4096, 1},
        Row{OptimizerPlacement::host, Overlap::on, 4096, 1},
        Row{OptimizerPlacement::host, Overlap::off, 0, 2}}) {
    CAPTURE(static_cast<int>(row.update));
    CAPTURE(row.bucket_bytes);
    CAPTURE(row.accumulate);
    plan.placement = row.update;
    plan.overlap = row.overlap;
    plan.bucket_bytes = row.bucket_bytes;
    plan.accumulate = row.accumulate;
    const TrainSummary summed = train_mlp(plan, true);
    CHECK(summed.last.train_loss == doctest::Approx(plain.last.train_loss).epsilon(1e-5));
    CHECK(summed.last.test_loss == doctest::Approx(plain.last.test_loss).epsilon(1e-4));
    if (row.accumulate == 1) CHECK(summed.weights_hash == plain.weights_hash);
  }
}

TEST_CASE("gpu ranks: a GPU for each local rank, or the only one") {
  struct Row {
    int local_rank;
    int visible;
    int device;
  };
  for (const Row& row : {Row{0, 4, 0}, Row{3, 4, 3}, Row{4, 4, 4}, Row{0, 1, 0}, Row{3, 1, 0}}) {
    CAPTURE(row.local_rank);
    CHECK(choose_gpu(row.local_rank, row.visible) == row.device);
  }
}

TEST_CASE("gpu ranks: NCCL needs itself everywhere, and a GPU for each rank") {
  struct Row {
    std::vector<RankGpu> gpus;
    std::string obstacle;
  };
  for (const Row& row : {
           Row{{{"h1", "GPU 0 (X, 0000:3b:00.0)", true}}, ""},
           Row{{{"h1", "GPU 0 (X, 0000:3b:00.0)", true}, {"h1", "GPU 1 (X, 0000:3c:00.0)", true}}, ""},
           Row{{{"h1", "GPU 0 (X, 0000:3b:00.0)", true}, {"h2", "GPU 0 (X, 0000:3b:00.0)", true}}, ""},
           // Each sees one, and counts it from 0.
           Row{{{"h1", "GPU 0 (X, 0000:3b:00.0)", true}, {"h1", "GPU 0 (X, 0000:3c:00.0)", true}}, ""},
           Row{{{"h1", "GPU 1 (X, 0000:3b:00.0)", true}, {"h1", "GPU 0 (X, 0000:3b:00.0)", true}},
               "ranks 0 and 1 share GPU 0 (X, 0000:3b:00.0) of h1"},
           Row{{{"h1", "GPU 0 (X, 0000:3b:00.0)", true}, {"h2", "GPU 0 (X, 0000:3b:00.0)", false}},
               "rank 1 (h2): NCCL is missing"},
       }) {
    CHECK(find_nccl_obstacle(row.gpus) == row.obstacle);
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
