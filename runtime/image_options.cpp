// SPDX-License-Identifier: MIT
#include "runtime/image_options.hpp"

#include "base/error.hpp"
#include "runtime/data/data_options.hpp"
#include "runtime/options.hpp"

#include <array>

namespace ddlrun::runtime {
namespace {

using Word = const std::string&;
const std::array<std::string, 3> split_names{"none", "host", "rank"};
const std::array<std::string, 2> channel_names{"1", "3"};

const OptionRow image_option_rows[] = {
    {"", "", "The images:", nullptr},
    {"--test-data", "PATH", "images to test with, where --data has none (default: what lies beside it)",
     [](TrainOptions& o, Word n, Word v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the path is empty text", n, n + " PATH"});
       o.images.test = v;
     }},
    {"--data-split", "HOW",
     "host: each host has a part of its own at that path; rank: each rank; {host} and {rank} in the path are "
     "filled in; none: all ranks see all images (default)",
     [](TrainOptions& o, Word n, Word v) {
       o.images.split = static_cast<SplitBy>(parse_choice(n, v, split_names));
     }},
    {"--channels", "N", "of images in files: 1 grey, 3 blue, green, red (default: as the first ones are)",
     [](TrainOptions& o, Word n, Word v) {
       o.images.channels = parse_choice(n, v, channel_names) == 0 ? 1 : 3;
     }},
    {"--resize", "N|HxW", "height and width to bring images in files to (bilinear)",
     [](TrainOptions& o, Word n, Word v) { o.images.resize = parse_sides(n, v); }},
    {"--crop", "N|HxW", "train on a random part of this size, test on the middle",
     [](TrainOptions& o, Word n, Word v) { o.images.crop = parse_sides(n, v); }},
    {"--mirror", "", "turn half of the training images left to right",
     [](TrainOptions& o, Word, Word) { o.images.mirror = true; }},
    {"--mean", "X,..|FILE",
     "(pixel - mean) * scale instead of mean 0 and deviation 1: one value, one for each channel, or the "
     "binaryproto of Caffe's compute_image_mean, for which --mean 120 does as well",
     [](TrainOptions& o, Word n, Word v) { parse_mean(n, v, o.images); }},
    {"--scale", "X", "see --mean (default 1 if --mean is given): 0.00390625 makes 0..255 to 0..1",
     [](TrainOptions& o, Word n, Word v) {
       o.images.scale = static_cast<float>(parse_real(n, v, -1e6, 1e6, "0.00390625"));
       if (*o.images.scale == 0.0F)
         throw Error(ErrorKind::usage,
                     {"a scale of " + v + " makes all images the same", n, n + " 0.00390625"});
     }},
    {"--classes", "N", "how many there are (default: the largest class of the training images and 1)",
     [](TrainOptions& o, Word n, Word v) {
       o.images.classes = static_cast<int>(parse_count(n, v, 2, 65'536));
     }},
    {"--data-threads", "N",
     "threads of each rank that read and decode ahead (default: 1 for images on the disk, none for those in "
     "memory)",
     [](TrainOptions& o, Word n, Word v) { o.data_threads = static_cast<int>(parse_count(n, v, 0, 1024)); }},
    {"--data-memory", "MB", "larger sets stay on the disk and are read while training (default 256)",
     [](TrainOptions& o, Word n, Word v) { o.images.memory = parse_count(n, v, 0, most_allowed) << 20U; }},
};

}  // namespace

std::span<const OptionRow> image_rows() { return image_option_rows; }

}  // namespace ddlrun::runtime
