// SPDX-License-Identifier: MIT
#include "runtime/data/image_source.hpp"

#include "runtime/core/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ddlrun::runtime {
namespace {

constexpr std::size_t sampled_labels = 10'000;

class MemorySource : public ImageSource {
 public:
  MemorySource(ImageSet set, std::string name)
      : set_(std::move(set)),
        name_(std::move(name)),
        bytes_(set_.shape.count()),
        images_(std::max<std::size_t>(set_.pixels.size() / std::max<std::size_t>(bytes_, 1), 1)) {}

  std::size_t count() const override { return set_.labels.size(); }
  Shape shape() const override { return set_.shape; }
  bool in_memory() const override { return true; }
  Label label(std::size_t index) const override { return set_.labels[index]; }
  void read(std::size_t index, std::span<std::byte> out) const override {
    const std::span<const std::byte> image = view(index);
    std::copy(image.begin(), image.end(), out.begin());
  }
  std::span<const std::byte> view(std::size_t index) const override {
    return std::as_bytes(std::span(set_.pixels)).subspan(index % images_ * bytes_, bytes_);
  }
  std::string name(std::size_t index) const override { return fmt::format("{}, image {}", name_, index); }
  std::uint64_t fingerprint() const override {
    const std::uint64_t hash = hash_bytes(std::as_bytes(std::span(set_.pixels)));
    return hash_bytes(std::as_bytes(std::span(set_.labels)), hash);
  }

 private:
  ImageSet set_;
  std::string name_;
  std::size_t bytes_;
  std::size_t images_;  // different ones
};

}  // namespace

std::size_t ImageSource::image_bytes() const {
  return shape().count() * (pixels() == PixelKind::floats ? sizeof(float) : 1);
}

SourcePtr make_memory_source(ImageSet set, std::string name) {
  return std::make_shared<MemorySource>(std::move(set), std::move(name));
}

int count_classes(const ImageSource& source) {
  const std::size_t count = source.count();
  const std::size_t asked = source.labels_in_memory() ? count : std::min(count, sampled_labels);
  int most = 0;
  for (std::size_t i = 0; i < asked; ++i) most = std::max<int>(most, source.label(i * count / asked));
  return most + 1;
}

}  // namespace ddlrun::runtime
