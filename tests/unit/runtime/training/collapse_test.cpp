// SPDX-License-Identifier: MIT
#include "runtime/training/collapse.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace ddlrun::runtime {

TEST_SUITE_BEGIN("runtime/training/collapse");

TEST_CASE("labels: the most frequent one and the entropy") {
  ImageSet set{{1, 1, 1}, {0, 0, 0, 0}, {2, 2, 2, 1}};
  const auto labels = measure_labels(*make_memory_source(set, "set"));
  REQUIRE(labels);
  CHECK(labels->largest == 2);
  CHECK(labels->largest_share == doctest::Approx(0.75));
  CHECK(labels->entropy == doctest::Approx(0.75 * std::log(4.0 / 3.0) + 0.25 * std::log(4.0)));
}

TEST_CASE("a net that does not look at the images is recognized, one that learns is not") {
  const LabelStatistics ten{0.1, std::log(10.0), 0};
  EpochRecord epoch;
  epoch.train_loss = 2.31;
  epoch.train_accuracy = 0.101;
  CHECK(has_collapsed(ten, epoch, 200));
  CHECK_FALSE(has_collapsed(ten, epoch, 50));  // too early
  epoch.train_accuracy = 0.2;
  CHECK_FALSE(has_collapsed(ten, epoch, 200));
  epoch = {};
  epoch.train_loss = 1.9;
  epoch.train_accuracy = 0.1;
  CHECK_FALSE(has_collapsed(ten, epoch, 200));
  const LabelStatistics uneven{0.9, 0.325, 0};  // 90 % of the images are of one class
  epoch.train_loss = 0.33;
  epoch.train_accuracy = 0.9;
  CHECK(has_collapsed(uneven, epoch, 200));
}

TEST_CASE("a net that had learned is distinguished from one that never did") {
  const LabelStatistics two{0.5, std::log(2.0), 0};
  EpochRecord good;
  good.epoch = 4;
  good.train_loss = 0.3;
  good.train_accuracy = 0.9;
  CHECK(has_learned(two, good));
  EpochRecord lucky;  // 240 images: a standard deviation of 3 %
  lucky.train_loss = 0.69;
  lucky.train_accuracy = 0.55;
  CHECK_FALSE(has_learned(two, lucky));
  EpochRecord bad;
  bad.epoch = 9;
  bad.train_loss = 0.694;
  bad.train_accuracy = 0.5;
  const Message diverged = render_collapse({bad, good, 135, 0.02});
  CHECK(diverged.what ==
        "the net had learned, then diverged: from an accuracy of 90.0 % in epoch 4, the best, to a loss of "
        "0.694 "
        "and an accuracy of 50.0 %");
  CHECK(diverged.hint == "--lr 0.002");  // a tenth of the option's value, whatever the ranks make of it
  const Message nothing = render_collapse({bad, std::nullopt, 135, 0.02});
  CHECK(nothing.what.starts_with("the net has learned nothing in 135 steps: "));
  CHECK(nothing.hint.starts_with("--lr 0.002 "));
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
