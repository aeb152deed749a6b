// SPDX-License-Identifier: MIT
#include "runtime/train_options.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/image_options.hpp"
#include "runtime/learn_options.hpp"
#include "runtime/nets/net.hpp"
#include "runtime/nets/net_files.hpp"
#include "runtime/options.hpp"
#include "runtime/server_options.hpp"

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

// What other programs call it is as far from cuda as from cpu.
std::string parse_device(Text n, Text v) {
  if (v.starts_with("gpu") || v.starts_with("GPU") || v.starts_with("CUDA")) {
    throw Error(ErrorKind::usage, {fmt::format("'{}' is none of {}; did you mean cuda?", printable(v),
                                               join(device_names, ", ")),
                                   n, n + " cuda"});
  }
  return device_names[parse_choice(n, v, device_names)];
}

const OptionRow first_rows[] = {
    {"", "", "What to train:", nullptr},
    {"--net", "NAME|FILE",
     "alexnet, caffe, cifar-quick, ddl, lenet5, mlp, resnet-18, resnet-50, a net in YAML (ddl-train "
     "print-net says how), or one of Caffe's in a .prototxt (default lenet5; mlp takes images of any size)",
     [](TrainOptions& o, Text n, Text v) {
       o.net = is_net_file(v) ? v : net_names()[parse_choice(n, v, net_names())];
     }},
    {"--solver", "FILE",
     "Caffe's solver.prototxt: the net, images, batch of each rank, rates and steps are what it and its net "
     "say, "
     "but for options that are given beside it",
     [](TrainOptions& o, Text, Text v) { o.solver = v; }},
    {"--data", "PATH",
     "folder with MNIST's four IDX files (also .gz), CIFAR's *.bin, train/CLASS/*.jpg and val/CLASS/*.jpg, "
     "or train.txt and val.txt (lines: image class); Caffe's LMDB; synthetic:CxHxWxCLASSES:IMAGES "
     "(default: $DDLRUN_DATA, else Debian's Fashion-MNIST, else the 1,000-image subset that comes with "
     "ddlrun)",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the directory is empty text", n, n + " DIR"});
       o.data = v;
     }},
    {"--epochs", "N", "passes over the training images (default 5)",
     [](TrainOptions& o, Text n, Text v) { o.epochs = parse_count(n, v, 1, most_allowed); }},
    {"--steps", "N",
     "stop after N steps, even inside an epoch; the rates of cosine and poly then fall over these N",
     [](TrainOptions& o, Text n, Text v) { o.max_steps = parse_count(n, v, 1, most_allowed); }},
    {"--max-steps", "N", "exactly N steps, over as many epochs as that takes; --epochs is then not read",
     [](TrainOptions& o, Text n, Text v) { o.exact_steps = parse_count(n, v, 1, most_allowed); }},
    {"--test-every", "N", "test also after every N steps, not only after each epoch",
     [](TrainOptions& o, Text n, Text v) { o.test_every = parse_count(n, v, 1, most_allowed); }},
    {"--seed", "N", "decides the first weights and the order of the images (default 1)",
     [](TrainOptions& o, Text n, Text v) { o.seed = parse_count(n, v, 0, UINT64_MAX); }},
};

