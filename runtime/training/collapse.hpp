// SPDX-License-Identifier: MIT
// Recognizes a net that has learned nothing: it answers one class, whatever the image.
#pragma once

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

}  // namespace ddlrun::runtime
