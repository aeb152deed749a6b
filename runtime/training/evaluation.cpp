// SPDX-License-Identifier: MIT
#include "runtime/training/evaluation.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ddlrun::runtime {

Evaluation::Evaluation(const Dataset& data, const DataShard& shard, Engine& engine, Communicator& ranks,
                       const LoaderOptions& loading)
    : data_(data),
      range_(shard.test_range()),
      count_(shard.test_images()),
      engine_(engine),
      ranks_(ranks),
      loading_(loading) {}

TestResult Evaluation::run(bool stop_requested) { return join(ranks_, test_mine(), count_, stop_requested); }

TestResult Evaluation::watch(Communicator& ranks, const DataShard& shard) {
  return join(ranks, {}, shard.test_images(), false);
}

TestResult Evaluation::join(Communicator& ranks, const LossSum& mine, std::size_t count,
                            bool stop_requested) {
  // Counts above 2^24 would lose units as one float, so they travel as two.
  const float local[4] = {static_cast<float>(mine.loss), static_cast<float>(mine.correct >> 12U),
                          static_cast<float>(mine.correct & 0xfffU), stop_requested ? 1.0F : 0.0F};
  float sum[4] = {};
  ranks.all_reduce_sum(local, sum);
  const auto images = static_cast<double>(count);
  return {static_cast<double>(sum[0]) / images,
          (4096.0 * static_cast<double>(sum[1]) + static_cast<double>(sum[2])) / images, sum[3] != 0.0F};
}

LossSum Evaluation::test_mine() {
  const std::size_t most = engine_.evaluation_batch();
  if (!loader_) {
    loader_.emplace(*data_.test_images, data_.transform, LoadPurpose::testing, most, loading_);
  }
  std::vector<std::uint32_t> indices;
  const auto begin_from = [&](std::size_t first) {
    if (first >= range_.end) return;
    indices.resize(std::min(most, range_.end - first));
    std::iota(indices.begin(), indices.end(), static_cast<std::uint32_t>(first));
    loader_->prefetch(indices, {});
  };
  LossSum mine;
  begin_from(range_.begin);
  for (std::size_t done = range_.begin; done < range_.end;) {
    const LoadedBatch batch = loader_->take();
    done += batch.labels.size();
    begin_from(done);
    const LossSum part = engine_.evaluate(batch.images, batch.labels);
    mine.loss += part.loss;
    mine.correct += part.correct;
  }
  return mine;
}

}  // namespace ddlrun::runtime
