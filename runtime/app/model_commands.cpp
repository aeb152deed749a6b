// SPDX-License-Identifier: MIT
#include "runtime/app/model_commands.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/checkpoint/saved_model.hpp"
#include "runtime/comm/communicator.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/engine/cpu/cpu_engine.hpp"
#include "runtime/training/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <numeric>

namespace ddlrun::runtime {
namespace {

struct ModelOptions {
  std::vector<std::string> words;  // without dashes: photos, or the checkpoint of test
  std::string checkpoint;
  std::string data;
  std::size_t top = 3;
  bool help = false;
};

constexpr const char* predict_name = "ddl-train predict";
constexpr const char* test_name = "ddl-train test";

std::vector<Option> predict_options(ModelOptions& options) {
  return {{"--checkpoint", "DIR|FILE", "a checkpoint, or a directory of them: the newest is read",
           [&](const std::string& v) { options.checkpoint = v; }},
          {"--top", "N", "print the N most probable classes (default 3)",
           [&](const std::string& v) { options.top = parse_count("--top", v, 1, 1000); }},
          {"--help", "", "print this help", [&](const std::string&) { options.help = true; }}};
}

std::vector<Option> test_options(ModelOptions& options) {
  return {{"--data", "PATH", "the images, as in training (default: those that a training would take)",
           [&](const std::string& v) { options.data = v; }},
          {"--help", "", "print this help", [&](const std::string&) { options.help = true; }}};
}

ModelOptions parse_model_options(const char* program, const std::vector<std::string>& args,
                                 std::vector<Option> (*table)(ModelOptions&)) {
  ModelOptions options;
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with("-")) {
      options.words.push_back(args[i]);
      continue;
    }
    rest.push_back(args[i]);
    const bool takes_value = args[i] != "--help" && args[i] != "-h" && args[i].find('=') == std::string::npos;
    if (takes_value && i + 1 < args.size()) rest.push_back(args[++i]);
  }
  parse_options(program, rest, table(options));
  return options;
}

int run_model_command(const char* program, const std::vector<std::string>& args,
                      std::vector<Option> (*table)(ModelOptions&), const char* usage,
                      const std::function<void(const ModelOptions&)>& run) {
  try {
    const ModelOptions options = parse_model_options(program, args, table);
    if (options.help) {
      ModelOptions unused;
      fmt::print("{}\n{}", usage, render_options(table(unused)));
    } else {
      run(options);
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error(program, error.message()));
    return exit_code(error.kind());
  }
}

// The engine reads the vectors of the model, which must outlive it.
std::unique_ptr<Engine> make_model_engine(SavedModel& model) {
  std::unique_ptr<Engine> engine = make_cpu_engine(model.net, 1, model.parameters, {});
  std::ranges::copy(model.state, engine->state().begin());
  return engine;
}

std::vector<double> softmax(std::span<const float> logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> shares;
  for (const float value : logits) shares.push_back(std::exp(value - most));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

// "cat 97.1 %, dog 2.9 %"
std::string render_classes(const SavedModel& model, const std::vector<double>& shares, std::size_t top) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
  std::string text;
  for (std::size_t i = 0; i < std::min(top, order.size()); ++i)
    text += fmt::format("{}{} {:.1f} %", i == 0 ? "" : ", ", printable(model.class_names[order[i]], 80),
                        100.0 * shares[order[i]]);
  return text;
}

void predict(const ModelOptions& options) {
  if (options.words.empty())
    throw Error(ErrorKind::usage, {"no photo is named", "command line",
                                   std::string(predict_name) + " --checkpoint ckpt photo.jpg"});
  if (options.checkpoint.empty())
    throw Error(ErrorKind::usage,
                {"no checkpoint is named", "command line",
                 std::string(predict_name) + " --checkpoint ckpt " + quote_shell(options.words[0])});
  SavedModel model = load_model(*make_posix_disk(), options.checkpoint);
  const auto engine = make_model_engine(model);
  const Shape input = model.net.input;
  for (const std::string& photo : options.words) {
    FileList list("");
    list.add(photo, 0);
    const SourcePtr source = make_file_source(std::move(list), model.images);
    if (source->shape() != model.decoded)
      throw Error(
          ErrorKind::request,
          {fmt::format("the photo has {}x{} pixels, the net was trained on {}x{}", source->shape().height,
                       source->shape().width, model.decoded.height, model.decoded.width),
           printable(photo), "a training with --resize takes photos of any size"});
    std::vector<std::uint8_t> pixels(source->image_bytes());
    source->read(0, std::as_writable_bytes(std::span(pixels)));
    std::vector<float> values(input.count());
    apply_transform(model.transform, center_crop(model.transform, model.decoded), model.decoded,
                    std::span<const std::uint8_t>(pixels), values);
    fmt::print("{}: {}\n", printable(photo),
               render_classes(model, softmax(engine->predict(values, 1)), options.top));
  }
}

void check_classes(const SavedModel& model, const Dataset& data) {
  const std::vector<std::string>& names = data.class_directories.names;
  const bool same = names.empty() ? data.classes <= model.net.classes : names == model.class_names;
  if (same) return;
  throw Error(ErrorKind::request,
              {names.empty() ? fmt::format("the images have {} classes, the checkpoint has {}", data.classes,
                                           model.net.classes)
                             : "the class directories are not those of the training: " +
                                   printable(join(model.class_names, ", "), 300),
               printable(data.directory), "--data PATH with images of the same classes"});
}

void test(const ModelOptions& options) {
  if (options.words.size() != 1)
    throw Error(ErrorKind::usage, {"test takes one checkpoint, or a directory of them", "command line",
                                   std::string(test_name) + " ckpt --data photos"});
  SavedModel model = load_model(*make_posix_disk(), options.words[0]);
  DataRequest request = model.images;
  request.crop = {};  // the transform of the checkpoint has it
  const DatasetPath found = find_data(options.data);
  request.train = found.directory;
  Dataset data = load_dataset(request);
  check_classes(model, data);
  data.transform = model.transform;
  if (data.test_images->shape() != model.decoded)
    throw Error(ErrorKind::request, {"the images have another size than those of the training",
                                     printable(found.directory), "--data PATH with images like those"});
  const auto engine = make_model_engine(model);
  SelfCommunicator alone;
  Evaluation evaluation(data, make_shard(data, 1, 1, 0, 1), *engine, alone, {});
  const TestResult result = evaluation.run(false);
  fmt::print("test accuracy {:.2f} %, loss {:.4f}: {} images of {} ({})\n", 100.0 * result.accuracy,
             result.loss, data.test_images->count(), printable(found.directory), found.reason);
}

}  // namespace

std::vector<OptionReference> describe_predict_options() {
  ModelOptions unused;
  return describe_options(predict_options(unused));
}

std::vector<OptionReference> describe_test_options() {
  ModelOptions unused;
  return describe_options(test_options(unused));
}

int run_predict_command(const std::vector<std::string>& args) {
  return run_model_command(predict_name, args, predict_options,
                           "Prints the most probable classes of photos by a checkpoint.\n\n"
                           "usage: ddl-train predict --checkpoint DIR PHOTO...\n\n"
                           "Example:\n  ddl-train predict --checkpoint ckpt cat.jpg dog.png\n",
                           predict);
}

int run_test_command(const std::vector<std::string>& args) {
  return run_model_command(test_name, args, test_options,
                           "Tests a checkpoint on the test images of a data set.\n\n"
                           "usage: ddl-train test DIR|FILE [--data PATH]\n\n"
                           "Example:\n  ddl-train test ckpt --data photos\n",
                           test);
}

}  // namespace ddlrun::runtime
