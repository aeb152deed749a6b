// SPDX-License-Identifier: MIT
#include "runtime/data/idx.hpp"

#include "runtime/core/random.hpp"
#include "runtime/data/dataset.hpp"
#include "tests/support/mutate.hpp"
#include "tests/unit/runtime/expect_error.hpp"
#include "tests/unit/runtime/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace ddlrun::runtime {
namespace {

// Two 2x3 images, written by hand from the format's description.
const Bytes two_images{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
const Bytes two_labels{0, 0, 8, 1, 0, 0, 0, 2, 0, 1};

}  // namespace
TEST_SUITE_BEGIN("runtime/data/idx");

// namespace

TEST_CASE("idx: a well formed file") {
  const IdxArray array = parse_idx(two_images, 3, "images");
  CHECK(array.dims == std::vector<std::uint32_t>{2, 2, 3});
  CHECK(array.data.size() == 12);
  CHECK(array.data[11] == 12);
  CHECK(render_idx(array.dims, array.data) == two_images);
  CHECK(parse_idx(two_labels, 1, "labels").data.size() == 2);
  CHECK(parse_idx(Bytes{0, 0, 8, 1, 0, 0, 0, 0}, 1, "no labels").data.empty());
}

TEST_CASE("idx: refusals") {
  struct Case {
    const char* part;
    Bytes bytes;
    std::size_t dimensions;
  };
  const Case cases[] = {
      {"has 0 bytes", {}, 3},
      {"has 3 bytes", {0, 0, 8}, 3},
      {"this one with 1f 8b", {0x1f, 0x8b, 8, 0, 0, 0, 0, 0}, 3},
      {"0x0d (float)", {0, 0, 0x0D, 1, 0, 0, 0, 0}, 1},
      {"0x00 (unknown)", {0, 0, 0, 1, 0, 0, 0, 0}, 1},
      {"images need 3 IDX dimension(s), but this file has 1", two_labels, 3},
      {"labels need 1 IDX dimension(s), but this file has 3", two_images, 1},
      {"header needs 16 bytes, but the file has 8", {0, 0, 8, 3, 0, 0, 0, 2}, 3},
      {"declares 5 = 5 bytes, but 2 follow", {0, 0, 8, 1, 0, 0, 0, 5, 0, 1}, 1},
      {"declares 1 = 1 bytes, but 2 follow", {0, 0, 8, 1, 0, 0, 0, 1, 0, 1}, 1},
      {"declares 4294967295 = 4294967295 bytes", {0, 0, 8, 1, 255, 255, 255, 255, 0}, 1},
      {"more than 64 bits", {0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0}, 3},
  };
  for (const Case& c : cases) {
    const Message message =
        expect_error(ErrorKind::request, c.part, [&] { parse_idx(c.bytes, c.dimensions, "some file"); });
    CHECK(message.where == "some file");
  }
}

TEST_CASE("idx: every truncation and every extension is refused") {
  for (std::size_t size = 0; size < two_images.size(); ++size) {
    const Bytes cut(two_images.begin(), two_images.begin() + static_cast<std::ptrdiff_t>(size));
    expect_error(ErrorKind::request, "", [&] { parse_idx(cut, 3, "cut"); });
  }
  Bytes longer = two_images;
  longer.push_back(0);
  expect_error(ErrorKind::request, "extra bytes", [&] { parse_idx(longer, 3, "longer"); });
}

TEST_CASE("idx: mutated files are parsed or refused with a full message") {
  Random random(20240607);
  std::uint64_t parsed = 0;
  std::uint64_t refused = 0;
  const std::uint64_t rounds = tests::mutation_rounds(40'000);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Bytes bytes = two_images;
    const std::uint64_t changes = 1 + random.below(3);
    for (std::uint64_t c = 0; c < changes; ++c) {
      const std::uint64_t how = random.below(4);
      if (how == 0) {
        bytes.resize(random.below(bytes.size() + 8));
      } else if (!bytes.empty()) {
        const std::uint64_t at =
            random.below(how == 1 ? bytes.size() : std::min<std::size_t>(bytes.size(), 16));
        bytes[at] = how == 2 ? static_cast<std::uint8_t>(bytes[at] ^ (1U << random.below(8)))
                             : static_cast<std::uint8_t>(random.next());
      }
    }
    try {
      const ImageSet set = make_image_set(bytes, two_labels, "images", "labels");
      CHECK(set.pixels.size() == set.count() * set.shape.count());
      ++parsed;
    } catch (const Error& error) {
      REQUIRE(error.kind() == ErrorKind::request);
      REQUIRE(!error.message().what.empty());
      REQUIRE(!error.message().where.empty());
      REQUIRE(!error.message().hint.empty());
      ++refused;
    }
  }
  CHECK(parsed > rounds / 40);  // changes of pixels only
  CHECK(refused > rounds / 2);
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
