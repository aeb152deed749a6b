// SPDX-License-Identifier: MIT
// Recognizes a net that has diverged, and one that answers one class, whatever the image.
#pragma once

#include "base/text/error.hpp"
#include "runtime/data/image_source.hpp"
#include "runtime/training/records.hpp"

#include <optional>

namespace ddlrun::runtime {

// What a net reaches that does not look at the images.
struct LabelStatistics {
  double largest_share = 0.0;  // accuracy of answering the most frequent label
  double entropy = 0.0;        // loss of answering each label as often as it occurs, in nats
  Label largest = 0;
};
// Nothing where the labels are on disk.
std::optional<LabelStatistics> measure_labels(const ImageSource& images);

// The epoch is clearly better than answering without the images, in training or in its test.
bool has_learned(const LabelStatistics& labels, const EpochRecord& epoch);

// A collapsed epoch, the one with the highest test accuracy before it if any has learned, and the rate as
// --lr takes it.
struct Collapse {
  EpochRecord epoch;
  std::optional<EpochRecord> best;
  std::size_t steps = 0;
  double lr = 0.0;
  bool advise_clip = false;          // gradients are not clipped, and could be
  bool has_moved = true;             // the loss in training, since the first epoch
  std::optional<double> larger_lr;   // the default rate, where that of the run is far below it
  std::optional<double> first_loss;  // of the first step; only where the loss has grown far above it
};
Message render_collapse(const Collapse& collapse);

// Reads the steps and epochs of a run in order and reports the first collapse: in the epoch in which the loss
// has grown far above its start, in which a net that had learned answers one class in the test, or, of a net
// that has learned nothing, after 100 steps.
class CollapseDetector {
 public:
  CollapseDetector(const LabelStatistics& labels, double lr, bool advise_clip,
                   std::optional<double> larger_lr = std::nullopt)
      : labels_(labels), lr_(lr), advise_clip_(advise_clip), larger_lr_(larger_lr) {}
  void add(const StepRecord& step) {
    if (!first_loss_) first_loss_ = step.loss;
  }
  std::optional<Collapse> add(const EpochRecord& epoch);
  bool has_reported() const { return reported_; }

 private:
  LabelStatistics labels_;
  double lr_;
  bool advise_clip_;
  std::optional<double> larger_lr_;
  std::optional<double> first_loss_;
  std::optional<double> first_epoch_loss_;
  std::optional<EpochRecord> best_, before_;
  std::size_t steps_ = 0;
  bool reported_ = false;
};

// A test of a whole run that guessing reaches as well, within the luck of its images: once in 20 tests a net
// that guesses is better by luck. Nothing where the net is better, and for fewer than two classes.
struct GuessedTest {
  double accuracy = 0.0;
  double guess = 0.0;  // the share of the most frequent class
  std::size_t images = 0;
  int classes = 0;
};
// `more`: the option for a longer training.
std::optional<Message> find_guessing(const GuessedTest& test, const std::string& where,
                                     const std::string& more);

}  // namespace ddlrun::runtime
