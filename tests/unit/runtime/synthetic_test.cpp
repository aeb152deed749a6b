// SPDX-License-Identifier: MIT
#include "runtime/synthetic.hpp"

#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace ddlrun::runtime {

TEST_CASE("synthetic: as many images and classes as asked, in little memory, the same each time") {
  const Dataset data = load_dataset("synthetic:3x5x7x1000:20000");
  CHECK(data.train.count() == 20'000);
  CHECK(data.test.count() == 200);
  CHECK(data.train.shape == Shape{3, 5, 7});
  CHECK(data.classes == 1000);
  CHECK(*std::max_element(data.train.labels.begin(), data.train.labels.end()) == 999);
  CHECK(data.train.pixels.size() == std::size_t{64} * 105);
  CHECK(fingerprint(data) == fingerprint(load_dataset("synthetic:3x5x7x1000:20000")));
  std::vector<float> image(105);
  std::vector<float> again(105);
  normalise(data, data.train, 19'999, image);
  normalise(data, data.train, 19'999 % 64, again);
  CHECK(image == again);
}

TEST_CASE("synthetic: refusals") {
  for (const char* place : {"synthetic:", "synthetic:3x5x7x10", "synthetic:3x5x7:10", "synthetic:3x5x7x1:10",
                            "synthetic:0x5x7x10:10", "synthetic:3x5x7x10:0", "synthetic:3x5x7x65537:9"}) {
    CAPTURE(place);
    expect_error(ErrorKind::usage, "this is not synthetic:CHANNELSxHEIGHTxWIDTHxCLASSES:IMAGES",
                 [&] { load_dataset(place); });
  }
}

}  // namespace ddlrun::runtime
