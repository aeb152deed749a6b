// SPDX-License-Identifier: MIT
#include "runtime/app/convert_data_command.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/app/data_options.hpp"
#include "runtime/app/option_references.hpp"
#include "runtime/core/option_parser.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/datum.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/lmdb_source.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <array>
#include <csignal>
#include <cstdio>

namespace ddlrun::runtime {
namespace {

constexpr const char* convert_name = "ddl-train convert-data";

struct ConvertOptions {
  std::string from;
  std::string to;
  bool test = false;
  bool help = false;
  DataRequest request;
};

std::vector<Option> make_convert_table(ConvertOptions& options) {
  static const std::array<std::string, 2> splits{"train", "test"};
  DataRequest& request = options.request;
  return {
      {"--split", "train|test", "which images to convert, if FROM holds both (default train)",
       [&](const std::string& v) { options.test = parse_choice("--split", v, splits) == 1; }},
      {"--resize", "N|HxW", "resize decoded images (JPEG, PNG, PNM) to this height and width",
       [&](const std::string& v) { request.resize = parse_sides("--resize", v); }},
      {"--channels", "1|3", "1 grey, 3 colours (default: as in the first images)",
       [&](const std::string& v) { request.channels = parse_count("--channels", v, 1, 3) == 1 ? 1 : 3; }},
      {"--help", "", "print this help", [&](const std::string&) { options.help = true; }},
  };
}

std::string render_convert_help() {
  ConvertOptions unused;
  return "Writes the images of FROM (any format of ddl-train --data) to a new LMDB directory TO, as Caffe's\n"
         "convert_mnist_data and convert_imageset do. Training and test images need an LMDB each. While it\n"
         "is incomplete, the directory is named TO.part. TO/classes.txt names the classes of directories.\n\n"
         "usage: ddl-train convert-data FROM TO [OPTIONS]\n\n" +
         render_options(make_convert_table(unused)) +
         "\nExamples:\n"
         "  ddl-train convert-data photos photos_train_lmdb --resize 36\n"
         "  ddl-train convert-data photos photos_test_lmdb --resize 36 --split test\n"
         "  ddl-train --data photos_train_lmdb\n";
}

ConvertOptions parse_convert(const std::vector<std::string>& args) {
  ConvertOptions options;
  const std::size_t places = args.size() >= 2 && !args[0].starts_with("--") ? 2 : 0;
  parse_options(convert_name, std::span(args).subspan(places), make_convert_table(options));
  if (options.help) return options;
  if (places == 0 || args[1].starts_with("--")) {
    throw Error(ErrorKind::usage,
                {"FROM or TO is missing", "command line", "ddl-train convert-data FROM TO"});
  }
  options.from = args[0];
  options.to = args[1];
  return options;
}

// Blocks HUP, INT and TERM, so that an incomplete LMDB can be removed before the process ends.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&signals_);
    for (const int one : stopping) {
      struct sigaction action {};
      const bool ignored = sigaction(one, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
      if (!ignored) sigaddset(&signals_, one);  // a blocked signal stays pending even if it is ignored
    }
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  // Delivers a pending signal.
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  bool pending() const {
    sigset_t raised{};
    sigpending(&raised);
    for (const int one : stopping) {
      if (sigismember(&signals_, one) == 1 && sigismember(&raised, one) == 1) return true;
    }
    return false;
  }

 private:
  static constexpr int stopping[] = {SIGHUP, SIGINT, SIGTERM};
  sigset_t signals_{};
  sigset_t before_{};
};

// Reads one image at a time: the set may be larger than memory. Returns early if a signal is pending; the
// destructor of the writer then removes the incomplete LMDB.
std::size_t write_lmdb(const ImageSource& images, const std::string& directory) {
  if (images.pixels() != PixelKind::bytes) {
    throw Error(ErrorKind::request, {"cannot convert images of floats (Caffe's float_data)", images.name(0),
                                     "ddl-train --data with these images as they are"});
  }
  const std::size_t bytes = images.image_bytes();
  constexpr std::size_t room = 8192;  // a record's share of pages and keys
  const BlockedSignals signals;       // outlives the writer
  LmdbWriter writer(directory, (bytes + room) * images.count() * 2 + (std::size_t{16} << 20U));
  std::vector<std::uint8_t> pixels(bytes);
  for (std::size_t i = 0; i < images.count(); ++i) {
    if (signals.pending()) return i;
    images.read(i, std::as_writable_bytes(std::span(pixels)));
    writer.put(fmt::format("{:08}", i), render_datum(images.shape(), pixels, images.label(i)));
  }
  writer.finish();
  return images.count();
}

// --resize and --channels apply to encoded images only.
void check_decoded(const DataRequest& request, const Shape& shape, const SplitPath& place) {
  const Sides& wanted = request.resize;
  std::string option;
  if (wanted.height > 0 && (wanted.height != shape.height || wanted.width != shape.width))
    option = fmt::format("--resize {}x{}", wanted.height, wanted.width);
  else if (request.channels > 0 && request.channels != shape.channels)
    option = fmt::format("--channels {}", request.channels);
  if (option.empty()) return;
  const std::string name = option.substr(0, option.find(' '));
  throw Error(ErrorKind::request,
              {fmt::format("{} applies to encoded images; these ({}) are pixels of {}x{}x{}", option,
                           name_of(place.kind), shape.channels, shape.height, shape.width),
               printable(place.path), "the same command without " + name});
}

// Test images use the class numbers of the training images.
ClassDirectories find_train_classes(const ConvertOptions& options, const SplitPath& place) {
  if (!options.test || place.kind != DataKind::directories) return {};
  const auto train = detect_split(options.from, false);
  if (!train || train->kind != DataKind::directories) return {};
  return {train->path, find_class_directories(train->path)};
}

// Prints the command that converts the test images, if there are any.
void print_test_hint(const ConvertOptions& options, const SplitPath& place) {
  const auto other = detect_split(options.from, true);
  if (options.test || !other || (other->path == place.path && other->kind == DataKind::directories)) return;
  if (other->path == place.path && (other->kind == DataKind::lmdb || other->kind == DataKind::list)) return;
  std::string to = options.to;
  const std::size_t at = to.rfind("train");
  to = at == std::string::npos || to.find('/', at) != std::string::npos ? "test_lmdb"
                                                                        : to.replace(at, 5, "test");
  std::string next =
      fmt::format("{} {} {} --split test", convert_name, quote_shell(options.from), quote_shell(to));
  const DataRequest& request = options.request;
  if (request.resize.height > 0)
    next += fmt::format(" --resize {}x{}", request.resize.height, request.resize.width);
  if (request.channels > 0) next += fmt::format(" --channels {}", request.channels);
  fmt::print(
      stderr, "{}",
      render_message(convert_name, "note",
                     {"the LMDB does not contain the test images", printable(options.to), std::move(next)}));
}

void convert(ConvertOptions options) {
  options.request.train = options.from;
  options.request.memory = 0;
  const SplitPath place = require_split(options.from, options.test);
  ClassDirectories classes = find_train_classes(options, place);
  const SourcePtr images = open_split(place, options.request, classes);
  const Shape shape = images->shape();
  check_decoded(options.request, shape, place);
  const std::size_t count = write_lmdb(*images, options.to);
  if (count == images->count() && !classes.names.empty()) write_class_names(options.to, classes.names);
  fmt::print("{}: {} images of {}x{}x{} from {} ({})\n", printable(options.to), count, shape.channels,
             shape.height, shape.width, printable(options.from), name_of(place.kind));
  print_test_hint(options, place);
}

}  // namespace

std::vector<OptionReference> describe_convert_options() {
  ConvertOptions unused;
  return describe_options(make_convert_table(unused));
}

int run_convert_data_command(const std::vector<std::string>& args) {
  try {
    ConvertOptions options = parse_convert(args);
    if (options.help) {
      fmt::print("{}", render_convert_help());
      return 0;
    }
    convert(std::move(options));
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "{}", render_error(convert_name, error.message()));
    return exit_code(error.kind());
  }
}

}  // namespace ddlrun::runtime
