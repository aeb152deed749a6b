// SPDX-License-Identifier: MIT
#include "runtime/app/image_options.hpp"

#include "base/text/error.hpp"
#include "runtime/app/data_options.hpp"
#include "runtime/core/option_parser.hpp"

#include <array>

namespace ddlrun::runtime {
namespace {

using Word = const std::string&;
const std::array<std::string, 3> split_names{"none", "host", "rank"};
const std::array<std::string, 2> channel_names{"1", "3"};

const OptionRow image_option_rows[] = {
    {"", "", "Images:", nullptr},
    {"--test-data", "PATH", "test images, if --data has none (default: those beside the training images)",
     [](TrainOptions& o, Word n, Word v) {
       if (v.empty()) throw Error(ErrorKind::usage, {"the path is empty", n, n + " PATH"});
       o.images.test = v;
     }},
    {"--val-fraction", "F",
     "test on this part of the photos in --data DIR/CLASS, and train on the others: 0.2 is a fifth; the hash "
     "of a photo's path decides, so all ranks, --resume and ddl-train test find the same part",
     [](TrainOptions& o, Word n, Word v) {
       o.images.val_fraction = parse_fraction(n, v, "0.2");
       if (o.images.val_fraction == 0.0)
         throw Error(ErrorKind::usage, {"--val-fraction 0 leaves no test images", n, n + " 0.2"});
     }},
    {"--data-sharding", "none|host|rank",
     "host: each host has its own images at --data; rank: each rank has; {host} and {rank} in the path are "
     "replaced; none: all ranks read the same images (default)",
     [](TrainOptions& o, Word n, Word v) {
       o.images.sharding = static_cast<ShardBy>(parse_choice(n, v, split_names));
     }},
    {"--channels", "1|3", "of decoded images: 1 grey, 3 blue, green, red (default: as in the first images)",
     [](TrainOptions& o, Word n, Word v) {
       o.images.channels = parse_choice(n, v, channel_names) == 0 ? 1 : 3;
     }},
    {"--resize", "N|HxW",
     "resize decoded images to this height and width, bilinear (default: photos as the net needs it)",
     [](TrainOptions& o, Word n, Word v) { o.images.resize = parse_sides(n, v); }},
    {"--crop", "N|HxW", "train on a random crop of this size, test on the centre crop",
     [](TrainOptions& o, Word n, Word v) { o.images.crop = parse_sides(n, v); }},
    {"--mirror", "", "mirror half of the training images left to right",
     [](TrainOptions& o, Word, Word) { o.images.mirror = true; }},
    {"--mean", "X[,X...]|FILE",
     "normalize to (pixel - mean) * scale instead of mean 0 and deviation 1: one value, one for each "
     "channel, or a binaryproto file of Caffe's compute_image_mean",
     [](TrainOptions& o, Word n, Word v) { parse_mean(n, v, o.images); }},
    {"--scale", "X", "see --mean (default 1 if --mean is given); 0.00390625 maps 0..255 to 0..1",
     [](TrainOptions& o, Word n, Word v) {
       o.images.scale = static_cast<float>(parse_real(n, v, -1e6, 1e6, "0.00390625"));
       if (*o.images.scale == 0.0F)
         throw Error(ErrorKind::usage, {"--scale 0 makes all images equal", n, n + " 0.00390625"});
     }},
    {"--classes", "N", "number of classes (default: the largest label of the training images plus 1)",
     [](TrainOptions& o, Word n, Word v) {
       o.images.classes = static_cast<int>(parse_count(n, v, 2, 65'536));
     }},
    {"--data-threads", "N",
     "threads of each rank that read and decode images ahead (default: 1 for images on disk, 0 for images in "
     "memory)",
     [](TrainOptions& o, Word n, Word v) { o.data_threads = static_cast<int>(parse_count(n, v, 0, 1024)); }},
    {"--data-memory", "MB",
     "keep data sets up to this size in memory; read larger ones from disk while training (default 256)",
     [](TrainOptions& o, Word n, Word v) { o.images.memory = parse_count(n, v, 0, max_count) << 20U; }},
};

}  // namespace

std::span<const OptionRow> image_rows() { return image_option_rows; }

}  // namespace ddlrun::runtime
