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

EpochRecord make_epoch(std::size_t number, double train_loss, double train_accuracy, double test_loss,
                       double test_accuracy) {
  EpochRecord epoch;
  epoch.epoch = number;
  epoch.steps = 9;
  epoch.train_loss = train_loss;
  epoch.train_accuracy = train_accuracy;
  epoch.test_loss = test_loss;
  epoch.test_accuracy = test_accuracy;
  return epoch;
}

TEST_CASE("a net that does not look at the images is recognized after 100 steps, one that learns is not") {
  const LabelStatistics ten{0.1, std::log(10.0), 0};
  CollapseDetector blind(ten, 0.02, false);
  for (std::size_t i = 1; i <= 11; ++i) CHECK_FALSE(blind.add(make_epoch(i, 2.31, 0.101, 2.3, 0.1)));
  const auto found = blind.add(make_epoch(12, 2.31, 0.101, 2.3, 0.1));
  REQUIRE(found);
  CHECK(found->steps == 108);
  const Message nothing = render_collapse(*found);
  CHECK(nothing.what.starts_with("the net has learned nothing in 108 steps: "));
  CHECK(nothing.hint == "--lr 0.002   # or a larger one: the loss has not moved");
  CHECK_FALSE(blind.add(make_epoch(13, 2.31, 0.101, 2.3, 0.1)));  // reported once
  CollapseDetector slow(ten, 0.02, false);
  for (std::size_t i = 1; i <= 20; ++i) {
    CHECK_FALSE(slow.add(make_epoch(i, 2.31, 0.2, 2.31, 0.2)));
    CHECK_FALSE(slow.add(make_epoch(i, 1.9, 0.1, 1.9, 0.1)));
  }
  const LabelStatistics uneven{0.9, 0.325, 0};  // 90 % of the images are of one class
  CollapseDetector largest(uneven, 0.02, false);
  std::size_t reports = 0;
  for (std::size_t i = 1; i <= 12; ++i) reports += largest.add(make_epoch(i, 0.33, 0.9, 0.33, 0.9)) ? 1 : 0;
  CHECK(reports == 1);
}

// Whether the loss moved decides between a lower and a larger rate.
TEST_CASE("a net that has learned nothing: a lower rate where its loss moved, a larger one at a tiny rate") {
  const LabelStatistics three{1.0 / 3.0, std::log(3.0), 0};
  const auto hint_of = [&](double lr, std::optional<double> larger, double first, double last) {
    CollapseDetector run(three, lr, false, larger);
    for (std::size_t i = 1; i <= 11; ++i) run.add(make_epoch(i, i == 1 ? first : last, 0.33, 1.1, 0.333));
    const auto found = run.add(make_epoch(12, last, 0.33, 1.1, 0.333));
    REQUIRE(found);
    return render_collapse(*found).hint;
  };
  CHECK(hint_of(1e-9, 0.01, 1.1101, 1.1099) == "--lr 0.01   # the loss has not moved");
  CHECK(hint_of(1e-9, 0.01, 1.15, 1.0987) == "--lr 1e-10");
  CHECK(hint_of(0.1, std::nullopt, 1.3, 1.0987) == "--lr 0.01");
  CHECK(hint_of(0.01, std::nullopt, 1.0988, 1.0987) ==
        "--lr 0.001   # or a larger one: the loss has not moved");
}

// 150 images of three classes: guessing is right for 50, with a standard deviation of sqrt(150 * 1/3 * 2/3)
// = 5.77, so in 19 of 20 tests for at most 50 + 1.645 * 5.77 = 59.5.
TEST_CASE("a test that guessing reaches, within the luck of its images") {
  const auto judge = [](int right, int images, double guess, int classes) {
    return find_guessing(
        {static_cast<double>(right) / images, guess, static_cast<std::size_t>(images), classes},
        "epoch 5, 45 steps", "--epochs 30");
  };
  const auto guessed = judge(50, 150, 1.0 / 3, 3);
  REQUIRE(guessed);
  CHECK(guessed->what ==
        "the test accuracy of 33.3 % is not better than guessing (33.3 % of 3 classes, 150 images)");
  CHECK(guessed->where == "epoch 5, 45 steps");
  CHECK(guessed->hint == "--epochs 30");
  REQUIRE(judge(59, 150, 1.0 / 3, 3));
  CHECK(judge(59, 150, 1.0 / 3, 3)->what.starts_with("the test accuracy of 39.3 % is hardly better"));
  CHECK_FALSE(judge(60, 150, 1.0 / 3, 3));
  CHECK(judge(450, 500, 0.9, 2));  // answers the most frequent class
  CHECK_FALSE(judge(470, 500, 0.9, 2));
  CHECK_FALSE(judge(10, 10, 1.0, 1));
  CHECK_FALSE(judge(1500, 10000, 0.1, 10));
}

