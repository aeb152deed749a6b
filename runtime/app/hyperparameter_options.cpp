// SPDX-License-Identifier: MIT
#include "runtime/app/hyperparameter_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/error_list.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/models/net.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace ddlrun::runtime {
namespace {

using Text = const std::string&;

constexpr double least_divisor = 1e-30;  // what must be above 0

const std::array<std::string, 3> scale_names{"linear", "sqrt", "none"};
const std::array<std::string, 9> decay_names{"none", "cosine", "step",    "multistep", "exp",
                                             "inv",  "poly",   "sigmoid", "fixed"};
const std::array<std::string, 7> optimizer_names{"sgd",     "nesterov", "adam",    "lars",
                                                 "adagrad", "rmsprop",  "adadelta"};
const std::array<std::string, 2> form_names{"torch", "caffe"};
const std::array<std::string, 2> norm_names{"l2", "l1"};
const std::array<std::string, 4> overlap_names{"auto", "on", "off", "across"};
const std::array<std::string, 3> place_names{"auto", "host", "rank"};
const std::array<std::string, 6> wire_names{"fp32", "bf16", "fp16", "float32", "bfloat16", "float16"};

// Caffe's "fixed" is none.
LrDecay parse_decay(Text n, Text v) {
  const std::size_t choice = parse_choice(n, v, decay_names);
  return choice + 1 == decay_names.size() ? LrDecay::none : static_cast<LrDecay>(choice);
}

std::vector<std::size_t> parse_steps(Text n, Text v) {
  std::vector<std::size_t> steps;
  for (const std::string_view word : split(v, ',')) {
    steps.push_back(parse_count(n, std::string(word), 1, max_count));
  }
  return steps;
}

const OptionRow hyperparameter_option_rows[] = {
    {"", "", "Batch, learning rate and optimizer:", nullptr},
    {"--batch-size", "N",
     "images per rank and step (default 64): the global batch grows with the ranks, and the learning rate as "
     "--lr-scale sets",
     [](TrainOptions& o, Text n, Text v) { o.batch_size = parse_count(n, v, 1, max_count); }},
    {"--global-batch", "N",
     "images of all ranks together per step: the same training for any number of ranks that divides N; the "
     "learning rate is --lr, unscaled",
     [](TrainOptions& o, Text n, Text v) { o.global_batch = parse_count(n, v, 1, max_count); }},
    {"--gradient-accumulation", "N",
     "add up the gradients of N micro-batches before each update: N times --batch-size, or --global-batch in "
     "N parts (default 1)",
     [](TrainOptions& o, Text n, Text v) { o.gradient_accumulation = parse_count(n, v, 1, 65536); }},
    {"--lr", "X",
     "learning rate for the batch of one rank (default 0.02; adam 0.001, adagrad and rmsprop 0.01, adadelta "
     "1, lars 2)",
     [](TrainOptions& o, Text n, Text v) { o.lr = parse_real(n, v, 0.0, 1e30, "0.02"); }},
    {"--lr-scale", "linear|sqrt|none",
     "multiply --lr by the number of ranks, by its square root, or not at all (default linear; sqrt with "
     "adam, adagrad, rmsprop, adadelta; not with "
     "--global-batch)",
     [](TrainOptions& o, Text n, Text v) {
       o.lr_scale = static_cast<LrScale>(parse_choice(n, v, scale_names));
     }},
    {"--lr-decay", "POLICY",
     "cosine (default): falls to 0 at the last step; none; or Caffe's fixed, step, multistep, exp, inv, "
     "poly, sigmoid",
     [](TrainOptions& o, Text n, Text v) { o.lr_decay = parse_decay(n, v); }},
    {"--lr-gamma", "X",
     "gamma of step, multistep (default 0.1), exp, inv and sigmoid (negative for a falling rate)",
     [](TrainOptions& o, Text n, Text v) { o.lr_gamma = parse_real(n, v, -1e30, 1e30); }},
    {"--lr-power", "X", "power of inv (default 0.75) and poly (default 1)",
     [](TrainOptions& o, Text n, Text v) { o.lr_power = parse_real(n, v, 0.0, 1e3, "0.75"); }},
    {"--lr-step", "N[,N...]", "step size of step and sigmoid, step values of multistep",
     [](TrainOptions& o, Text n, Text v) { o.lr_steps = parse_steps(n, v); }},
    {"--warmup-steps", "N", "raise the learning rate from 0 over the first N steps (default 0)",
     [](TrainOptions& o, Text n, Text v) { o.warmup_steps = parse_count(n, v, 0, max_count); }},
    {"--optimizer", "NAME", "sgd, nesterov, adam, lars, adagrad, rmsprop or adadelta (default sgd)",
     [](TrainOptions& o, Text n, Text v) {
       o.optimizer = static_cast<OptimizerKind>(parse_choice(n, v, optimizer_names));
     }},
    {"--nesterov", "", "same as --optimizer nesterov",
     [](TrainOptions& o, Text, Text) { o.nesterov = true; }},
    {"--rule-form", "torch|caffe",
     "torch (default): the learning rate scales the momentum buffer; caffe: it scales each gradient before "
     "it enters the buffer, so that a lower rate acts later",
     [](TrainOptions& o, Text n, Text v) {
       o.optimizer_form = static_cast<OptimizerForm>(parse_choice(n, v, form_names));
     }},
    {"--momentum", "X", "momentum of sgd, nesterov and lars; beta1 of adam; rho of adadelta (default 0.9)",
     [](TrainOptions& o, Text n, Text v) { o.momentum = parse_fraction(n, v, "0.9"); }},
    {"--weight-decay", "X", "add X times the weight to each gradient (default 0)",
     [](TrainOptions& o, Text n, Text v) { o.weight_decay = parse_real(n, v, 0.0, 1.0, "0.0005"); }},

    {"--regularization", "l2|l1", "l1: --weight-decay adds X times the sign of the weight (default l2)",
     [](TrainOptions& o, Text n, Text v) { o.l1 = parse_choice(n, v, norm_names) == 1; }},
    {"--beta2", "X", "beta2 of adam (default 0.999)",
     [](TrainOptions& o, Text n, Text v) { o.beta2 = parse_fraction(n, v, "0.999"); }},
    {"--epsilon", "X", "added to divisors: adam, rmsprop (default 1e-8), adagrad (1e-10), adadelta (1e-6)",
     [](TrainOptions& o, Text n, Text v) { o.epsilon = parse_real(n, v, least_divisor, 1.0, "1e-8"); }},
    {"--rms-decay", "X", "decay of rmsprop (default 0.99)",
     [](TrainOptions& o, Text n, Text v) { o.rms_decay = parse_fraction(n, v, "0.99"); }},
    {"--trust-coefficient", "X", "trust coefficient of lars (default 0.001)",
     [](TrainOptions& o, Text n, Text v) {
       o.trust_coefficient = parse_real(n, v, least_divisor, 1e30, "0.001");
     }},
    {"--clip", "X",
     "scale the gradients down to norm X if the norm of all gradients together is larger; 0: never "
     "(default; 5 where cifar-quick is chosen for photos)",
     [](TrainOptions& o, Text n, Text v) { o.clip = parse_real(n, v, 0.0, 1e30, "10"); }},

    {"", "", "Gradient reduction:", nullptr},
    {"--overlap", "auto|on|off|across",
     "on: reduce gradients while the backward pass still computes others; across: also during the next "
     "step's forward pass; off: after the backward pass; auto (default): the fastest in the first steps",
     [](TrainOptions& o, Text n, Text v) {
       o.overlap = static_cast<Overlap>(parse_choice(n, v, overlap_names));
     }},
    {"--bucket-kb", "KB",
     "size of a gradient bucket, with --overlap (default: the fastest in the first steps)",
     [](TrainOptions& o, Text n, Text v) { o.bucket_kb = parse_count(n, v, 1, std::uint64_t{1} << 30U); }},
    {"--optimizer-placement", "auto|host|rank",
     "host: the ranks of a host share one copy of the weights, and each updates a part; rank: each rank "
     "updates its own copy; auto (default): host if the optimizer allows it",
     [](TrainOptions& o, Text n, Text v) {
       o.optimizer_placement = static_cast<OptimizerPlacement>(parse_choice(n, v, place_names));
     }},
    {"--grad-dtype", "fp32|bf16|fp16", "data type of gradients between hosts (default fp32)",
     [](TrainOptions& o, Text n, Text v) {
       o.grad_dtype = wire_names[parse_choice(n, v, wire_names) % 3 + 3];
     }},
};

Error refuse_options(std::string what, std::string hint) {
  return {ErrorKind::usage, {std::move(what), "command line", std::move(hint)}};
}

// The args that show how it is meant.
std::string example_of(LrDecay decay) {
  switch (decay) {
    case LrDecay::multistep:
      return "--lr-decay multistep --lr-step 3000,4500 --lr-gamma 0.1";
    case LrDecay::inv:
      return "--lr-decay inv --lr-gamma 0.0001 --lr-power 0.75";
    case LrDecay::exp:
      return "--lr-decay exp --lr-gamma 0.999";
    case LrDecay::sigmoid:
      return "--lr-decay sigmoid --lr-step 5000 --lr-gamma 0.001";
    default:
      return "--lr-decay step --lr-step 1000 --lr-gamma 0.1";
  }
}

double lr_of(const TrainOptions& options) {
  return options.lr.value_or(default_rate(make_optimizer(options).kind));
}

void check_optimizer_options(const TrainOptions& options) {
  const LrSchedule schedule = make_schedule(options, 1.0);
  const LrDecay decay = schedule.decay;
  std::vector<Message> errors;
  for (const std::string& what : find_schedule_errors(schedule))
    errors.push_back({"--lr-decay " + what, "command line", example_of(decay)});
  const bool needs_gamma = decay == LrDecay::exp || decay == LrDecay::inv || decay == LrDecay::sigmoid;
  if (needs_gamma && !options.lr_gamma && errors.empty()) {
    errors.push_back(
        {fmt::format("--lr-decay {} needs --lr-gamma", name_of(decay)), "command line", example_of(decay)});
  }
  const bool has_steps = decay == LrDecay::step || decay == LrDecay::multistep || decay == LrDecay::sigmoid;
  if (!options.lr_steps.empty() &&
      (!has_steps || (decay != LrDecay::multistep && options.lr_steps.size() > 1))) {
    errors.push_back({fmt::format("--lr-step with {} value(s) cannot be used with --lr-decay {}",
                                  options.lr_steps.size(), name_of(decay)),
                      "command line", example_of(LrDecay::multistep)});
  }
  for (const std::string& what : find_optimizer_errors(make_optimizer(options)))
    errors.push_back({fmt::format("--optimizer {}: {}", name_of(make_optimizer(options).kind), what),
                      "command line", "ddl-train --help"});
  if (options.nesterov && options.optimizer.value_or(OptimizerKind::nesterov) != OptimizerKind::nesterov) {
    errors.push_back({fmt::format("--nesterov conflicts with --optimizer {}", name_of(*options.optimizer)),
                      "command line", "--optimizer nesterov"});
  }
  if (!errors.empty()) throw Error(ErrorKind::usage, join_errors(errors).message());
}

void check_sums(const TrainOptions& options) {
  if (options.overlap == Overlap::off && options.bucket_kb != 0)
    throw refuse_options("--bucket-kb cannot be used with --overlap off", "--overlap on");
  if (options.optimizer_placement == OptimizerPlacement::host && needs_norms(make_optimizer(options))) {
    throw refuse_options(
        "--optimizer-placement host cannot be used with lars or --clip: their norms need all sums on each "
        "rank",
        "--optimizer-placement rank");
  }
  if (options.overlap == Overlap::across && needs_norms(make_optimizer(options))) {
    throw refuse_options(
        "--overlap across cannot be used with lars or --clip: their norms need all sums before a step ends",
        "--overlap on");
  }
  if (options.total_steps != 0 && options.max_steps != 0)
    throw refuse_options("--max-steps conflicts with --total-steps",
                         fmt::format("--total-steps {}", options.total_steps));
}

void check_batch(const TrainOptions& options) {
  if (options.batch_size && options.global_batch) {
    throw Error(ErrorKind::usage,
                {fmt::format("--batch-size {} (of one rank) conflicts with --global-batch {} (of all ranks)",
                             *options.batch_size, *options.global_batch),
                 "command line", fmt::format("--global-batch {}", *options.global_batch)});
  }
  if (options.global_batch && options.lr_scale && *options.lr_scale != LrScale::none) {
    throw Error(
        ErrorKind::usage,
        {fmt::format("--global-batch {} does not grow with the ranks, so --lr-scale {} cannot be used",
                     *options.global_batch, name_of(*options.lr_scale)),
         "command line", "--batch-size 64 --lr-scale linear   # or leave --lr-scale out"});
  }
}

}  // namespace

