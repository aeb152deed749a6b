// SPDX-License-Identifier: MIT
#include "runtime/app/check_options_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/command_line.hpp"
#include "runtime/app/hyperparameter_options.hpp"
#include "runtime/app/run_net.hpp"
#include "runtime/core/error_list.hpp"
#include "runtime/data/class_findings.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/data/sharding.hpp"
#include "runtime/data/synthetic.hpp"
#include "runtime/data/transform.hpp"
#include "runtime/models/net_files.hpp"
#include "runtime/parameter_server/roles.hpp"
#include "runtime/telemetry/telemetry_sinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>

namespace ddlrun::runtime {
namespace {

constexpr std::uint64_t most_ranks = std::uint64_t{1} << 20U;

// `images`: for training, where they are counted.
void check_for_ranks(const TrainOptions& options, std::size_t ranks, std::optional<std::size_t> images) {
  TrainPlan plan;
  plan.optimizer = make_optimizer(options);
  plan.accumulate = options.gradient_accumulation;
  const ServerRoles roles{options.parameter_servers, options.asynchronous,
                          options.staleness.value_or(SIZE_MAX)};
  if (options.parameter_servers != 0) check_servers(plan, roles, ranks);
  const std::size_t workers = ranks - options.parameter_servers;
  plan.global_batch = plan_batch(options, workers, images).global_batch;
  local_batch(plan.global_batch, workers, images.value_or(SIZE_MAX));
  check_accumulation(plan, workers);
}

int count_classes(const FileList& list) {
  int classes = static_cast<int>(list.classes.names.size());
  for (std::size_t i = 0; i < list.count() && list.classes.names.empty(); ++i)
    classes = std::max(classes, list.label(i) + 1);
  return classes;
}

// Names, and the headers of some files: whether the classes of both splits agree, and whether crop and net
// fit the images. Returns the number of training images; nothing where they are in no files of their own.
std::optional<std::size_t> check_image_files(const CommandLine& line) {
  const TrainOptions& options = line.options;
  DataRequest request = options.images;
  request.train = options.data;
  const DatasetPaths place = locate_splits(request);
  if (!is_in_files(place.train.kind)) return std::nullopt;
  if (place.train.kind == DataKind::directories) check_class_directories(place.train.path, "");
  const FileList train = list_files(place.train, request, {});
  if (is_in_files(place.test.kind)) list_files(place.test, request, train.classes);
  const std::size_t images = train.count();
  const int classes = request.classes != 0 ? request.classes : count_classes(train);
  Transform transform;
  transform.crop = request.crop;
  const Shape shape = make_file_source(train, request)->shape();
  const std::vector<Message> errors = check_transform(transform, shape);
  if (!errors.empty()) throw join_errors(errors);
  load_run_net(options, line.caffe, options.data, true, transform.output(shape), classes);
  return images;
}

// Skips data that differ between hosts or ranks. Returns the number of training images in files.
std::optional<std::size_t> check_images(const CommandLine& line) {
  const TrainOptions& options = line.options;
  if (options.images.sharding != ShardBy::none) return std::nullopt;
  if (is_synthetic(options.data)) synthetic_classes(options.data);
  const auto images = options.data.empty() ? std::nullopt : check_image_files(line);
  std::error_code ignored;
  if (options.images.mean_file.empty() || std::filesystem::exists(options.images.mean_file, ignored))
    return images;
  throw Error(ErrorKind::request, {"the mean image does not exist", printable(options.images.mean_file),
                                   "ls -l " + quote_shell(options.images.mean_file)});
}

constexpr const char* check_help =
    "Checks, without MPI, whether a training with these options could start on RANKS ranks.\n\n"
    "usage: ddl-train check-options RANKS [OPTIONS]\n\n"
    "Exit status: 0 it could, 2 invalid options, 3 request cannot be met.\n\n"
    "Example:\n  ddl-train check-options 4 --epochs 3\n";

}  // namespace

void check_train_args(const std::vector<std::string>& args, std::size_t ranks) {
  if (!args.empty() && args.front() == "--print-net") return;  // another command
  const CommandLine line = read_command_line(args, TypedAt::launcher);
  const TrainOptions& options = line.options;
  if (options.help || options.version) return;
  check_outputs(plan_telemetry(options), false);
  check_for_ranks(options, ranks, std::nullopt);
  if (!line.caffe.run.net && is_net_file(options.net)) check_net_file(options.net);
  if (const auto images = check_images(line)) check_for_ranks(options, ranks, images);
}

int run_check_options_command(const std::vector<std::string>& args) {
  try {
    if (args.size() == 1 && (args[0] == "--help" || args[0] == "-h")) {
      fmt::print("{}", check_help);
      return 0;
    }
    const auto ranks = args.empty() ? std::nullopt : parse_unsigned(args.front(), most_ranks);
    if (!ranks || *ranks == 0) {
      throw Error(ErrorKind::usage, {"the first argument must be the number of ranks", "command line",
                                     "ddl-train check-options 4 --epochs 3"});
    }
    check_train_args({args.begin() + 1, args.end()}, *ranks);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error("ddl-train", error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
