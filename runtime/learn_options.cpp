// SPDX-License-Identifier: MIT
#include "runtime/learn_options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/nets/net.hpp"
#include "runtime/options.hpp"

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
    steps.push_back(parse_count(n, std::string(word), 1, most_allowed));
  }
  return steps;
}

const OptionRow rows_of_learning[] = {
    {"", "", "Batch and learning rate:", nullptr},
    {"--batch-size", "N",
     "images per rank and step (default 64): more ranks make a larger global batch, and the "
     "learning rate grows as --lr-scale says",
     [](TrainOptions& o, Text n, Text v) { o.batch_size = parse_count(n, v, 1, most_allowed); }},
    {"--global-batch", "N",
     "images of all ranks together per step: the same training for any number of ranks that "
     "divides N, and the learning rate is --lr as written",
     [](TrainOptions& o, Text n, Text v) { o.global_batch = parse_count(n, v, 1, most_allowed); }},
    {"--accumulate", "N",
     "a step adds up N micro-batches of --batch-size on each rank, or cuts --global-batch so: a large batch "
     "in "
     "little memory (default 1)",
     [](TrainOptions& o, Text n, Text v) { o.accumulate = parse_count(n, v, 1, 65536); }},
    {"--lr", "X", "learning rate for the batch of one rank (default 0.02)",
     [](TrainOptions& o, Text n, Text v) { o.lr = parse_real(n, v, 0.0, 1e30, "0.02"); }},
    {"--lr-scale", "HOW",
     "linear: --lr x ranks; sqrt: --lr x sqrt(ranks); none (default linear; not with "
     "--global-batch)",
     [](TrainOptions& o, Text n, Text v) {
       o.lr_scale = static_cast<LrScale>(parse_choice(n, v, scale_names));
     }},
    {"--lr-decay", "HOW",
     "cosine: falls to 0 at the last step; none; or Caffe's fixed, step, multistep, exp, inv, poly, sigmoid "
     "(default cosine)",
     [](TrainOptions& o, Text n, Text v) { o.lr_decay = parse_decay(n, v); }},
    {"--lr-gamma", "X",
     "gamma of step, multistep (default 0.1), exp, inv and sigmoid (below 0 for a rate that falls)",
     [](TrainOptions& o, Text n, Text v) { o.lr_gamma = parse_real(n, v, -1e30, 1e30); }},
    {"--lr-power", "X", "power of inv (default 0.75) and poly (default 1)",
     [](TrainOptions& o, Text n, Text v) { o.lr_power = parse_real(n, v, 0.0, 1e3, "0.75"); }},
    {"--lr-step", "N[,N...]", "the step size of step and sigmoid, the step values of multistep",
     [](TrainOptions& o, Text n, Text v) { o.lr_steps = parse_steps(n, v); }},
    {"--warmup-steps", "N", "the rate rises from 0 over the first N steps (default 0)",
     [](TrainOptions& o, Text n, Text v) { o.warmup_steps = parse_count(n, v, 0, most_allowed); }},
    {"--optimizer", "RULE", "sgd, nesterov, adam, lars, adagrad, rmsprop, adadelta (default sgd)",
     [](TrainOptions& o, Text n, Text v) {
       o.optimizer = static_cast<UpdateKind>(parse_choice(n, v, optimizer_names));
     }},
    {"--nesterov", "", "the same as --optimizer nesterov",
     [](TrainOptions& o, Text, Text) { o.nesterov = true; }},
    {"--rule-form", "WHOSE",
     "torch: the rate outside the momentum; caffe: inside, so that a rate that falls acts later (default "
     "torch)",
     [](TrainOptions& o, Text n, Text v) {
       o.rule_form = static_cast<RuleForm>(parse_choice(n, v, form_names));
     }},
    {"--momentum", "X", "of sgd, nesterov and lars; adam's beta1, adadelta's rho (default 0.9)",
     [](TrainOptions& o, Text n, Text v) { o.momentum = parse_share(n, v, "0.9"); }},
    {"--weight-decay", "X", "adds X x weight to each gradient (default 0)",
     [](TrainOptions& o, Text n, Text v) { o.weight_decay = parse_real(n, v, 0.0, 1.0, "0.0005"); }},

    {"--decay-norm", "NORM", "l2; l1: --weight-decay adds X x the sign of the weight (default l2)",
     [](TrainOptions& o, Text n, Text v) { o.l1 = parse_choice(n, v, norm_names) == 1; }},
    {"--beta2", "X", "of adam (default 0.999)",
     [](TrainOptions& o, Text n, Text v) { o.beta2 = parse_share(n, v, "0.999"); }},
    {"--epsilon", "X",
     "of adam, rmsprop (default 1e-8), adagrad (1e-10), adadelta (1e-6): keeps divisors from 0",
     [](TrainOptions& o, Text n, Text v) { o.epsilon = parse_real(n, v, least_divisor, 1.0, "1e-8"); }},
    {"--rms-decay", "X", "of rmsprop (default 0.99)",
     [](TrainOptions& o, Text n, Text v) { o.rms_decay = parse_share(n, v, "0.99"); }},
    {"--trust", "X", "of lars (default 0.001)",
     [](TrainOptions& o, Text n, Text v) { o.trust = parse_real(n, v, least_divisor, 1e30, "0.001"); }},
    {"--clip", "X",
     "largest norm of all gradients of a step together; larger ones are scaled to it; 0: none (default)",
     [](TrainOptions& o, Text n, Text v) { o.clip = parse_real(n, v, 0.0, 1e30, "10"); }},

    {"", "", "Sums over the ranks:", nullptr},
    {"--overlap", "WHEN",
     "on: gradients travel while the net still computes others; across: and beside the next step's forward "
     "pass; "
     "off; auto: as the first steps show to be faster (default auto)",
     [](TrainOptions& o, Text n, Text v) {
       o.overlap = static_cast<Overlap>(parse_choice(n, v, overlap_names));
     }},
    {"--bucket-kb", "N", "gradients that travel together, with --overlap (default: as the first steps show)",
     [](TrainOptions& o, Text n, Text v) { o.bucket_kb = parse_count(n, v, 1, std::uint64_t{1} << 30U); }},
    {"--update", "WHERE",
     "host: the ranks of a host share one copy of the weights and update a part each; rank: each its own; "
     "auto: "
     "host, where the optimizer can (default auto)",
     [](TrainOptions& o, Text n, Text v) {
       o.update = static_cast<UpdatePlace>(parse_choice(n, v, place_names));
     }},
    {"--wire", "TYPE", "how gradients travel between hosts: fp32, bf16, fp16 (default fp32)",
     [](TrainOptions& o, Text n, Text v) { o.wire = wire_names[parse_choice(n, v, wire_names) % 3 + 3]; }},
};

