// SPDX-License-Identifier: MIT
#include "runtime/app/read_data_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/data_options.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/data/loader.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>

namespace ddlrun::runtime {
namespace {

constexpr const char* read_data_name = "ddl-train read-data";

struct ReadDataOptions {
  DataRequest request;
  std::size_t batch = 64;
  double seconds = 3.0;
  int threads = 1;
  bool help = false;
};

std::vector<Option> make_read_data_table(ReadDataOptions& options) {
  DataRequest& request = options.request;
  return {
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

void read_data(ReadDataOptions options) {
  options.request.train = find_data(options.request.train).directory;
  const Dataset data = load_dataset(options.request);
  const double rate = measure_input(data, options);
  const Shape shape = data.input();
  fmt::print("{}: {}, {} images as {}x{}x{} {}: {:.0f} images/s on {} thread(s), {:.2f} GB/s of floats\n",
             printable(data.directory), data.kind, data.train_images->count(), shape.channels, shape.height,
             shape.width, data.train_images->in_memory() ? "in memory" : "from the disk", rate,
             std::max(options.threads, 1), rate * static_cast<double>(shape.count() * sizeof(float)) / 1e9);
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
          "Measures how fast the training images are read and decoded.\n\n"
          "usage: ddl-train read-data [PATH] [OPTIONS]\n\n{}\n"
          "Example:\n  ddl-train read-data photos --resize 256 --crop 224 --threads 4\n",
          render_options(make_read_data_table(unused)));
    } else {
      read_data(options);
    }
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error(read_data_name, error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
