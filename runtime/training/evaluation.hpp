// SPDX-License-Identifier: MIT
// The test images, shared out over the ranks.
#pragma once

#include "runtime/comm/communicator.hpp"
#include "runtime/data/dataset.hpp"
#include "runtime/data/loader.hpp"
#include "runtime/engine/engine.hpp"

#include <cstddef>
#include <optional>

namespace ddlrun::runtime {

struct TestResult {
  double loss = 0.0;      // mean over all test images
  double accuracy = 0.0;  // share of them that is right
  bool stop = false;      // some rank wants to
};

class Evaluation {
 public:
  // All that is named outlives it.
  Evaluation(const Dataset& data, const DataShard& shard, Engine& engine, Communicator& ranks,
             const LoaderOptions& loading);

  // Collective.
  TestResult run(bool stop_requested);
  // The part of a rank without an engine: it hears the others' result.
  static TestResult watch(Communicator& ranks, const DataShard& shard);

 private:
  LossSum test_mine();
  static TestResult join(Communicator& ranks, const LossSum& mine, std::size_t count, bool stop_requested);

  const Dataset& data_;
  Range range_;        // of this rank's source
  std::size_t count_;  // of all ranks
  Engine& engine_;
  Communicator& ranks_;
  LoaderOptions loading_;
  std::optional<Loader> loader_;  // since the first test
};

}  // namespace ddlrun::runtime
