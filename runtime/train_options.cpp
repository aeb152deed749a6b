// SPDX-License-Identifier: MIT
#include "runtime/train_options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/net.hpp"
#include "runtime/net_files.hpp"
#include "runtime/options.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace ddlrun::runtime {
namespace {

const std::array<std::string, 3> scale_names{"linear", "sqrt", "none"};
const std::array<std::string, 2> decay_names{"none", "cosine"};
const std::array<std::string, 2> device_names{"cpu", "cuda"};
constexpr std::uint64_t most_allowed = 1'000'000'000;

// One row: a heading, or an option whose `apply` gets (options, option name, value).
using Apply = void (*)(TrainOptions&, const std::string&, const std::string&);
struct Row {
  const char* name;
  const char* value;
  const char* help;
  Apply apply;
};

using Text = const std::string&;

const Row option_rows[] = {
    {"", "", "What to train:", nullptr},
    {"--net", "NAME|FILE",
     "alexnet, caffe, cifar-quick, ddl, lenet5, mlp, resnet-18, resnet-50, or a net in YAML (default lenet5; "
     "mlp takes images of any size)",
     [](TrainOptions& o, Text n, Text v) {
       o.net = is_net_file(v) ? v : net_names()[parse_choice(n, v, net_names())];
     }},
    {"--data", "DIR",
     "directory with MNIST's four IDX files, with or without .gz (default: $DDLRUN_DATA, else "
     "Debian's Fashion-MNIST, else the 1,000-image subset that comes with ddlrun)",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the directory is empty text", n, n + " DIR"});
       o.data = v;
     }},
    {"--epochs", "N", "passes over the training images (default 5)",
     [](TrainOptions& o, Text n, Text v) { o.epochs = parse_count(n, v, 1, most_allowed); }},
    {"--steps", "N", "stop after N steps, even inside an epoch",
     [](TrainOptions& o, Text n, Text v) { o.max_steps = parse_count(n, v, 1, most_allowed); }},
    {"--seed", "N", "decides the first weights and the order of the images (default 1)",
     [](TrainOptions& o, Text n, Text v) { o.seed = parse_count(n, v, 0, UINT64_MAX); }},

    {"", "", "Batch and learning rate:", nullptr},
    {"--batch-size", "N",
     "images per rank and step (default 64): more ranks make a larger global batch, and the "
     "learning rate grows as --lr-scale says",
     [](TrainOptions& o, Text n, Text v) { o.batch_size = parse_count(n, v, 1, most_allowed); }},
    {"--global-batch", "N",
     "images of all ranks together per step: the same training for any number of ranks that "
     "divides N, and the learning rate is --lr as written",
     [](TrainOptions& o, Text n, Text v) { o.global_batch = parse_count(n, v, 1, most_allowed); }},
    {"--lr", "X", "learning rate for the batch of one rank (default 0.02)",
     [](TrainOptions& o, Text n, Text v) { o.lr = parse_real(n, v, 0.0, 1e30); }},
    {"--lr-scale", "HOW",
     "linear: --lr x ranks; sqrt: --lr x sqrt(ranks); none (default linear; not with "
     "--global-batch)",
     [](TrainOptions& o, Text n, Text v) {
       o.lr_scale = static_cast<LrScale>(parse_choice(n, v, scale_names));
     }},
    {"--lr-decay", "HOW", "cosine: falls to 0 at the last step; none (default cosine)",
     [](TrainOptions& o, Text n, Text v) {
       o.lr_decay = static_cast<LrDecay>(parse_choice(n, v, decay_names));
     }},
    {"--warmup-steps", "N", "the rate rises from 0 over the first N steps (default 0)",
     [](TrainOptions& o, Text n, Text v) { o.warmup_steps = parse_count(n, v, 0, most_allowed); }},
    {"--momentum", "X", "of the gradient descent (default 0.9)",
     [](TrainOptions& o, Text n, Text v) { o.momentum = parse_real(n, v, 0.0, 1.0); }},
    {"--weight-decay", "X", "adds X x weight to each gradient (default 0)",
     [](TrainOptions& o, Text n, Text v) { o.weight_decay = parse_real(n, v, 0.0, 1.0); }},

    {"", "", "Where it runs:", nullptr},
    {"--device", "WHAT", "cpu (default); cuda is not in this version yet",
     [](TrainOptions& o, Text n, Text v) { o.device = device_names[parse_choice(n, v, device_names)]; }},
    {"--threads", "N",
     "OpenMP threads per rank (default: $OMP_NUM_THREADS, else the cores in this rank's affinity "
     "mask, shared with the ranks that have the same mask)",
     [](TrainOptions& o, Text n, Text v) { o.threads = static_cast<int>(parse_count(n, v, 1, 4096)); }},

