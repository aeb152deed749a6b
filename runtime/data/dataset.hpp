// SPDX-License-Identifier: MIT
// An image classification data set: training images, test images and the transform on their way to the net.
#pragma once

#include "base/text/error.hpp"
#include "runtime/core/shape.hpp"
#include "runtime/data/data_request.hpp"
#include "runtime/data/file_list.hpp"
#include "runtime/data/image_source.hpp"
#include "runtime/data/moments.hpp"
#include "runtime/data/sharding.hpp"
#include "runtime/data/transform.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

struct Dataset {
  std::string directory;  // as requested
  std::string test_path;  // of the test images alone, or of what they are divided from
  std::string test_root;  // where the names of a list of test images begin; "" for no list
  std::string kind;       // detected format: "MNIST's IDX files"
  SourcePtr train_images;
  SourcePtr test_images;
  Transform transform;  // Loader: random for training, the middle for testing
  int classes = 0;
  ClassDirectories class_directories;  // source of the labels; empty: labels were given
  std::vector<Message> warnings;       // classes without images that can be read
  std::vector<Moments> moments;        // source of the transform; empty: --mean or --scale given
  std::optional<Subsets> subsets;      // by --data-sharding; empty: all ranks have the same images
  std::uint64_t subsets_hash = 0;      // of all subsets

  // Shape of the input of the net.
  Shape input() const { return transform.output(train_images->shape()); }
};

// Mean 0 and deviation 1.
void set_moments(Transform& transform, std::span<const Moments> moments);

// The shard of one rank. Throws as the constructor of DataShard.
DataShard make_shard(const Dataset& data, std::size_t global_batch, std::uint64_t seed, std::size_t rank,
                     std::size_t ranks);

// Pure: two IDX files' bytes -> a set. Throws Error(request) if they do not belong together.
ImageSet make_image_set(std::span<const std::uint8_t> images, std::span<const std::uint8_t> labels,
                        const std::string& images_name, const std::string& labels_name);
// Counts classes, checks that training and test images have the same shape, measures mean and deviation.
Dataset make_dataset(ImageSet train, ImageSet test, std::string directory);

// Detects the format and opens the data set. Throws Error(request).
Dataset load_dataset(const DataRequest& request);
Dataset load_dataset(const std::string& directory);

// Chooses the data directory: `asked` if given; else DDLRUN_DATA; else Debian's Fashion-MNIST; else the
// subset that comes with ddlrun. Throws Error(request) if there is none.
struct DatasetPath {
  std::string directory;
  std::string reason;  // for the user: "--data", "DDLRUN_DATA", ...
};
DatasetPath find_data(const std::string& asked);

// Equal for equal contents; the ranks compare it at the start. For images on disk: names, sizes, labels, and
// the contents of some.
std::uint64_t fingerprint(const Dataset& data);

}  // namespace ddlrun::runtime
