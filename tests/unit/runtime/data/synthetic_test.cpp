// SPDX-License-Identifier: MIT
#include "runtime/data/synthetic.hpp"

#include "runtime/data/dataset.hpp"
#include "tests/unit/runtime/expect_error.hpp"

#include <doctest/doctest.h>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/data/synthetic");

TEST_CASE("synthetic: as many images and classes as asked, in little memory, the same each time") {
  const Dataset data = load_dataset("synthetic:3x5x7x1000:20000");
  CHECK(data.train_images->count() == 20'000);
  CHECK(data.test_images->count() == 200);
  CHECK(generate_synthetic("synthetic:3x5x7x1000:64", true).count() == 64);
  CHECK(generate_synthetic("synthetic:3x5x7x1000:6399", true).count() == 64);
  CHECK(generate_synthetic("synthetic:3x5x7x1000:5", true).count() == 5);
  CHECK(data.input() == Shape{3, 5, 7});
  CHECK(data.classes == 1000);
  CHECK(count_classes(*data.train_images) == 1000);
  CHECK(generate_synthetic("synthetic:3x5x7x1000:20000", false).pixels.size() == std::size_t{64} * 105);
  CHECK(fingerprint(data) == fingerprint(load_dataset("synthetic:3x5x7x1000:20000")));
  CHECK(data.train_images->view(19'999).data() == data.train_images->view(19'999 % 64).data());
  CHECK(data.transform.mean == std::vector<float>{127.5F});
}

TEST_CASE("synthetic: refusals") {
  for (const char* place : {"synthetic:", "synthetic:3x5x7x10", "synthetic:3x5x7:10", "synthetic:3x5x7x1:10",
                            "synthetic:0x5x7x10:10", "synthetic:3x5x7x10:0", "synthetic:3x5x7x65537:9"}) {
    CAPTURE(place);
    expect_error(ErrorKind::usage, "must be synthetic:CHANNELSxHEIGHTxWIDTHxCLASSES:IMAGES",
                 [&] { load_dataset(place); });
  }
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
