// SPDX-License-Identifier: MIT
#include "runtime/training/collapse.hpp"

#include <fmt/format.h>

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

namespace {
constexpr double same_loss = 0.98;  // of the entropy
}  // namespace

bool has_learned(const LabelStatistics& labels, const EpochRecord& epoch) {
  constexpr double luck = 0.1;  // of a share of 100 images, twice its standard deviation
  return epoch.train_loss < same_loss * labels.entropy && epoch.train_accuracy > labels.largest_share + luck;
}

bool has_collapsed(const LabelStatistics& labels, const EpochRecord& epoch, std::size_t steps) {
  constexpr std::size_t first_steps = 100;
  constexpr double chance = 0.02;
  return steps >= first_steps && epoch.train_loss >= same_loss * labels.entropy &&
         epoch.train_accuracy <= labels.largest_share + chance;
}

Message render_collapse(const Collapse& collapse) {
  const EpochRecord& epoch = collapse.epoch;
  const std::string now = fmt::format("a loss of {:.3f} and an accuracy of {:.1f} %", epoch.train_loss,
                                      100.0 * epoch.train_accuracy);
  const std::string at = fmt::format("epoch {}, --lr {:.3g}", epoch.epoch, collapse.lr);
  const std::string lower = fmt::format("--lr {:.2g}", collapse.lr / 10);
  if (!collapse.best) {
    return {fmt::format("the net has learned nothing in {} steps: {} come without looking at the images",
                        collapse.steps, now),
            at, lower + "   # or a larger one, where the loss never moved"};
  }
  return {
      fmt::format("the net had learned, then diverged: from an accuracy of {:.1f} % in epoch {}, the best, "
                  "to {}",
                  100.0 * collapse.best->train_accuracy, collapse.best->epoch, now),
      at, lower};
}

}  // namespace ddlrun::runtime
