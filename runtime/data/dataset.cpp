// SPDX-License-Identifier: MIT
#include "runtime/data/dataset.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/error_list.hpp"
#include "runtime/core/gzip.hpp"
#include "runtime/core/hash.hpp"
#include "runtime/data/class_findings.hpp"
#include "runtime/data/dataset_locator.hpp"
#include "runtime/data/datum.hpp"
#include "runtime/data/idx.hpp"
#include "runtime/data/synthetic.hpp"

#include <fmt/format.h>

#include <vector>

namespace ddlrun::runtime {
namespace {

constexpr std::uint32_t max_side = 1U << 15U;

Error refuse_data(std::string what, std::string where,
                  std::string hint = "--data DIR   # a directory with MNIST's four files") {
  return {ErrorKind::request, {std::move(what), std::move(where), std::move(hint)}};
}

std::string describe(const Shape& shape) {
  const std::string sides = fmt::format("{}x{}", shape.height, shape.width);
  return shape.channels == 1 ? sides : fmt::format("{}x{}", shape.channels, sides);
}

}  // namespace

ImageSet make_image_set(std::span<const std::uint8_t> images, std::span<const std::uint8_t> labels,
                        const std::string& images_file, const std::string& labels_file) {
  const IdxArray image_array = parse_idx(images, 3, images_file);
  const IdxArray label_array = parse_idx(labels, 1, labels_file);
  const std::uint32_t count = image_array.dims[0];
  const std::uint32_t rows = image_array.dims[1];
  const std::uint32_t columns = image_array.dims[2];
  if (count == 0 || rows == 0 || columns == 0 || rows > max_side || columns > max_side) {
    throw refuse_data(fmt::format("{} images of {}x{} pixels cannot be trained on (sides of 1 to {})", count,
                                  rows, columns, max_side),
                      printable(images_file));
  }
  if (label_array.dims[0] != count) {
    throw refuse_data(fmt::format("there are {} images but {} labels", count, label_array.dims[0]),
                      printable(images_file) + " and " + printable(labels_file));
  }
  return {{1, static_cast<int>(rows), static_cast<int>(columns)},
          {image_array.data.begin(), image_array.data.end()},
          {label_array.data.begin(), label_array.data.end()}};
}

namespace {

struct Parts {
  SourcePtr train;
  SourcePtr test;
};

void check_parts(const Parts& parts, const std::string& directory) {
  if (parts.train->shape() != parts.test->shape() || parts.train->pixels() != parts.test->pixels()) {
    throw refuse_data(fmt::format("training images are {}, test images {}", describe(parts.train->shape()),
                                  describe(parts.test->shape())),
                      printable(directory),
                      "--test-data PATH with images of the same size; or --resize N for images in files");
  }
}

void check_labels(const Parts& parts, int classes, const std::string& directory,
                  ShardBy split = ShardBy::none) {
  if (classes < 2) {
    throw refuse_data(
        "all training labels are 0; at least 2 classes are needed", printable(directory),
        split == ShardBy::none
            ? "--data DIR with images of 2 classes, as DIR/train/cat/*.jpg and DIR/train/dog/*.jpg"
            : "--classes N   # the number of classes in all subsets together");
  }
  const int train_label = count_classes(*parts.train) - 1;
  if (train_label >= classes) {
    throw Error(ErrorKind::request,
                {fmt::format("a training label is {}; with {} classes it must be less", train_label, classes),
                 printable(directory), fmt::format("--classes {}", train_label + 1)});
  }
  const int test_label = count_classes(*parts.test) - 1;
  if (test_label < classes) return;
  throw refuse_data(
      fmt::format("a test label is {}, but the largest training label is {}", test_label, classes - 1),
      printable(directory),
      fmt::format("--classes {}   # or --test-data PATH with images of the same classes", test_label + 1));
}

Transform make_transform(const DataRequest& request, const Shape& shape) {
  Transform transform;
  transform.crop = request.crop;
  transform.mirror = request.mirror;
  transform.mean = request.mean;
  if (!request.mean_file.empty()) {
    const MeanImage mean = parse_mean_image(read_data_file(request.mean_file), request.mean_file);
    if (mean.shape != shape) {
      throw refuse_file(
          request.mean_file,
          fmt::format("the mean image is {}, but the images are {}", describe(mean.shape), describe(shape)),
          "--mean with the mean image of these images, or with one value per channel");
    }
    transform.mean = mean.values;
  }
  transform.scale = {request.scale.value_or(1.0F)};
  const std::vector<Message> errors = check_transform(transform, shape);
  if (!errors.empty()) throw join_errors(errors);
  return transform;
}

bool says_values(const DataRequest& request) {
  return request.plain || request.scale || !request.mean.empty() || !request.mean_file.empty();
}

}  // namespace

void set_moments(Transform& transform, std::span<const Moments> moments) {
  transform.mean.clear();
  transform.scale.clear();
  for (const Moments& channel : moments) {
    transform.mean.push_back(static_cast<float>(channel.mean()));
    transform.scale.push_back(static_cast<float>(1.0 / channel.deviation()));
  }
}

Dataset make_dataset(ImageSet train, ImageSet test, std::string directory) {
  const Parts parts{make_memory_source(std::move(train), directory),
                    make_memory_source(std::move(test), directory)};
  check_parts(parts, directory);
  Dataset data;
  data.directory = std::move(directory);
  data.train_images = parts.train;
  data.test_images = parts.test;
  data.classes = count_classes(*parts.train);
  check_labels(parts, data.classes, data.directory);
  data.moments = measure_moments(*parts.train);
  set_moments(data.transform, data.moments);
  return data;
}

Dataset load_dataset(const DataRequest& request) {
  const DatasetPaths place = locate_splits(request);
  Dataset data;
  data.directory = request.train;
  data.test_path = place.test.path;
  data.kind = name_of(place.train.kind);
  ClassDirectories& directories = data.class_directories;
  if (place.train.kind == DataKind::directories) {
    const bool tests = place.test.kind == DataKind::directories && request.val_fraction == 0.0;
    data.warnings = check_class_directories(place.train.path, tests ? place.test.path : "");
  }
  data.train_images = open_split(place.train, request, directories);
  data.classes = request.classes != 0                      ? request.classes
                 : place.train.kind == DataKind::synthetic ? synthetic_classes(request.train)
                 : !directories.names.empty()              ? static_cast<int>(directories.names.size())
                                                           : count_classes(*data.train_images);
  DataRequest of_test = request;
  of_test.classes = data.classes;
  of_test.channels = data.train_images->shape().channels;  // a grey image among the tests is no reason
  data.test_images = open_split(place.test, of_test, directories);
  if (place.test.kind == DataKind::list) {
    const std::string root = list_files(place.test, of_test, directories).directory();
    data.test_root = root.empty() ? "." : root;
  }
  if (request.val_fraction > 0.0 && place.test.kind == DataKind::directories)
    for (Message& warning : find_untested(directories, *data.test_images))
      data.warnings.push_back(std::move(warning));
  const Parts parts{data.train_images, data.test_images};
  check_parts(parts, request.train);
  check_labels(parts, data.classes, request.train, request.sharding);
  data.transform = make_transform(request, data.train_images->shape());
  if (place.train.kind == DataKind::synthetic && !says_values(request)) {
    data.transform.mean = {127.5F};
    data.transform.scale = {1.0F / 74.0F};  // the deviation of a uniform byte
  } else if (!says_values(request)) {
    data.moments = measure_moments(*data.train_images);
    set_moments(data.transform, data.moments);
  }
  return data;
}

Dataset load_dataset(const std::string& directory) {
  DataRequest request;
  request.train = directory;
  return load_dataset(request);
}

DataShard make_shard(const Dataset& data, std::size_t global_batch, std::uint64_t seed, std::size_t rank,
                     std::size_t ranks) {
  if (data.subsets) return {*data.subsets, global_batch, seed};
  const Subset whole{data.train_images->count(), data.test_images->count(), ranks, data.directory};
  return {Subsets{{whole}, 0, rank}, global_batch, seed};
}

std::uint64_t fingerprint(const Dataset& data) {
  if (data.subsets) return data.subsets_hash;
  const std::uint64_t hashes[] = {data.train_images->fingerprint(), data.test_images->fingerprint()};
  return hash_bytes(std::as_bytes(std::span(hashes)));
}

}  // namespace ddlrun::runtime