const OptionRow last_rows[] = {
    {"", "", "Where it runs:", nullptr},
    {"--device", "WHAT",
     "cpu (default); cuda: each rank a GPU, by its local rank among those that CUDA_VISIBLE_DEVICES leaves; "
     "auto: cuda where all ranks can, else cpu",
     [](TrainOptions& o, Text n, Text v) { o.device = parse_device(n, v); }},
    {"--threads", "N",
     "OpenMP threads per rank (default: $OMP_NUM_THREADS, else the cores in this rank's affinity "
     "mask, shared with the ranks that have the same mask)",
     [](TrainOptions& o, Text n, Text v) { o.threads = static_cast<int>(parse_count(n, v, 1, 4096)); }},

    {"--lms", "KB",
     "with --device cuda: activations larger than this wait in host memory between forward and backward",
     [](TrainOptions& o, Text n, Text v) { o.lms_kb = parse_count(n, v, 0, most_allowed); }},

    {"", "", "Saving and going on:", nullptr},
    {"--checkpoint", "DIR",
     "save there what the run needs to go on, as safetensors; USR1, TERM and Ctrl-C then save and end with "
     "status 75",
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
    {"--metrics", "FILE",
     "write one JSON object a line: configuration, steps, epochs, summary (rank 0); --resume goes on with "
     "it, behind a resume line: lines above of later steps are void",
     [](TrainOptions& o, Text n, Text v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the file name is empty", n, n + " metrics.jsonl"});
       o.metrics = v;
     }},
    {"--results", "FILE",
     "write the accuracy, the speed and the epochs since the start or resume as one JSON document at the end",
     [](TrainOptions& o, Text n, Text v) { o.results = file_name(n, v, "results.json"); }},
    {"--tensorboard", "DIR", "write TensorBoard's event files there",
     [](TrainOptions& o, Text n, Text v) { o.tensorboard = file_name(n, v, "runs"); }},
    {"--timeline", "FILE",
     "write what each rank does when, for ui.perfetto.dev or chrome://tracing (also: $HOROVOD_TIMELINE)",
     [](TrainOptions& o, Text n, Text v) { o.timeline = file_name(n, v, "timeline.json"); }},
    {"--stall-seconds", "X", "name ranks that others wait for longer than this; 0: never (default 30)",
     [](TrainOptions& o, Text n, Text v) { o.stall_seconds = parse_real(n, v, 0.0, 86400.0, "30"); }},
    {"--json", "", "print the summary as one JSON document instead of one line",
     [](TrainOptions& o, Text, Text) { o.json = true; }},
    {"--quiet", "", "no progress on stderr", [](TrainOptions& o, Text, Text) { o.quiet = true; }},
    {"--help", "", "this text (also: -h)", [](TrainOptions& o, Text, Text) { o.help = true; }},
    {"--version", "", "the version", [](TrainOptions& o, Text, Text) { o.version = true; }},
};

std::vector<Option> make_table(TrainOptions& options) {
  std::vector<Option> table;
  for (const std::span<const OptionRow> rows :
       {std::span<const OptionRow>(first_rows), image_rows(), learn_rows(), server_rows(),
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
  check_learn_options(options);
  check_server_options(options);
}

}  // namespace

TrainOptions parse_train_options(std::span<const std::string> words) {
  TrainOptions options;
  parse_options("ddl-train", fill_resume(words), make_table(options));
  if (options.resume && options.resume_from.empty()) options.resume_from = options.checkpoint;
  check_combinations(options);
  return options;
}

std::string go_on_words(const TrainOptions& options) {
  if (!options.resume) return "the same command with --resume";
  if (options.resume_from == options.checkpoint) return "the same command";
  return "the same command with --resume " + quote_shell(options.checkpoint);
}

WatchPlan plan_watching(const TrainOptions& options) {
  WatchPlan plan;
  plan.metrics = options.metrics;
  plan.tensorboard = options.tensorboard;
  plan.timeline = options.timeline;
  plan.results = options.results;
  plan.checkpoint = options.checkpoint;
  plan.quiet = options.quiet;
  return plan;
}

std::string render_train_help() {
  TrainOptions unused;
  return "usage: ddl-train [train] [OPTIONS]\n"
         "       mpirun -n RANKS ddl-train [OPTIONS]\n"
         "       ddl-train convert-data FROM TO    images as an LMDB of Caffe's\n"
         "       ddl-train read-data DIR           how fast images are read and decoded\n"
         "       ddl-train print-net [NAME]        how nets are written in YAML, or a net of ddl-train's as "
         "a\n"
         "                                         file to start from\n"
         "       ddl-train check-options RANKS [OPTIONS]\n"
         "                                         whether a training with them could start\n"
         "       ddl-train timeline FILE           the --timeline of a run that was killed\n"
         "       ddl-train allreduce               how fast sums over the ranks are, under mpirun\n\n"
         "Trains a small image classifier on one or many ranks: each rank computes its part of the\n"
         "global batch, the gradients are averaged over all ranks, all ranks keep equal weights; or some\n"
         "ranks are parameter servers for the others (--servers).\n" +
         render_options(make_table(unused)) +
         "\nThe summary goes to stdout, the talk to stderr. Exit status: 0 ok, 2 wrong command line,\n"
         "3 the request cannot be met (data, device), 70 a bug of ddl-train, 75 saved and stopped by a "
         "signal.\n";
}

}  // namespace ddlrun::runtime
