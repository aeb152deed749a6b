// SPDX-License-Identifier: MIT
// An image classification set in memory, and where it is found. Any four IDX files with MNIST's names will
// do.
#pragma once

#include "runtime/net.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Images as bytes, one after the other; one label each. Fewer images than labels are used again from the
// first one (synthetic ones: what they show does not matter).
struct ImageSet {
  Shape shape;
  std::vector<std::uint8_t> pixels;
  std::vector<Label> labels;

  std::size_t count() const { return labels.size(); }
};

struct Dataset {
  std::string directory;
  ImageSet train;
  ImageSet test;
  int classes = 0;
  // pixel -> (pixel/255 - mean) / deviation, both taken from the training images.
  float mean = 0.0F;
  float deviation = 1.0F;
};

// Pure: two IDX files' bytes -> a set. Throws Error(request) if they do not belong together.
ImageSet make_image_set(std::span<const std::uint8_t> images, std::span<const std::uint8_t> labels,
                        const std::string& images_name, const std::string& labels_name);
// Pure: counts classes, checks that both parts have the same images, computes mean and deviation.
Dataset make_dataset(ImageSet train, ImageSet test, std::string directory);

// Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte from `directory`, also written with a dot before idx,
// and with .gz.
Dataset load_dataset(const std::string& directory);

// Where to look: `asked` if given; else DDLRUN_DATA; else Debian's Fashion-MNIST; else the subset that comes
// with ddlrun. Throws Error(request) if there is none.
struct DataPlace {
  std::string directory;
  std::string reason;  // for the user: "--data", "DDLRUN_DATA", ...
};
DataPlace find_data(const std::string& asked);

// Writes image `index` of `set` as floats.
void normalise(const Dataset& data, const ImageSet& set, std::size_t index, std::span<float> out);

// Equal for equal contents: what the ranks compare before they start.
std::uint64_t fingerprint(const Dataset& data);

}  // namespace ddlrun::runtime
