// SPDX-License-Identifier: MIT
#include "runtime/app/image_choice.hpp"

#include "base/text/text.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/file_source.hpp"
#include "runtime/models/net.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ddlrun::runtime {
namespace {

struct NetSizes {
  std::string_view net;
  int resize, crop;
  bool takes_any = false;  // photos of any size; `crop` is the largest that is chosen
};
// The crop is the input of the published net; the resize leaves an eighth for random crops.
constexpr std::array sizes_of_nets{NetSizes{"cifar-quick", 36, 32}, NetSizes{"resnet-18", 256, 224, true},
                                   NetSizes{"resnet-50", 256, 224, true}, NetSizes{"alexnet", 256, 227}};
constexpr int least_resnet_side = 64;

bool is_given(const TrainOptions& options, const char* name) { return options.given.contains(name); }

bool is_one_size(const ImageSizes& sizes) { return sizes.least == sizes.most; }

// What the net reads, as far as the options and the survey tell.
Shape input_of(const TrainOptions& options, const ImageSizes& sizes) {
  const DataRequest& images = options.images;
  const Sides sides = images.crop.height > 0     ? images.crop
                      : images.resize.height > 0 ? images.resize
                                                 : sizes.most;
  const int channels = images.channels != 0 ? images.channels : sizes.grey ? 1 : 3;
  return {channels, sides.height, sides.width};
}

// Enlarged photos cost time and show no more: the largest multiple of 32, by which a ResNet reduces, that
// leaves an eighth of the photos for random crops.
NetSizes fit_to_photos(NetSizes net, const ImageSizes& sizes) {
  constexpr int step = 32;
  const int side = std::min(sizes.most.height, sizes.most.width);
  if (!net.takes_any || side >= net.resize) return net;
  net.crop = std::max(side * 8 / 9 / step * step, least_resnet_side);
  net.resize = net.crop * 9 / 8;
  return net;
}

// lenet5, the net without --net, reads these as they are.
bool is_for_lenet5(const Shape& input) { return input == Shape{1, 28, 28} || input == Shape{1, 32, 32}; }

std::string render_sides(const Sides& sides) { return fmt::format("{}x{}", sides.height, sides.width); }

std::string describe_sizes(const ImageSizes& sizes, std::size_t files) {
  const std::string which =
      sizes.headers == files ? "the photos" : fmt::format("{} photos of {}", sizes.headers, files);
  return is_one_size(sizes) ? fmt::format("{} have {} pixels", which, render_sides(sizes.most))
                            : fmt::format("{} have {} to {} pixels", which, render_sides(sizes.least),
                                          render_sides(sizes.most));
}

// cifar-quick has large initial weights and no batch norm: at the default rate it diverges in some runs of 50
// epochs. With this clip it does not, also at 4 times that rate (600 photos, 3 seeds). Returns the words of
// what it sets.
std::string keep_stable(TrainOptions& options) {
  const bool own =
      is_given(options, "--lr") || is_given(options, "--clip") || is_given(options, "--optimizer");
  if (own || options.nesterov || !can_clip(options)) return "";
  options.clip = 5.0;
  return " --clip 5";
}

// The next net, at a size that a CPU computes in minutes, and its work for a photo beside that of
// cifar-quick.
std::string render_larger_net() {
  const double more = count_products(build_net("resnet-18", {3, 64, 64}, 2)) /
                      count_products(build_net("cifar-quick", {3, 32, 32}, 2));
  return fmt::format("   # larger: --net resnet-18 --resize 72 --crop 64, about {:.0f} times the work", more);
}

// --data, or what stands for it.
std::string data_of(const TrainOptions& options) {
  if (!options.data.empty()) return options.data;
  const char* variable = std::getenv("DDLRUN_DATA");  // NOLINT(concurrency-mt-unsafe): before any thread
  return variable == nullptr ? "" : variable;
}

}  // namespace

void choose_image_options(TrainOptions& options) {
  const bool sized = is_given(options, "--resize") || is_given(options, "--crop");
  const bool named = is_given(options, "--net");
  const std::string data = data_of(options);
  if ((sized && named) || !options.solver.empty() || data.empty() || options.help || options.version ||
      options.images.sharding != ShardBy::none)
    return;
  const auto place = detect_split(data, false);
  if (!place || !is_in_files(place->kind)) return;
  const FileList files = list_files(*place, options.images, {});
  const ImageSizes sizes = survey_sizes(files);
  const Shape input = input_of(options, sizes);
  if (!named && is_for_lenet5(input) && (sized || is_one_size(sizes))) return;
  const bool gpu =
      options.device != "cpu" && (!sized || std::min(input.height, input.width) >= least_resnet_side);
  const std::string net = named ? options.net : gpu ? "resnet-18" : "cifar-quick";
  const auto found = std::ranges::find(sizes_of_nets, std::string_view(net), &NetSizes::net);
  if (found == sizes_of_nets.end()) return;  // the first image of another size is refused with its name
  options.net = net;
  const NetSizes fit = fit_to_photos(*found, sizes);
  std::string chosen;
  if (!sized) {
    options.images.resize = {fit.resize, fit.resize};
    options.images.crop = {fit.crop, fit.crop};
    chosen = fmt::format(" --resize {} --crop {}", fit.resize, fit.crop);
  }
  if (!named) chosen += " --net " + net;
  if (net == "cifar-quick") chosen += keep_stable(options);
  if (!named && !gpu && !sized) chosen += render_larger_net();
  options.choice = fmt::format(
      "{}, so:{}",
      sized ? fmt::format("the net reads {}x{} pixels", input.height, input.width)
      : named && !fit.takes_any
          ? fmt::format("{0}, {1} reads {2}x{2}", describe_sizes(sizes, files.count()), net, fit.crop)
          : describe_sizes(sizes, files.count()),
      chosen);
}

}  // namespace ddlrun::runtime