std::span<const std::string> hyperparameter_choices(std::string_view option) {
  if (option == "--optimizer") return optimizer_names;
  if (option == "--lr-decay") return decay_names;
  return {};
}

std::span<const OptionRow> hyperparameter_rows() { return hyperparameter_option_rows; }

void check_hyperparameter_options(const TrainOptions& options) {
  check_optimizer_options(options);
  check_sums(options);
  check_batch(options);
}

LrScale lr_scale_of(const TrainOptions& options) {
  if (options.lr_scale) return *options.lr_scale;
  if (options.asynchronous) return LrScale::none;
  return is_adaptive(make_optimizer(options).kind) ? LrScale::sqrt : LrScale::linear;
}

const char* name_of(LrScale scale) { return scale_names[static_cast<std::size_t>(scale)].c_str(); }

BatchPlan plan_batch(const TrainOptions& options, std::size_t ranks, std::optional<std::size_t> images) {
  const double lr = lr_of(options);
  if (options.global_batch) return {*options.global_batch, 1.0, lr};
  const LrScale scale = lr_scale_of(options);
  const double factor = lr_factor(scale, static_cast<double>(ranks));
  const std::size_t micro_batches = ranks * options.gradient_accumulation;
  std::size_t batch = options.batch_size.value_or(default_batch);
  const std::size_t given = batch;
  if (images && !options.batch_size) {
    constexpr std::size_t fewest_steps = 8;  // an epoch of fewer has hardly an update
    while (batch > 1 && batch * micro_batches * fewest_steps > *images) batch /= 2;
  }
  if (batch == given) return {batch * micro_batches, factor, lr};
  std::string choice = fmt::format("{} images for {} rank{}, so: --batch-size {}", *images, ranks,
                                   ranks == 1 ? "" : "s", batch);
  if (options.lr) return {batch * micro_batches, factor, lr, choice};
  const double less = lr_factor(scale, static_cast<double>(batch) / static_cast<double>(given));
  if (less != 1.0) choice += fmt::format(" --lr {:.6g}", lr * less);
  return {batch * micro_batches, factor * less, lr * less, choice};
}

