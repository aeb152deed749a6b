// SPDX-License-Identifier: MIT
// The training options of ddl-train as a struct.
#pragma once

#include "base/text/command_reference.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/data/data_request.hpp"
#include "runtime/telemetry/telemetry_sinks.hpp"
#include "runtime/training/lr_schedule.hpp"
#include "runtime/training/train_plan.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct TrainOptions {
  std::map<std::string, std::string> given;  // options on the command line, with their values
  std::string net = "lenet5";
  std::string solver;     // Caffe's; its values are merged into the other fields
  std::string data;       // "": search
  DataRequest images;     // further options about the images
  int data_threads = -1;  // -1: chosen by the loader
  std::size_t epochs = 5;
  std::size_t max_steps = 0;    // exact without --epochs, else a limit; 0: none
  std::size_t total_steps = 0;  // exact number, overrides epochs; 0: not given
  std::size_t gradient_accumulation = 1;
  std::size_t test_every = 0;               // steps; 0: after each epoch only
  std::optional<std::size_t> batch_size;    // per rank
  std::optional<std::size_t> global_batch;  // of all ranks
  std::optional<double> lr;                 // default_rate() of the optimizer
  std::optional<LrScale> lr_scale;
  LrDecay lr_decay = LrDecay::cosine;
  std::size_t warmup_steps = 0;
  std::optional<double> lr_gamma;
  std::optional<double> lr_power;
  std::vector<std::size_t> lr_steps;
  double momentum = 0.9;
  double weight_decay = 0.0;
  std::optional<OptimizerKind> optimizer;
  bool nesterov = false;
  OptimizerForm optimizer_form = OptimizerForm::torch;
  bool l1 = false;
  double beta2 = 0.999;
  std::optional<double> epsilon;
  double rms_decay = 0.99;
  double trust_coefficient = 0.001;
  double clip = 0.0;
  Overlap overlap = Overlap::automatic;
  std::size_t bucket_kb = 0;  // 0: tuned
  OptimizerPlacement optimizer_placement = OptimizerPlacement::automatic;
  std::string grad_dtype = "float32";
  std::size_t parameter_servers = 0;  // the last ranks; 0: none
  bool asynchronous = false;
  std::optional<std::size_t> staleness;
  std::optional<std::size_t> lms_kb;
  bool tf32 = false;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: from the affinity mask
  std::string device = "cpu";
  std::string checkpoint;            // directory; "": none
  std::size_t checkpoint_steps = 0;  // 0: after each epoch
  bool checkpoint_every_given = false;
  std::size_t keep_checkpoints = 2;
  bool resume = false;
  std::string resume_from;  // "": the checkpoint directory
  std::string metrics;      // "": none
  std::string summary_json;
  std::string tensorboard;
  std::string timeline;
  double stall_seconds = 30.0;  // 0: never reported
  std::string choice;           // what was chosen for the images, for people; "": nothing
  bool json = false;
  bool quiet = false;
  bool help = false;
  bool version = false;
};

constexpr std::size_t default_batch = 64;

// Throws Error(usage), also for conflicting options.
TrainOptions parse_train_options(std::span<const std::string> args, TypedAt typed = TypedAt::program);
std::string render_train_help();
std::vector<OptionReference> describe_train_options();
std::string_view train_description();
std::string_view train_examples();

// The global batch, the factor of --lr, the --lr that was chosen or given, and what was chosen for the number
// of images: "240 images for 4 ranks, so: --batch-size 4 --lr 0.00125"; "" where nothing was.
struct BatchPlan {
  std::size_t global_batch;
  double lr_factor;
  double lr;
  std::string choice = {};
};
// With --batch-size the global batch grows with the ranks, and so does the learning rate, as lr_scale_of()
// says. With --global-batch both are as given, for any number of ranks. `ranks`: those that train. `images`:
// files of the user's own; where they are few and no batch is given, the batch of a rank is the power of two
// that leaves 8 steps an epoch, and a learning rate that is not given falls with it.
BatchPlan plan_batch(const TrainOptions& options, std::size_t ranks,
                     std::optional<std::size_t> images = std::nullopt);

// total_steps stays 0: it depends on the data. `lr_factor`: that of BatchPlan.
LrSchedule make_schedule(const TrainOptions& options, double lr_factor);
Optimizer make_optimizer(const TrainOptions& options);
// Whether the other options allow --clip.
bool can_clip(const TrainOptions& options);

// The command that resumes from --checkpoint after a stop: "the same command with --resume".
std::string resume_command(const TrainOptions& options);

// The outputs of the run; `resumed` is set later by the caller.
TelemetryPlan plan_telemetry(const TrainOptions& options);

const char* name_of(LrScale scale);
// --lr-scale, else the usual one: linear; sqrt for optimizers that divide by the size of the gradients
// (Malladi et al. 2022, On the SDEs and Scaling Rules for Adaptive Gradient Algorithms); none with --async,
// where each rank's batch is a separate update.
LrScale lr_scale_of(const TrainOptions& options);

}  // namespace ddlrun::runtime