Error refuse_words(std::string what, std::string hint) {
  return {ErrorKind::usage, {std::move(what), "command line", std::move(hint)}};
}

// The words that show how it is meant.
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

void check_learning(const TrainOptions& options) {
  const LrSchedule schedule = make_schedule(options, 1.0);
  const LrDecay decay = schedule.decay;
  std::vector<Message> mistakes;
  for (const std::string& what : find_schedule_mistakes(schedule))
    mistakes.push_back({"--lr-decay " + what, "command line", example_of(decay)});
  const bool needs_gamma = decay == LrDecay::exp || decay == LrDecay::inv || decay == LrDecay::sigmoid;
  if (needs_gamma && !options.lr_gamma && mistakes.empty()) {
    mistakes.push_back(
        {fmt::format("--lr-decay {} needs --lr-gamma", name_of(decay)), "command line", example_of(decay)});
  }
  const bool has_steps = decay == LrDecay::step || decay == LrDecay::multistep || decay == LrDecay::sigmoid;
  if (!options.lr_steps.empty() &&
      (!has_steps || (decay != LrDecay::multistep && options.lr_steps.size() > 1))) {
    mistakes.push_back({fmt::format("--lr-step with {} value(s) has no meaning for --lr-decay {}",
                                    options.lr_steps.size(), name_of(decay)),
                        "command line", example_of(LrDecay::multistep)});
  }
  for (const std::string& what : find_rule_mistakes(make_rule(options)))
    mistakes.push_back({fmt::format("--optimizer {}: {}", name_of(make_rule(options).kind), what),
                        "command line", "ddl-train --help"});
  if (options.nesterov && options.optimizer.value_or(UpdateKind::nesterov) != UpdateKind::nesterov) {
    mistakes.push_back(
        {fmt::format("--nesterov and --optimizer {} exclude each other", name_of(*options.optimizer)),
         "command line", "--optimizer nesterov"});
  }
  if (!mistakes.empty()) throw Error(ErrorKind::usage, join_mistakes(mistakes).message());
}

