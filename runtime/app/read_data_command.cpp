// SPDX-License-Identifier: MIT
#include "runtime/app/read_data_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/data_options.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/data/loader.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

namespace ddlrun::runtime {
namespace {

constexpr const char* read_data_name = "ddl-train read-data";
constexpr int exit_damaged = 1;

struct ReadDataOptions {
  DataRequest request;
  std::size_t batch = 64;
  double seconds = 3.0;
  int threads = 1;
  bool all = false;
  bool help = false;
};

std::vector<Option> make_read_data_table(ReadDataOptions& options) {
  DataRequest& request = options.request;
  return {
      {"--all", "", "read each image file once, and list those that are damaged instead of measuring",
       [&](const std::string&) { options.all = true; }},
      {"--threads", "N", "threads that read and decode; 0: the main thread (default 1)",
       [&](const std::string& v) {
         options.threads = static_cast<int>(parse_count("--threads", v, 0, 1024));
       }},
      {"--batch", "N", "images per batch (default 64)",
       [&](const std::string& v) { options.batch = parse_count("--batch", v, 1, 1'000'000); }},
      {"--seconds", "SECONDS", "duration of the measurement (default 3)",
       [&](const std::string& v) { options.seconds = parse_real("--seconds", v, 0.01, 1e6); }},
      {"--resize", "N|HxW", "as in training",
       [&](const std::string& v) { request.resize = parse_sides("--resize", v); }},
      {"--crop", "N|HxW", "as in training",
       [&](const std::string& v) { request.crop = parse_sides("--crop", v); }},
      {"--mirror", "", "as in training", [&](const std::string&) { request.mirror = true; }},
      {"--data-memory", "MB", "as in training",
       [&](const std::string& v) {
         request.memory = parse_count("--data-memory", v, 0, 1'000'000'000) << 20U;
       }},
      {"--help", "", "print this help", [&](const std::string&) { options.help = true; }},
  };
}

ReadDataOptions parse_read_data(const std::vector<std::string>& args) {
  ReadDataOptions options;
  const std::size_t places = !args.empty() && !args[0].starts_with("--") ? 1 : 0;
  parse_options(read_data_name, std::span(args).subspan(places), make_read_data_table(options));
  if (places == 1) options.request.train = args[0];
  return options;
}

// Images per second, in the order of an epoch.
double measure_input(const Dataset& data, const ReadDataOptions& options) {
  using ReadClock = std::chrono::steady_clock;
  const std::size_t batch = std::min(options.batch, data.train_images->count());
  DataShard shard = make_shard(data, batch, 1, 0, 1);
  Loader loader(*data.train_images, data.transform, LoadPurpose::training, batch,
                {.threads = options.threads});
  std::size_t step = 0;
  const auto prefetch = [&] {
    loader.prefetch(shard.step(step / shard.steps_per_epoch(), step % shard.steps_per_epoch()), {1, step});
    ++step;
  };
  prefetch();
  const auto start = ReadClock::now();
  std::size_t images = 0;
  double seconds = 0.0;
  while (seconds < options.seconds) {
    images += loader.take().labels.size();
    prefetch();
    seconds = std::chrono::duration<double>(ReadClock::now() - start).count();
  }
  return static_cast<double>(images) / seconds;
}

struct ImageSurvey {
  std::size_t images = 0;
  std::vector<Message> damaged;
};

// Reads all images in files of their own.
ImageSurvey read_all_images(const DataRequest& request) {
  ImageSurvey survey;
  std::string last;
  for (const bool test : {false, true}) {
    const auto place = detect_split(request.train, test);
    if (!place || !is_in_files(place->kind) || place->path == last) continue;
    last = place->path;  // a directory without parts is both
    const FileList list = list_files(*place, request, {});
    survey.images += list.count();
    for (Message& one : find_damaged(list)) survey.damaged.push_back(std::move(one));
  }
  return survey;
}

// Returns the exit status.
int print_survey(const ImageSurvey& survey, const std::string& data) {
  for (const Message& one : survey.damaged) fmt::print("{}: {}\n", one.where, one.what);
  const std::string all = count_of(survey.images, "image file");
  if (survey.damaged.empty()) {
    fmt::print("{}: {}, none damaged\n", printable(data), all);
    return 0;
  }
  fmt::print("{}: {} of {} cannot be read: remove them, or save them again\n", printable(data),
             survey.damaged.size(), all);
  return exit_damaged;
}

void measure_images(const ReadDataOptions& options) {
  const Dataset data = load_dataset(options.request);
  const double rate = measure_input(data, options);
  const Shape shape = data.input();
  fmt::print("{}: {}, {} images as {}x{}x{} {}: {:.0f} images/s on {} thread(s), {:.2f} GB/s of floats\n",
             printable(data.directory), data.kind, data.train_images->count(), shape.channels, shape.height,
             shape.width, data.train_images->in_memory() ? "in memory" : "from the disk", rate,
             std::max(options.threads, 1), rate * static_cast<double>(shape.count() * sizeof(float)) / 1e9);
}

int read_data(ReadDataOptions options) {
  options.request.train = find_data(options.request.train).directory;
  if (options.all) {
    const SplitPath place = require_split(options.request.train, false);
    if (!is_in_files(place.kind))
      throw Error(ErrorKind::request,
                  {fmt::format("--all reads images in files of their own; these are {}", name_of(place.kind)),
                   printable(options.request.train), "the same command without --all"});
    return print_survey(read_all_images(options.request), options.request.train);
  }
  try {
    measure_images(options);
  } catch (const Error&) {  // one damaged image ends the measurement; there may be more
    const ImageSurvey survey = read_all_images(options.request);
    if (survey.damaged.empty()) throw;
    return print_survey(survey, options.request.train);
  }
  return 0;
}

}  // namespace

std::vector<OptionReference> describe_read_data_options() {
  ReadDataOptions unused;
  return describe_options(make_read_data_table(unused));
}

int run_read_data_command(const std::vector<std::string>& args) {
  try {
    const ReadDataOptions options = parse_read_data(args);
    if (options.help) {
      ReadDataOptions unused;
      fmt::print(
          "Measures how fast the training images are read and decoded. Lists image files that are "
          "damaged.\n\n"
          "usage: ddl-train read-data [PATH] [OPTIONS]\n\n{}\n"
          "Exit status: 0, 1 images are damaged, 2 invalid options, 3 request cannot be met.\n\n"
          "Example:\n  ddl-train read-data photos --all\n  ddl-train read-data photos --resize 256 --crop "
          "224 --threads 4\n",
          render_options(make_read_data_table(unused)));
    } else {
      return read_data(options);
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error(read_data_name, error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
