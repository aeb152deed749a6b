// SPDX-License-Identifier: MIT
#include "runtime/training/collapse.hpp"

#include <cmath>
#include <map>

namespace ddlrun::runtime {

std::optional<LabelStatistics> measure_labels(const ImageSource& images) {
  if (!images.labels_in_memory() || images.count() == 0) return std::nullopt;
  std::map<Label, std::size_t> counts;
  for (std::size_t i = 0; i < images.count(); ++i) ++counts[images.label(i)];
  LabelStatistics labels;
  for (const auto& [label, count] : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(images.count());
    labels.entropy -= share * std::log(share);
    if (share <= labels.largest_share) continue;
    labels.largest_share = share;
    labels.largest = label;
  }
  return labels;
}

bool has_collapsed(const LabelStatistics& labels, const EpochRecord& epoch, std::size_t steps) {
  constexpr std::size_t first_steps = 100;
  constexpr double same_loss = 0.98, chance = 0.02;
  return steps >= first_steps && epoch.train_loss >= same_loss * labels.entropy &&
         epoch.train_accuracy <= labels.largest_share + chance;
}

}  // namespace ddlrun::runtime
