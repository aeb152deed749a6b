// SPDX-License-Identifier: MIT
// Recognizes a net that answers one class, whatever the image: it has learned nothing, or has diverged.
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

// After `steps` of the run, with the record of its last epoch. False in the first 100 steps.
bool has_collapsed(const LabelStatistics& labels, const EpochRecord& epoch, std::size_t steps);
// The epoch is clearly better than answering without the images.
bool has_learned(const LabelStatistics& labels, const EpochRecord& epoch);

// A collapsed epoch, the best one before it if any has learned, and the rate as --lr takes it.
struct Collapse {
  EpochRecord epoch;
  std::optional<EpochRecord> best;
  std::size_t steps = 0;
  double lr = 0.0;
};
Message render_collapse(const Collapse& collapse);

}  // namespace ddlrun::runtime
