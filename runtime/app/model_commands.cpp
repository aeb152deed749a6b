// SPDX-License-Identifier: MIT
#include "runtime/app/model_commands.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/app/predict_photos.hpp"
#include "runtime/app/test_checkpoint.hpp"
#include "runtime/checkpoint/checkpoint_directory.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/data/image_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace ddlrun::runtime {
namespace {

struct ModelOptions {
  std::vector<std::string> words;  // without dashes: photos, or the checkpoint of test
  std::string checkpoint;
  std::string data;
  std::size_t top = 3;
  bool top_given = false;
  bool json = false;
  bool csv = false;
  bool errors = false;
  bool all_images = false;
  bool help = false;
};

constexpr const char* predict_name = "ddl-train predict";
constexpr const char* test_name = "ddl-train test";

Option checkpoint_option(ModelOptions& options) {
  return {"--checkpoint", "DIR|FILE",
          "a checkpoint; a directory of them: the newest is read; DIR/best: the one with the highest test "
          "accuracy",
          [&](const std::string& v) { options.checkpoint = v; }};
}

std::vector<Option> predict_options(ModelOptions& options) {
  return {checkpoint_option(options),
          {"--top", "N", "print the N most probable classes (default 3)",
           [&](const std::string& v) {
             options.top = parse_count("--top", v, 1, 1000);
             options.top_given = true;
           }},
          {"--json", "", "print one JSON object for each photo",
           [&](const std::string&) { options.json = true; }},
          {"--csv", "",
           "print a table for R or pandas: file,class,probability,directory_class (the class that the name "
           "of the photo's directory is, if any) and a column for each class",
           [&](const std::string&) { options.csv = true; }},
          {"--help", "", "print this help", [&](const std::string&) { options.help = true; }}};
}

std::vector<Option> test_options(ModelOptions& options) {
  return {
      checkpoint_option(options),
      {"--data", "PATH",
       "the test images: a data set with them, or they alone (default: the data of the checkpoint's "
       "training)",
       [&](const std::string& v) { options.data = v; }},
      {"--json", "",
       "print one JSON document: accuracy, loss; images, accuracy, precision and F1 of each class; the "
       "confusion matrix (a row: class of the image, a column: predicted class)",
       [&](const std::string&) { options.json = true; }},
      {"--errors", "", "also name the images with a wrong prediction, with both classes and its probability",
       [&](const std::string&) { options.errors = true; }},
      {"--all-images", "", "test also the photos that --val-fraction gave to the training",
       [&](const std::string&) { options.all_images = true; }},
      {"--help", "", "print this help", [&](const std::string&) { options.help = true; }}};
}

ModelOptions parse_model_options(const char* program, const std::vector<std::string>& args,
                                 std::vector<Option> (*table)(ModelOptions&)) {
  ModelOptions options;
  const std::vector<Option> rows = table(options);
  const auto is_flag = [&](const std::string& word) {
    return word == "-h" || std::ranges::any_of(rows, [&](const Option& row) {
             return row.name == word && row.value.empty();
           });
  };
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!args[i].starts_with("-")) {
      options.words.push_back(args[i]);
      continue;
    }
    rest.push_back(args[i]);
    const bool takes_value = !is_flag(args[i]) && args[i].find('=') == std::string::npos;
    if (takes_value && i + 1 < args.size()) rest.push_back(args[++i]);
  }
  parse_options(program, rest, rows);
  return options;
}

int run_model_command(const char* program, const std::vector<std::string>& args,
                      std::vector<Option> (*table)(ModelOptions&), const char* usage,
                      int (*run)(ModelOptions)) {
  try {
    const ModelOptions options = parse_model_options(program, args, table);
    if (options.help) {
      ModelOptions unused;
      fmt::print("{}\n{}", usage, render_options(table(unused)));
      return 0;
    }
    return run(options);
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error(program, error.message()));
    return exit_code(error.kind());
  }
}

// A checkpoint may be the first word: `test ckpt`, `predict ckpt cat.jpg`.
void take_checkpoint(ModelOptions& options) {
  if (!options.checkpoint.empty() || options.words.empty()) return;
  options.checkpoint = options.words.front();
  options.words.erase(options.words.begin());
}

int predict(ModelOptions options) {
  const bool names_photos = options.words.size() > 1;
  if (!options.words.empty() && !has_image_name(options.words[0]) &&
      (names_photos || is_checkpoint_path(*make_posix_disk(), options.words[0])))
    take_checkpoint(options);
  if (options.words.empty())
    throw Error(ErrorKind::usage,
                {"no photo is named", "command line",
                 fmt::format("{} --checkpoint {} photo.jpg", predict_name,
                             options.checkpoint.empty() ? "ckpt" : quote_shell(options.checkpoint))});
  if (options.checkpoint.empty())
    throw Error(ErrorKind::usage,
                {"no checkpoint is named", "command line",
                 std::string(predict_name) + " --checkpoint ckpt " + quote_shell(options.words[0])});
  if (options.csv && (options.json || options.top_given))
    throw Error(ErrorKind::usage,
                {options.json ? "--csv and --json are two formats"
                              : "--csv has a column for each class, so --top has no effect",
                 "command line", options.json ? "--csv, or --json" : "the same command without --top"});
  const PredictionFormat format = options.csv    ? PredictionFormat::csv
                                  : options.json ? PredictionFormat::json
                                                 : PredictionFormat::text;
  return predict_photos(predict_name, {options.checkpoint, options.words, options.top, format});
}

int test(ModelOptions options) {
  take_checkpoint(options);
  if (options.checkpoint.empty() || !options.words.empty())
    throw Error(ErrorKind::usage, {"test takes one checkpoint, or a directory of them", "command line",
                                   std::string(test_name) + " ckpt --data photos"});
  test_checkpoint({options.checkpoint, options.data, options.json, options.errors, options.all_images});
  return 0;
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
  return run_model_command(
      predict_name, args, predict_options,
      "Prints the most probable classes of photos by a checkpoint.\n\n"
      "usage: ddl-train predict --checkpoint DIR PHOTO|DIRECTORY...\n\n"
      "A photo that cannot be read, or has another format, is reported. The others are printed, and the\n"
      "exit status is 3. Probabilities add up to 1 over the classes of the training.\n\n"
      "Examples:\n  ddl-train predict --checkpoint ckpt/best cat.jpg photos/val\n"
      "  ddl-train predict ckpt/best photos/new --csv > new.csv\n",
      predict);
}

int run_test_command(const std::vector<std::string>& args) {
  return run_model_command(
      test_name, args, test_options,
      "Tests a checkpoint on the test images of a data set.\n\n"
      "usage: ddl-train test DIR|FILE [--data PATH] [--errors] [--json]\n\n"
      "Prints loss, accuracy, the accuracy, precision and F1 of each class, and the confusion matrix.\n\n"
      "Example:\n  ddl-train test ckpt/best --data photos\n",
      test);
}

}  // namespace ddlrun::runtime