// A run of cifar-quick on 600 photos of 4 classes.
TEST_CASE("a net that had learned is reported in the epoch in which it collapses, with its best epoch") {
  const LabelStatistics four{0.25, std::log(4.0), 0};
  CollapseDetector run(four, 0.02, false);
  CHECK_FALSE(run.add(make_epoch(1, 1.37, 0.464, 1.1, 0.46)));
  CHECK_FALSE(run.add(make_epoch(2, 1.39, 0.52, 1.0, 0.568)));  // its mean loss has the start of the fall
  const auto found = run.add(make_epoch(3, 2.03, 0.31, 1.386, 0.25));
  REQUIRE(found);
  const Message diverged = render_collapse(*found);
  CHECK(diverged.what ==
        "the net had learned, then diverged: from a test accuracy of 56.8 % in epoch 2, the best, to 25.0 %; "
        "the loss in training is 2.03");
  CHECK(diverged.hint == "--lr 0.002");  // a tenth of the option's value, whatever the ranks make of it
}

StepRecord make_step(double loss) {
  StepRecord step;
  step.loss = loss;
  return step;
}

// Runs of cifar-quick on 600 photos of 3 classes.
TEST_CASE("a loss far above its start is divergence, in the epoch that shows it") {
  const LabelStatistics three{1.0 / 3.0, std::log(3.0), 0};
  for (const bool advise_clip : {false, true}) {
    CollapseDetector run(three, 0.1, advise_clip);
    run.add(make_step(1.12));
    run.add(make_step(40.0));
    const auto found = run.add(make_epoch(1, 7.61, 0.35, 1.0987, 0.333));
    REQUIRE(found);
    const Message message = render_collapse(*found);
    CHECK(message.what ==
          "the net diverges: the mean loss is 7.61 in training, after 1.12 at the start of this run");
    CHECK(message.where == "epoch 1, --lr 0.1");
    CHECK(message.hint == (advise_clip ? "--lr 0.01 --clip 5" : "--lr 0.01"));
    CHECK_FALSE(run.add(make_epoch(2, 2.5e10, 0.333, 2.5e10, 0.333)));  // reported once
  }
  CollapseDetector late(three, 0.1, true);
  late.add(make_step(1.12));
  CHECK_FALSE(late.add(make_epoch(1, 0.9, 0.6, 0.8, 0.65)));
  const auto found = late.add(make_epoch(2, 2.5e10, 0.5, 2.5e10, 0.5));  // a lucky class in the test
  REQUIRE(found);
  CHECK(render_collapse(*found).what.starts_with("the net had learned, then diverged: "));
  CHECK(render_collapse(*found).hint == "--lr 0.01 --clip 5");
}

TEST_CASE("no divergence: large initial weights, and a peak from which the net has recovered") {
  const LabelStatistics three{1.0 / 3.0, std::log(3.0), 0};
  CollapseDetector large(three, 0.02, true);
  large.add(make_step(9.0));
  CHECK_FALSE(large.add(make_epoch(1, 4.0, 0.5, 1.2, 0.5)));
  CollapseDetector peak(three, 0.02, true);
  peak.add(make_step(1.1));
  CHECK_FALSE(peak.add(make_epoch(1, 4.0, 0.5, 0.9, 0.6)));
}

TEST_CASE("a net that knows the training images by heart has not collapsed") {
  const LabelStatistics two{0.5, std::log(2.0), 0};
  CollapseDetector run(two, 0.02, false);
  CHECK_FALSE(run.add(make_epoch(1, 0.5, 0.8, 0.6, 0.65)));
  CHECK_FALSE(run.add(make_epoch(2, 0.2, 0.95, 1.4, 0.5)));
  EpochRecord lucky;  // 240 images: a standard deviation of 3 %
  lucky.train_loss = 0.69;
  lucky.train_accuracy = 0.55;
  CHECK_FALSE(has_learned(two, lucky));
}

TEST_SUITE_END();

}  // namespace ddlrun::runtime
