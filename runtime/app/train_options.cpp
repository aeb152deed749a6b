// SPDX-License-Identifier: MIT
#include "runtime/app/train_options.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/hyperparameter_options.hpp"
#include "runtime/app/image_options.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/app/server_options.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/models/net.hpp"
#include "runtime/models/net_files.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

namespace ddlrun::runtime {
namespace {

const std::array<std::string, 3> device_names{"cpu", "cuda", "auto"};

using Text = const std::string&;

std::string file_name(Text option, Text value, const char* example) {
  if (value.empty())
    throw Error(ErrorKind::usage, {"the file name is empty", option, option + " " + example});
  return value;
}

// "gpu" is as far from cuda as from cpu for a did-you-mean, so it has its own hint.
std::string parse_device(Text n, Text v) {
  if (v.starts_with("gpu") || v.starts_with("GPU") || v.starts_with("CUDA")) {
    throw Error(ErrorKind::usage, {fmt::format("unknown value '{}': must be one of {}; did you mean cuda?",
                                               printable(v), join(device_names, ", ")),
                                   n, n + " cuda"});
  }
  return device_names[parse_choice(n, v, device_names)];
}

const OptionRow first_rows[] = {
    {"", "", "Model, data and length of the run:", nullptr},
    {"--net", "NAME|FILE",
     "alexnet, caffe, cifar-quick, ddl, lenet5, mlp, resnet-18, resnet-50; a YAML file (see ddl-train "
     "print-net); or one of Caffe's .prototxt files (default lenet5, for photos cifar-quick, on GPUs "
     "resnet-18; mlp takes images of any size)",
     [](TrainOptions& o, Text n, Text v) {
       o.net = is_net_file(v) ? v : net_names()[parse_choice(n, v, net_names())];
     }},
    {"--solver", "FILE",
     "Caffe's solver.prototxt: it and its net file set the net, images, batch of each rank, learning rates "
     "and steps; options on the command line override them",
     [](TrainOptions& o, Text, Text v) { o.solver = v; }},
    {"--data", "PATH",
     "directory with MNIST's four IDX files (also .gz), CIFAR's *.bin, train/CLASS/*.jpg and "
     "val/CLASS/*.jpg, or train.txt and val.txt (a line: image class); an LMDB written for Caffe; or "
     "synthetic:CxHxWxCLASSES:IMAGES (default: $DDLRUN_DATA, else Debian's Fashion-MNIST, else the "
     "1,000-image subset that comes with ddlrun)",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the path is empty", n, n + " DIR"});
       o.data = v;
     }},
    {"--epochs", "N", "passes over the training images (default 5)",
     [](TrainOptions& o, Text n, Text v) { o.epochs = parse_count(n, v, 1, max_count); }},
    {"--max-steps", "N",
     "train N steps, over as many epochs as that takes; with --epochs what ends first counts; the rates of "
     "cosine and poly fall over these steps",
     [](TrainOptions& o, Text n, Text v) { o.max_steps = parse_count(n, v, 1, max_count); }},
    {"--total-steps", "N", "train N steps, over as many epochs as that takes; replaces --epochs",
     [](TrainOptions& o, Text n, Text v) { o.total_steps = parse_count(n, v, 1, max_count); }},
    {"--test-every", "N", "also test after every N steps, not only after each epoch",
     [](TrainOptions& o, Text n, Text v) { o.test_every = parse_count(n, v, 1, max_count); }},
    {"--seed", "N", "seed of the initial weights and of the order of the images (default 1)",
     [](TrainOptions& o, Text n, Text v) { o.seed = parse_count(n, v, 0, UINT64_MAX); }},
};

const OptionRow last_rows[] = {
    {"", "", "Device and threads:", nullptr},
    {"--device", "cpu|cuda|auto",
     "cpu (default); cuda: one GPU for each rank, by local rank among those in CUDA_VISIBLE_DEVICES; auto: "
     "cuda if all ranks have a GPU, else cpu",
     [](TrainOptions& o, Text n, Text v) { o.device = parse_device(n, v); }},
    {"--threads", "N",
     "OpenMP threads of each rank (default: $OMP_NUM_THREADS, else the cores in this rank's affinity mask, "
     "shared with the ranks that have the same mask)",
     [](TrainOptions& o, Text n, Text v) { o.threads = static_cast<int>(parse_count(n, v, 1, 4096)); }},
    {"--tf32", "",
     "with --device cuda: multiply in TF32 (10 bits of mantissa) on GPUs that have it, as PyTorch does in "
     "convolutions (default: float32)",
     [](TrainOptions& o, Text, Text) { o.tf32 = true; }},
    {"--lms", "KB",
     "with --device cuda: keep activations larger than KB kilobytes in host memory between forward and "
     "backward",
     [](TrainOptions& o, Text n, Text v) { o.lms_kb = parse_count(n, v, 0, max_count); }},

    {"", "", "Checkpoints:", nullptr},
    {"--checkpoint", "DIR",
     "write checkpoints to DIR, as safetensors; on USR1, TERM or Ctrl-C save one and exit with status 75",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the directory is empty", n, n + " checkpoints"});
       o.checkpoint = v;
     }},
    {"--checkpoint-every", "epoch|N",
     "after each epoch or every N steps, and at the end (default epoch); also after the epoch with the "
     "highest test accuracy",
     [](TrainOptions& o, Text n, Text v) {
       o.checkpoint_steps = v == "epoch" ? 0 : parse_count(n, v, 1, max_count);
       o.checkpoint_every_given = true;
     }},
    {"--keep-checkpoints", "N", "how many checkpoints to keep beside the best one, at least 2 (default 2)",
     [](TrainOptions& o, Text n, Text v) { o.keep_checkpoints = parse_count(n, v, 2, max_count); }},
    {"--resume", "[DIR|FILE]",
     "resume from this checkpoint, or from the newest intact one in a directory (default: the directory of "
     "--checkpoint; without a checkpoint there, start a new run)",
     [](TrainOptions& o, Text, Text v) {
       o.resume = true;
       o.resume_from = v;
     }},

