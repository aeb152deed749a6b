// SPDX-License-Identifier: MIT
#include "runtime/training/collapse.hpp"

#include <fmt/format.h>

#include <algorithm>
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
constexpr double chance = 0.02;     // above the share of the most frequent label

bool is_blind(const LabelStatistics& labels, double loss, double accuracy) {
  return loss >= same_loss * labels.entropy && accuracy <= labels.largest_share + chance;
}

// The mean loss of an epoch also has a peak from which the net has recovered: then its test shows it.
bool has_exploded(const LabelStatistics& labels, double first_loss, const EpochRecord& epoch) {
  constexpr double far = 3.0;
  return epoch.train_loss > far * std::max(labels.entropy, first_loss) &&
         (epoch.test_loss > far * labels.entropy || is_blind(labels, epoch.test_loss, epoch.test_accuracy));
}

}  // namespace

bool has_learned(const LabelStatistics& labels, const EpochRecord& epoch) {
  constexpr double luck = 0.1;  // of a share of 100 images, twice its standard deviation
  const bool in_training =
      epoch.train_loss < same_loss * labels.entropy && epoch.train_accuracy > labels.largest_share + luck;
  return in_training || epoch.test_accuracy > labels.largest_share + luck;
}

std::optional<Collapse> CollapseDetector::add(const EpochRecord& epoch) {
  constexpr std::size_t first_steps = 100;
  steps_ += epoch.steps;
  const bool in_training = is_blind(labels_, epoch.train_loss, epoch.train_accuracy);
  // A test alone may also show a net that has learned the training images by heart: its loss in training
  // falls.
  const bool in_test = is_blind(labels_, epoch.test_loss, epoch.test_accuracy) && before_ &&
                       epoch.train_loss > before_->train_loss;
  const bool exploded = first_loss_ && has_exploded(labels_, *first_loss_, epoch);
  const bool collapsed = exploded || (best_ ? in_training || in_test : in_training && steps_ >= first_steps);
  before_ = epoch;
  if (!first_epoch_loss_) first_epoch_loss_ = epoch.train_loss;
  if (collapsed && !reported_) {
    reported_ = true;
    constexpr double noise = 0.005;  // of the entropy: between two epochs of a net that stays as it is
    const bool moved = std::abs(epoch.train_loss - *first_epoch_loss_) > noise * labels_.entropy;
    return Collapse{epoch,        best_, steps_,     lr_,
                    advise_clip_, moved, larger_lr_, exploded ? first_loss_ : std::nullopt};
  }
  const bool better = !best_ || epoch.test_accuracy > best_->test_accuracy;
  if (better && has_learned(labels_, epoch)) best_ = epoch;
  return std::nullopt;
}

namespace {

// Of a net that has learned nothing. A loss that stays where it was is of a rate too small, or of a net that
// the first steps have broken: where the rate is also far below the default, only the first is possible.
std::string calm_or_larger(const Collapse& collapse, const std::string& lower) {
  if (collapse.has_moved) return lower;
  if (collapse.larger_lr) return fmt::format("--lr {:.2g}   # the loss has not moved", *collapse.larger_lr);
  return lower + "   # or a larger one: the loss has not moved";
}

}  // namespace

Message render_collapse(const Collapse& collapse) {
  const EpochRecord& epoch = collapse.epoch;
  const std::string at = fmt::format("epoch {}, --lr {:.3g}", epoch.epoch, collapse.lr);
  const std::string lower = fmt::format("--lr {:.2g}", collapse.lr / 10);
  const std::string calmer = lower + (collapse.advise_clip ? " --clip 5" : "");
  if (collapse.first_loss && !collapse.best) {
    return {
        fmt::format(
            "the net diverges: the mean loss is {:.3g} in training, after {:.3g} at the start of this run",
            epoch.train_loss, *collapse.first_loss),
        at, calmer};
  }
  if (!collapse.best) {
    return {fmt::format(
                "the net has learned nothing in {} steps: a loss of {:.3f} and an accuracy of {:.1f} % come "
                "without looking at the images",
                collapse.steps, epoch.train_loss, 100.0 * epoch.train_accuracy),
            at, calm_or_larger(collapse, lower)};
  }
  return {fmt::format("the net had learned, then diverged: from a test accuracy of {:.1f} % in epoch {}, the "
                      "best, to {:.1f} %; the loss in training is {:.4g}",
                      100.0 * collapse.best->test_accuracy, collapse.best->epoch, 100.0 * epoch.test_accuracy,
                      epoch.train_loss),
          at, calmer};
}

std::optional<Message> find_guessing(const GuessedTest& test, const std::string& where,
                                     const std::string& more) {
  if (test.classes < 2 || test.images == 0) return std::nullopt;
  constexpr double one_in_20 = 1.645;  // standard deviations, one-sided
  const double deviation = std::sqrt(test.guess * (1.0 - test.guess) / static_cast<double>(test.images));
  if (test.accuracy > test.guess + one_in_20 * deviation) return std::nullopt;
  return Message{
      fmt::format(
          "the test accuracy of {:.1f} % is {} better than guessing ({:.1f} % of {} classes, {} images)",
          100.0 * test.accuracy, test.accuracy > test.guess ? "hardly" : "not", 100.0 * test.guess,
          test.classes, test.images),
      where, more};
}

}  // namespace ddlrun::runtime
