// SPDX-License-Identifier: MIT
#include "runtime/app/image_choice.hpp"

#include "base/text/text.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/file_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::runtime {
namespace {

struct NetSizes {
  std::string_view net;
  int resize, crop;
};
// The crop is the input of the published net; the resize leaves an eighth for random crops.
constexpr std::array sizes_of_nets{NetSizes{"cifar-quick", 36, 32}, NetSizes{"resnet-18", 256, 224},
                                   NetSizes{"resnet-50", 256, 224}, NetSizes{"alexnet", 256, 227}};

bool is_given(const TrainOptions& options, const char* name) { return options.given.contains(name); }

}  // namespace

void choose_image_options(TrainOptions& options) {
  const bool open = !is_given(options, "--resize") && !is_given(options, "--crop");
  if (!open || !options.solver.empty() || options.data.empty() || options.images.sharding != ShardBy::none)
    return;
  const auto place = detect_split(options.data, false);
  if (!place || place->kind != DataKind::directories) return;
  const ImageSizes sizes = survey_sizes(scan_class_directories(place->path, {}));
  if (sizes.least == sizes.most) return;
  const bool gpu = options.device != "cpu";
  const std::string net = is_given(options, "--net") ? options.net : gpu ? "resnet-18" : "cifar-quick";
  const auto found = std::ranges::find(sizes_of_nets, std::string_view(net), &NetSizes::net);
  if (found == sizes_of_nets.end()) return;  // the first image of another size is refused with its name
  options.net = net;
  options.images.resize = {found->resize, found->resize};
  options.images.crop = {found->crop, found->crop};
  options.choice = fmt::format(
      "the photos have {}x{} to {}x{} pixels, so: --resize {} --crop {}{}", sizes.least.height,
      sizes.least.width, sizes.most.height, sizes.most.width, found->resize, found->crop,
      is_given(options, "--net") ? ""
                                 : " --net " + net + (gpu ? "" : "   # for larger nets: --net resnet-18"));
}

}  // namespace ddlrun::runtime