    {"", "", "Output:", nullptr},
    {"--metrics", "FILE",
     "rank 0 writes one JSON object per line: configuration, steps, epochs, summary; --resume appends a "
     "resume line, after which earlier lines of later steps are void",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the file name is empty", n, n + " metrics.jsonl"});
       o.metrics = v;
     }},
    {"--summary-json", "FILE",
     "write accuracy, speed and the epochs since the start or resume as one JSON document at the end",
     [](TrainOptions& o, Text n, Text v) { o.summary_json = file_name(n, v, "results.json"); }},
    {"--tensorboard", "DIR", "write TensorBoard event files to DIR",
     [](TrainOptions& o, Text n, Text v) { o.tensorboard = file_name(n, v, "runs"); }},
    {"--timeline", "FILE",
     "write a timeline of each rank for ui.perfetto.dev or chrome://tracing (also: $HOROVOD_TIMELINE)",
     [](TrainOptions& o, Text n, Text v) { o.timeline = file_name(n, v, "timeline.json"); }},
    {"--stall-timeout", "SECONDS",
     "report ranks that others have waited for longer than this; 0: never (default 30)",
     [](TrainOptions& o, Text n, Text v) { o.stall_seconds = parse_real(n, v, 0.0, 86400.0, "30"); }},
    {"--json", "", "print the summary as one JSON document instead of one line",
     [](TrainOptions& o, Text, Text) { o.json = true; }},
    {"--quiet", "", "do not print progress", [](TrainOptions& o, Text, Text) { o.quiet = true; }},
    {"--help", "", "print this help (also: -h)", [](TrainOptions& o, Text, Text) { o.help = true; }},
    {"--version", "", "print the version", [](TrainOptions& o, Text, Text) { o.version = true; }},
};

std::vector<Option> make_table(TrainOptions& options) {
  std::vector<Option> table;
  for (const std::span<const OptionRow> rows :
       {std::span<const OptionRow>(first_rows), image_rows(), hyperparameter_rows(), server_rows(),
        std::span<const OptionRow>(last_rows)}) {
    for (const OptionRow& row : rows) {
      table.push_back({row.name, row.value, row.help, [&options, &row](const std::string& value) {
                         options.given.emplace(row.name, value);
                         row.apply(options, row.name, value);
                       }});
    }
  }
  return table;
}

