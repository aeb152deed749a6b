// SPDX-License-Identifier: MIT
// The command line of ddl-train as a value.
#pragma once

#include "runtime/schedule.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ddlrun::runtime {

struct TrainOptions {
  std::string net = "lenet5";
  std::string data;  // "": search
  std::size_t epochs = 5;
  std::size_t max_steps = 0;                // 0: as the epochs give
  std::optional<std::size_t> batch_size;    // per rank
  std::optional<std::size_t> global_batch;  // of all ranks
  double lr = 0.02;
  std::optional<LrScale> lr_scale;
  LrDecay lr_decay = LrDecay::cosine;
  std::size_t warmup_steps = 0;
  double momentum = 0.9;
  double weight_decay = 0.0;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: from the affinity mask
  std::string device = "cpu";
  std::string checkpoint;            // folder; "": none
  std::size_t checkpoint_steps = 0;  // 0: after each epoch
  bool checkpoint_every_given = false;
  std::size_t keep = 2;
  bool resume = false;
  std::string resume_from;  // "": the checkpoint folder
  std::string metrics;      // "": none
  bool json = false;
  bool quiet = false;
  bool help = false;
  bool version = false;
};

constexpr std::size_t default_batch = 64;

// Throws Error(usage), also for combinations that contradict each other.
TrainOptions parse_train_options(std::span<const std::string> words);
std::string render_train_help();

// The batch of all ranks, and by how much the learning rate grows with them.
struct BatchPlan {
  std::size_t global_batch;
  double lr_factor;
};
// With --batch-size the global batch grows with the ranks, and so does the rate (--lr-scale, linear by
// default). With --global-batch both are what the user wrote, for every number of ranks.
BatchPlan plan_batch(const TrainOptions& options, std::size_t ranks);

const char* name_of(LrScale scale);
const char* name_of(LrDecay decay);

}  // namespace ddlrun::runtime
