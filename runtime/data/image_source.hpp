// SPDX-License-Identifier: MIT
// Labelled images in memory, in files or in an LMDB. All images of a source have one shape.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// Storage type of pixels. Only Caffe's float_data gives floats.
enum class PixelKind { bytes, floats };

class ImageSource {
 public:
  virtual ~ImageSource() = default;

  virtual std::size_t count() const = 0;
  virtual Shape shape() const = 0;
  virtual PixelKind pixels() const { return PixelKind::bytes; }
  // Whether reading is as cheap as copying; then the loader does not prefetch.
  virtual bool in_memory() const { return false; }

  // Whether all labels are in memory; otherwise each is read from disk.
  virtual bool labels_in_memory() const { return true; }

  // Thread-safe. Throw Error(request) with the image's file or key.
  virtual Label label(std::size_t index) const = 0;
  // Writes image_bytes() bytes as planes [C, H, W].
  virtual void read(std::size_t index, std::span<std::byte> out) const = 0;

  // A view of the bytes if they are in memory, else empty.
  virtual std::span<const std::byte> view(std::size_t /*index*/) const { return {}; }

  // Name of the image for messages: its file or key.
  virtual std::string name(std::size_t index) const = 0;
  // Equal for equal contents. For a source on disk: all names, sizes and labels, and the contents of at most
  // 64 images.
  virtual std::uint64_t fingerprint() const = 0;

  std::size_t image_bytes() const;
};

using SourcePtr = std::shared_ptr<const ImageSource>;

// Images as consecutive bytes, with one label each. If there are fewer images than labels, images repeat
// (synthetic data).
struct ImageSet {
  Shape shape;
  std::vector<std::uint8_t> pixels;
  std::vector<Label> labels;

  std::size_t count() const { return labels.size(); }
};

SourcePtr make_memory_source(ImageSet set, std::string name);

// The largest label plus 1. If labels are on disk: from about 10,000 images, evenly spaced.
int count_classes(const ImageSource& source);

}  // namespace ddlrun::runtime
