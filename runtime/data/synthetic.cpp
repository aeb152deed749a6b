// SPDX-License-Identifier: MIT
#include "runtime/data/synthetic.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "runtime/core/random.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace ddlrun::runtime {
namespace {

constexpr const char* synthetic_prefix = "synthetic:";
constexpr std::uint64_t most_classes = 65'536;
constexpr std::uint64_t most_images = 1'000'000'000;
constexpr std::size_t different_images = 64;
constexpr std::size_t least_tested = 64;

// "3x224x224x1000:10000" as {3, 224, 224, 1000, 10000}.
std::optional<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
  const auto halves = split(text, ':');
  if (halves.size() != 2) return std::nullopt;
  std::vector<std::string_view> words = split(halves[0], 'x');
  words.push_back(halves[1]);
  const std::uint64_t most[] = {4096, 32'768, 32'768, most_classes, most_images};
  const std::uint64_t least[] = {1, 1, 1, 2, 1};
  if (words.size() != std::size(most)) return std::nullopt;
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto size = parse_unsigned(words[i], most[i]);
    if (!size || *size < least[i]) return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

ImageSet draw_set(Shape shape, std::size_t classes, std::size_t count, std::uint64_t seed) {
  ImageSet set;
  set.shape = shape;
  set.pixels.resize(std::min(count, different_images) * shape.count());
  set.labels.resize(count);
  Random random(seed);
  for (std::uint8_t& pixel : set.pixels) pixel = static_cast<std::uint8_t>(random.next() >> 56U);
  for (Label& label : set.labels) label = static_cast<Label>(random.below(classes));
  return set;
}

// What was requested, in the order in which it is written.
std::vector<std::uint64_t> require_sizes(const std::string& place) {
  const auto sizes = parse_sizes(std::string_view(place).substr(std::string_view(synthetic_prefix).size()));
  if (sizes) return *sizes;
  throw Error(ErrorKind::usage, {"must be synthetic:CHANNELSxHEIGHTxWIDTHxCLASSES:IMAGES (sides up to 32768, "
                                 "channels up to 4096, 2 to 65536 classes)",
                                 "--data " + printable(place), "--data synthetic:3x224x224x1000:10000"});
}

}  // namespace

bool is_synthetic(const std::string& place) { return place.starts_with(synthetic_prefix); }

ImageSet generate_synthetic(const std::string& place, bool test) {
  const std::vector<std::uint64_t> sizes = require_sizes(place);
  const Shape shape{static_cast<int>(sizes[0]), static_cast<int>(sizes[1]), static_cast<int>(sizes[2])};
  const auto count = static_cast<std::size_t>(sizes[4]);
  return draw_set(shape, static_cast<std::size_t>(sizes[3]),
                  test ? std::max(count / 100, std::min(count, least_tested)) : count, test ? 2 : 1);
}

int synthetic_classes(const std::string& place) { return static_cast<int>(require_sizes(place)[3]); }

}  // namespace ddlrun::runtime
