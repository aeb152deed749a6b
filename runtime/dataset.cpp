// SPDX-License-Identifier: MIT
#include "runtime/dataset.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "runtime/hash.hpp"
#include "runtime/idx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace ddlrun::runtime {
namespace {

constexpr std::uint32_t max_side = 1U << 15U;

Error refuse_data(std::string what, std::string where) {
  std::string hint = "ddl-train --data DIR   # a directory with MNIST's four files";
  return {ErrorKind::request, {std::move(what), std::move(where), std::move(hint)}};
}

std::string describe(const Shape& shape) { return fmt::format("{}x{}", shape.height, shape.width); }

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

Dataset make_dataset(ImageSet train, ImageSet test, std::string directory) {
  if (train.shape != test.shape) {
    throw refuse_data(
        fmt::format("training images are {}, test images {}", describe(train.shape), describe(test.shape)),
        printable(directory));
  }
  const int classes = *std::max_element(train.labels.begin(), train.labels.end()) + 1;
  const int test_label = *std::max_element(test.labels.begin(), test.labels.end());
  if (classes < 2)
    throw refuse_data("all training labels are 0, and at least 2 classes are needed", printable(directory));
  if (test_label >= classes) {
    throw refuse_data(
        fmt::format("a test label is {}, but the training labels end at {}", test_label, classes - 1),
        printable(directory));
  }
  std::array<std::uint64_t, 256> histogram{};
  for (const std::uint8_t pixel : train.pixels) ++histogram[pixel];
  double sum = 0.0;
  double squares = 0.0;
  for (std::size_t value = 0; value < histogram.size(); ++value) {
    const double x = static_cast<double>(value) / 255.0;
    sum += x * static_cast<double>(histogram[value]);
    squares += x * x * static_cast<double>(histogram[value]);
  }
  const auto count = static_cast<double>(train.pixels.size());
  const double mean = sum / count;
  const double variance = squares / count - mean * mean;
  const double deviation = variance > 1e-12 ? std::sqrt(variance) : 1.0;  // all pixels alike
  return {std::move(directory),         std::move(train), std::move(test), classes, static_cast<float>(mean),
          static_cast<float>(deviation)};
}

void normalise(const Dataset& data, const ImageSet& set, std::size_t index, std::span<float> out) {
  const std::size_t size = set.shape.count();
  const std::uint8_t* pixels = set.pixels.data() + index % (set.pixels.size() / size) * size;
  const float scale = 1.0F / (255.0F * data.deviation);
  const float shift = data.mean / data.deviation;
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<float>(pixels[i]) * scale - shift;
}

std::uint64_t fingerprint(const Dataset& data) {
  std::uint64_t hash = hash_start;
  for (const ImageSet* set : {&data.train, &data.test}) {
    hash = hash_bytes(std::as_bytes(std::span(set->pixels)), hash);
    hash = hash_bytes(std::as_bytes(std::span(set->labels)), hash);
  }
  return hash;
}

}  // namespace ddlrun::runtime
