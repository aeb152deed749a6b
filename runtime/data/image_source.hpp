// SPDX-License-Identifier: MIT
// Images with labels, wherever they lie: in memory, in files, in an LMDB. All of a source have one shape.
#pragma once

#include "runtime/core/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddlrun::runtime {

// What an image is kept as. Only Caffe's float_data gives floats.
enum class PixelKind { bytes, floats };

class ImageSource {
 public:
  virtual ~ImageSource() = default;

  virtual std::size_t count() const = 0;
  virtual Shape shape() const = 0;
  virtual PixelKind pixels() const { return PixelKind::bytes; }
  // Reading costs no more than copying: then nobody reads ahead.
  virtual bool in_memory() const { return false; }

  // All labels can be asked for at once; otherwise each is read from the disk.
  virtual bool labels_in_memory() const { return true; }

  // Both from any thread, several at once. Throw Error(request) with the image's file or key.
  virtual Label label(std::size_t index) const = 0;
  // Plane after plane, image_bytes() long: channels, rows, columns.
  virtual void read(std::size_t index, std::span<std::byte> out) const = 0;

  // The bytes themselves if they are in memory, else nothing.
  virtual std::span<const std::byte> view(std::size_t /*index*/) const { return {}; }

  // What messages call it: the file or key of this image.
  virtual std::string name(std::size_t index) const = 0;
  // Equal for equal contents. Of a source that is not in memory: of all names, sizes and labels, and of the
  // contents of at most 64 images.
  virtual std::uint64_t fingerprint() const = 0;

  std::size_t image_bytes() const;
};

using SourcePtr = std::shared_ptr<const ImageSource>;

// Images as bytes, one after the other; one label each. Fewer images than labels are used again from the
// first one (synthetic ones: what they show does not matter).
struct ImageSet {
  Shape shape;
  std::vector<std::uint8_t> pixels;
  std::vector<Label> labels;

  std::size_t count() const { return labels.size(); }
};

SourcePtr make_memory_source(ImageSet set, std::string name);

// The largest label and 1. Where the labels are not at hand: of about 10,000 images, evenly spread.
int count_classes(const ImageSource& source);

}  // namespace ddlrun::runtime
