// SPDX-License-Identifier: MIT
// Crops, mirrors and (x - mean) * scale against Caffe's formula written out pixel by pixel.
#include "runtime/data/transform.hpp"

#include "runtime/data/image.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

namespace ddlrun::runtime {
namespace {

std::vector<std::uint8_t> counting_pixels(const Shape& shape) {
  std::vector<std::uint8_t> pixels(shape.count());
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(i * 37 + i / 11);
  return pixels;
}

// Caffe's DataTransformer: the mean is taken where the pixel was, before it is mirrored.
float caffe_value(const Transform& t, const CropWindow& view, const Shape& shape,
                  const std::vector<std::uint8_t>& pixels, int c, int h, int w) {
  const Shape out = t.output(shape);
  const int column = view.left + (view.mirrored ? out.width - 1 - w : w);
  const auto at = static_cast<std::size_t>((c * shape.height + view.top + h) * shape.width + column);
  const auto channel = static_cast<std::size_t>(c);
  const float mean = t.mean.empty()                   ? 0.0F
                     : t.mean.size() == 1             ? t.mean[0]
                     : t.mean.size() == shape.count() ? t.mean[at]
                                                      : t.mean[channel];
  const float scale = t.scale.size() == 1 ? t.scale[0] : t.scale[channel];
  return (static_cast<float>(pixels[at]) - mean) * scale;
}

}  // namespace
TEST_SUITE_BEGIN("runtime/data/transform");

// namespace

TEST_CASE("transform: every combination gives Caffe's values, to the bit") {
  const Shape shape{3, 19, 37};
  const auto pixels = counting_pixels(shape);
  std::vector<float> floats(pixels.begin(), pixels.end());
  std::vector<float> mean_image(shape.count());
  for (std::size_t i = 0; i < mean_image.size(); ++i)
    mean_image[i] = 100.0F + 0.37F * static_cast<float>(i % 29);
  const std::vector<std::vector<float>> means{{}, {127.5F}, {104.0F, 117.0F, 123.0F}, mean_image};
  const std::vector<std::vector<float>> scales{{1.0F}, {0.00390625F}, {0.01F, 0.02F, 0.03F}};
  for (const auto& mean : means) {
    for (const auto& scale : scales) {
      for (const Sides crop : {Sides{0, 0}, Sides{7, 16}, Sides{19, 37}}) {
        for (const bool mirrored : {false, true}) {
          const Transform transform{crop, true, mean, scale};
          CAPTURE(mean.size());
          CAPTURE(crop.height);
          const Shape out = transform.output(shape);
          const CropWindow view{shape.height - out.height, (shape.width - out.width) / 2, mirrored};
          std::vector<float> got(out.count());
          std::vector<float> same(out.count());
          apply_transform(transform, view, shape, std::span<const std::uint8_t>(pixels), got);
          apply_transform(transform, view, shape, std::span<const float>(floats), same);
          CHECK(got == same);
          std::size_t wrong = 0;
          std::size_t at = 0;
          for (int c = 0; c < out.channels; ++c) {
            for (int h = 0; h < out.height; ++h) {
              for (int w = 0; w < out.width; ++w)
                wrong += got[at++] == caffe_value(transform, view, shape, pixels, c, h, w) ? 0 : 1;
            }
          }
          CHECK(wrong == 0);
        }
      }
    }
  }
}

TEST_CASE("transform: views are drawn evenly, from seed, step and image alone") {
  const Shape shape{1, 10, 12};
  const Transform transform{{7, 9}, true, {}, {1.0F}};
  std::map<int, int> tops;
  std::map<int, int> lefts;
  int mirrored = 0;
  constexpr int draws = 16'000;
  for (int i = 0; i < draws; ++i) {
    const CropWindow view = random_crop(transform, shape, 5, static_cast<std::uint64_t>(i / 100),
                                        static_cast<std::uint64_t>(i % 100));
    CHECK_FALSE((view.top < 0 || view.top > 3 || view.left < 0 || view.left > 3));
    ++tops[view.top];
    ++lefts[view.left];
    mirrored += view.mirrored ? 1 : 0;
  }
  // 4 standard deviations of a count with chance 1/4 and 1/2.
  for (const auto& counts : {tops, lefts}) {
    CHECK(counts.size() == 4);
    for (const auto& [place, count] : counts)
      CHECK(std::abs(count - draws / 4) < 4 * std::sqrt(draws * 3 / 16));
  }
  CHECK(std::abs(mirrored - draws / 2) < 4 * std::sqrt(draws / 4));
  CHECK(random_crop(transform, shape, 5, 3, 7) == random_crop(transform, shape, 5, 3, 7));
  std::set<std::tuple<int, int, bool>> seen;
  for (std::uint64_t i = 0; i < 40; ++i) {
    for (const CropWindow& view :
         {random_crop(transform, shape, i, 1, 1), random_crop(transform, shape, 1, i, 1),
          random_crop(transform, shape, 1, 1, i)})
      seen.insert({view.top, view.left, view.mirrored});
  }
  CHECK(seen.size() > 20);  // of 32: each of the three numbers matters
  CHECK(center_crop(transform, shape) == CropWindow{1, 1, false});
}

TEST_CASE("transform: what does not fit is reported, all of it") {
  const Transform wrong{{30, 5}, false, {1.0F, 2.0F}, {1.0F, 2.0F}};
  const std::vector<Message> errors = check_transform(wrong, {3, 28, 28});
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].what == "a crop of 30x5 does not fit into images of 28x28");
  CHECK(errors[1].what.starts_with("2 mean values for images of 3 channel(s)"));
  CHECK(check_transform({{28, 28}, true, {1.0F, 2.0F, 3.0F}, {1.0F}}, {3, 28, 28}).empty());
}

TEST_CASE("resize: what a bilinear filter must do") {
  Image ramp{1, 4, 8, {}};
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x) ramp.pixels.push_back(static_cast<std::uint8_t>(10 * y + 20 * x));
  }
  CHECK(resize_image(ramp, {4, 8}).pixels == ramp.pixels);
  const Image half = resize_image(ramp, {2, 4});  // centres fall between four pixels: their mean
  CHECK(half.pixels[0] == 15);
  CHECK(half.pixels[5] == 75);
  const Image flat = resize_image({3, 2, 2, std::vector<std::uint8_t>(12, 201)}, {31, 17});
  CHECK(flat.pixels == std::vector<std::uint8_t>(std::size_t{31} * 17 * 3, 201));
  CHECK(resize_image(ramp, {1, 1}).pixels.size() == 1);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