void check_sums(const TrainOptions& options) {
  if (options.overlap == Overlap::off && options.bucket_kb != 0)
    throw refuse_words("--bucket-kb has nothing to cut with --overlap off", "--overlap on");
  if (options.update == UpdatePlace::host && needs_norms(make_rule(options))) {
    throw refuse_words(
        "--update host cannot be had with lars or --clip, whose norms need all sums on each rank",
        "--update rank");
  }
  if (options.overlap == Overlap::across && needs_norms(make_rule(options))) {
    throw refuse_words(
        "--overlap across cannot be had with lars or --clip, whose norms need all sums before a step ends",
        "--overlap on");
  }
  if (options.exact_steps != 0 && options.max_steps != 0)
    throw refuse_words("--steps and --max-steps exclude each other",
                       fmt::format("--max-steps {}", options.exact_steps));
}

void check_batch(const TrainOptions& options) {
  if (options.batch_size && options.global_batch) {
    throw Error(ErrorKind::usage,
                {fmt::format("--batch-size {} (of a rank) and --global-batch {} (of all ranks) "
                             "exclude each other",
                             *options.batch_size, *options.global_batch),
                 "command line", fmt::format("--global-batch {}", *options.global_batch)});
  }
  if (options.global_batch && options.lr_scale && *options.lr_scale != LrScale::none) {
    throw Error(
        ErrorKind::usage,
        {fmt::format("--global-batch {} does not grow with the ranks, so --lr-scale {} has nothing to follow",
                     *options.global_batch, name_of(*options.lr_scale)),
         "command line", "--batch-size 64 --lr-scale linear   # or leave --lr-scale out"});
  }
}

}  // namespace

std::span<const OptionRow> learn_rows() { return rows_of_learning; }

void check_learn_options(const TrainOptions& options) {
  check_learning(options);
  check_sums(options);
  check_batch(options);
}

const char* name_of(LrScale scale) { return scale_names[static_cast<std::size_t>(scale)].c_str(); }

BatchPlan plan_batch(const TrainOptions& options, std::size_t ranks) {
  if (options.global_batch) return {*options.global_batch, 1.0};
  const LrScale scale = options.lr_scale.value_or(options.asynchronous ? LrScale::none : LrScale::linear);
  return {options.batch_size.value_or(default_batch) * ranks * options.accumulate,
          lr_factor(scale, static_cast<double>(ranks))};
}

LrSchedule make_schedule(const TrainOptions& options, double lr_factor) {
  const bool steps = options.lr_decay == LrDecay::step || options.lr_decay == LrDecay::multistep;
  const std::size_t first = options.lr_steps.empty() ? 0 : options.lr_steps.front();
  return {options.lr * lr_factor,
          options.warmup_steps,
          0,
          options.lr_decay,
          options.lr_gamma.value_or(steps ? 0.1 : 0.0),
          options.lr_power.value_or(options.lr_decay == LrDecay::inv ? 0.75 : 1.0),
          options.lr_decay == LrDecay::multistep ? 0 : first,
          options.lr_decay == LrDecay::multistep ? options.lr_steps : std::vector<std::size_t>{}};
}

UpdateRule make_rule(const TrainOptions& options) {
  UpdateRule rule;
  rule.kind = options.optimizer.value_or(options.nesterov ? UpdateKind::nesterov : UpdateKind::sgd);
  rule.momentum = options.momentum;
  rule.momentum2 = options.beta2;
  rule.form = options.rule_form;
  rule.l1 = options.l1;
  const bool adagrad = rule.kind == UpdateKind::adagrad;
  rule.epsilon = options.epsilon.value_or(adagrad ? 1e-10 : rule.kind == UpdateKind::adadelta ? 1e-6 : 1e-8);
  rule.rms_decay = options.rms_decay;
  rule.weight_decay = options.weight_decay;
  rule.trust = options.trust;
  rule.clip = options.clip;
  return rule;
}

}  // namespace ddlrun::runtime
