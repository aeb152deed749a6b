// SPDX-License-Identifier: MIT
// Computes loss and accuracy over the test images; each rank evaluates a share of them.
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
  double accuracy = 0.0;  // fraction of correct predictions, 0 to 1
  bool stop = false;      // some rank requests it
};

class Evaluation {
 public:
  // All references must outlive it.
  Evaluation(const Dataset& data, const DataShard& shard, Engine& engine, Communicator& ranks,
             const LoaderOptions& loading);

  // Collective. `stop_requested`: on this rank; the result has whether any rank requests a stop.
  TestResult run(bool stop_requested);
  // For a rank without an engine (a parameter server): takes part in the reduction and returns the result.
  static TestResult watch(Communicator& ranks, const DataShard& shard);

 private:
  LossSum test_mine();
  static TestResult join(Communicator& ranks, const LossSum& mine, std::size_t count, bool stop_requested);

  const Dataset& data_;
  Range range_;        // indices into the test images of this rank
  std::size_t count_;  // of all ranks
  Engine& engine_;
  Communicator& ranks_;
  LoaderOptions loading_;
  std::optional<Loader> loader_;  // since the first test
};

}  // namespace ddlrun::runtime