LrSchedule make_schedule(const TrainOptions& options, double lr_factor) {
  const bool steps = options.lr_decay == LrDecay::step || options.lr_decay == LrDecay::multistep;
  const std::size_t first = options.lr_steps.empty() ? 0 : options.lr_steps.front();
  return {lr_of(options) * lr_factor,
          options.warmup_steps,
          0,
          options.lr_decay,
          options.lr_gamma.value_or(steps ? 0.1 : 0.0),
          options.lr_power.value_or(options.lr_decay == LrDecay::inv ? 0.75 : 1.0),
          options.lr_decay == LrDecay::multistep ? 0 : first,
          options.lr_decay == LrDecay::multistep ? options.lr_steps : std::vector<std::size_t>{}};
}

bool can_clip(const TrainOptions& options) {
  return options.parameter_servers == 0 && options.overlap != Overlap::across &&
         options.optimizer_placement != OptimizerPlacement::host;
}

Optimizer make_optimizer(const TrainOptions& options) {
  Optimizer optimizer;
  optimizer.kind =
      options.optimizer.value_or(options.nesterov ? OptimizerKind::nesterov : OptimizerKind::sgd);
  optimizer.momentum = options.momentum;
  optimizer.momentum2 = options.beta2;
  optimizer.form = options.optimizer_form;
  optimizer.l1 = options.l1;
  const bool adagrad = optimizer.kind == OptimizerKind::adagrad;
  optimizer.epsilon = options.epsilon.value_or(adagrad                                     ? 1e-10
                                               : optimizer.kind == OptimizerKind::adadelta ? 1e-6
                                                                                           : 1e-8);
  optimizer.rms_decay = options.rms_decay;
  optimizer.weight_decay = options.weight_decay;
  optimizer.trust = options.trust_coefficient;
  optimizer.clip = options.clip;
  return optimizer;
}

}  // namespace ddlrun::runtime