// --resume is the only option with an optional value.
std::vector<std::string> fill_resume(std::span<const std::string> args) {
  std::vector<std::string> filled(args.begin(), args.end());
  for (std::size_t i = 0; i < filled.size(); ++i) {
    const bool alone = i + 1 == filled.size() || filled[i + 1].starts_with("--");
    if (filled[i] == "--resume" && alone) filled[i] = "--resume=";
  }
  return filled;
}

void check_saving(const TrainOptions& options) {
  if (options.resume && options.resume_from.empty()) {
    throw Error(ErrorKind::usage, {"--resume without a directory needs --checkpoint", "command line",
                                   "--checkpoint DIR --resume   # or --resume DIR"});
  }
  if (options.checkpoint.empty() && (options.checkpoint_every_given || options.keep_checkpoints != 2)) {
    throw Error(ErrorKind::usage, {"--checkpoint-every and --keep-checkpoints need --checkpoint",
                                   "command line", "--checkpoint DIR"});
  }
}

void check_combinations(const TrainOptions& options) {
  check_saving(options);
  if (options.images.val_fraction > 0.0 && !options.images.test.empty())
    throw Error(ErrorKind::usage, {"--val-fraction and --test-data both choose the test images",
                                   "command line", "one of the two"});
  check_hyperparameter_options(options);
  check_server_options(options);
}

}  // namespace

TrainOptions parse_train_options(std::span<const std::string> args, TypedAt typed) {
  TrainOptions options;
  parse_options("ddl-train", fill_resume(args), make_table(options), typed);
  if (options.resume && options.resume_from.empty()) options.resume_from = options.checkpoint;
  check_combinations(options);
  return options;
}

std::string resume_command(const TrainOptions& options) {
  if (!options.resume) return "the same command with --resume";
  if (options.resume_from == options.checkpoint) return "the same command";
  return "the same command with --resume " + quote_shell(options.checkpoint);
}

TelemetryPlan plan_telemetry(const TrainOptions& options) {
  TelemetryPlan plan;
  plan.metrics = options.metrics;
  plan.tensorboard = options.tensorboard;
  plan.timeline = options.timeline;
  plan.results = options.summary_json;
  plan.checkpoint = options.checkpoint;
  plan.quiet = options.quiet;
  return plan;
}

std::vector<OptionReference> describe_train_options() {
  TrainOptions unused;
  std::vector<OptionReference> options = describe_options(make_table(unused));
  for (OptionReference& option : options) {
    const auto choices = hyperparameter_choices(option.names[0]);
    option.choices.insert(option.choices.end(), choices.begin(), choices.end());
  }
  return options;
}

std::string_view train_description() {
  return "Trains an image classifier on one rank or on many. Each rank computes its share of the global\n"
         "batch, the gradients are averaged over all ranks, and all ranks keep equal weights; with\n"
         "--parameter-servers, some ranks hold the weights for the others.";
}

std::string_view train_examples() {
  return "  ddl-train --epochs 1\n"
         "  ddl-train --data photos --resize 256 --crop 224 --net resnet-18\n"
         "  mpirun -n 4 ddl-train --global-batch 64 --checkpoint run1 --resume\n"
         "  mpirun -n 5 ddl-train --parameter-servers 1 --async --staleness 4\n";
}

std::string render_train_help() {
  TrainOptions unused;
  std::string commands;
  for (const CommandRow& row : command_rows()) {
    const std::string_view launcher = row.name == "allreduce" ? "mpirun ... " : "";
    const std::string usage = fmt::format("{}ddl-train {}   ", launcher, row.usage);
    commands += fmt::format("       {:<42}{}\n", usage, row.help);
  }
  return fmt::format(
      "{}\n\n"
      "usage: ddl-train [train] [OPTIONS]\n"
      "       mpirun -n RANKS ddl-train [OPTIONS]\n"
      "{}{}"
      "\nThe summary goes to stdout, everything else to stderr. Exit status: 0 success, 2 invalid command\n"
      "line, 3 request cannot be met (data, device), 70 internal error, 75 stopped by a signal after\n"
      "saving a checkpoint.\n"
      "\nExamples:\n{}",
      train_description(), commands, render_options(make_table(unused)), train_examples());
}

}  // namespace ddlrun::runtime