    {"", "", "Saving and going on:", nullptr},
    {"--checkpoint", "DIR",
     "save there what the run needs to go on, as safetensors; USR1 and TERM then save and end with status 75",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the directory is empty text", n, n + " checkpoints"});
       o.checkpoint = v;
     }},
    {"--checkpoint-every", "WHEN", "epoch, or a number of steps (default epoch); and at the end",
     [](TrainOptions& o, Text n, Text v) {
       o.checkpoint_steps = v == "epoch" ? 0 : parse_count(n, v, 1, most_allowed);
       o.checkpoint_every_given = true;
     }},
    {"--keep", "N", "checkpoints that stay, at least 2 (default 2)",
     [](TrainOptions& o, Text n, Text v) { o.keep = parse_count(n, v, 2, most_allowed); }},
    {"--resume", "[DIR|FILE]",
     "go on from this checkpoint, or from the newest whole one of a folder (default: that of --checkpoint; a "
     "new "
     "run if it has none yet)",
     [](TrainOptions& o, Text, Text v) {
       o.resume = true;
       o.resume_from = v;
     }},

    {"", "", "What it tells:", nullptr},
    {"--metrics", "FILE", "write one JSON object a line: configuration, steps, epochs, summary (rank 0)",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the file name is empty", n, n + " metrics.jsonl"});
       o.metrics = v;
     }},
    {"--json", "", "print the summary as one JSON document instead of one line",
     [](TrainOptions& o, Text, Text) { o.json = true; }},
    {"--quiet", "", "no progress on stderr", [](TrainOptions& o, Text, Text) { o.quiet = true; }},
    {"--help", "", "this text", [](TrainOptions& o, Text, Text) { o.help = true; }},
    {"--version", "", "the version", [](TrainOptions& o, Text, Text) { o.version = true; }},
};

std::vector<Option> make_table(TrainOptions& options) {
  std::vector<Option> table;
  for (const Row& row : option_rows) {
    table.push_back({row.name, row.value, row.help,
                     [&options, &row](const std::string& value) { row.apply(options, row.name, value); }});
  }
  return table;
}

// --resume is the one option whose value may be left out.
std::vector<std::string> fill_resume(std::span<const std::string> words) {
  std::vector<std::string> filled(words.begin(), words.end());
  for (std::size_t i = 0; i < filled.size(); ++i) {
    const bool alone = i + 1 == filled.size() || filled[i + 1].starts_with("--");
    if (filled[i] == "--resume" && alone) filled[i] = "--resume=";
  }
  return filled;
}

void check_saving(const TrainOptions& options) {
  if (options.resume && options.resume_from.empty()) {
    throw Error(ErrorKind::usage,
                {"--resume without a folder goes on in that of --checkpoint, which is not given",
                 "command line", "--checkpoint DIR --resume   # or --resume DIR"});
  }
  if (options.checkpoint.empty() && (options.checkpoint_every_given || options.keep != 2)) {
    throw Error(ErrorKind::usage, {"--checkpoint-every and --keep need --checkpoint, which says where",
                                   "command line", "--checkpoint DIR"});
  }
}

void check_combinations(const TrainOptions& options) {
  check_saving(options);
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

const char* name_of(LrScale scale) { return scale_names[static_cast<std::size_t>(scale)].c_str(); }
const char* name_of(LrDecay decay) { return decay_names[static_cast<std::size_t>(decay)].c_str(); }

TrainOptions parse_train_options(std::span<const std::string> words) {
  TrainOptions options;
  parse_options("ddl-train", fill_resume(words), make_table(options));
  if (options.resume && options.resume_from.empty()) options.resume_from = options.checkpoint;
  check_combinations(options);
  return options;
}

std::string render_train_help() {
  TrainOptions unused;
  return "usage: ddl-train [OPTIONS]\n"
         "       mpirun -n RANKS ddl-train [OPTIONS]\n\n"
         "Trains a small image classifier on one or many ranks: each rank computes its part of the\n"
         "global batch, the gradients are averaged over all ranks, all ranks keep equal weights.\n" +
         render_options(make_table(unused)) +
         "\nThe summary goes to stdout, the talk to stderr. Exit status: 0 ok, 2 wrong command line,\n"
         "3 the request cannot be met (data, device), 70 a bug of ddl-train, 75 saved and stopped by a "
         "signal.\n";
}

BatchPlan plan_batch(const TrainOptions& options, std::size_t ranks) {
  if (options.global_batch) return {*options.global_batch, 1.0};
  const LrScale scale = options.lr_scale.value_or(LrScale::linear);
  return {options.batch_size.value_or(default_batch) * ranks, lr_factor(scale, static_cast<double>(ranks))};
}

}  // namespace ddlrun::runtime
