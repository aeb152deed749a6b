// SPDX-License-Identifier: MIT
// Mode p: runs each sum by the algorithm that AlgorithmTuner chooses, measures it, and stores the result of a
// finished trial in TuningCache. Collective: all ranks make the same calls.
#pragma once

#include "ddl/collectives/algorithm_tuner.hpp"
#include "ddl/collectives/tuning_cache.hpp"
#include "ddl/transport/transport.hpp"

#include <functional>

namespace ddl {

class SumTuner {
 public:
  SumTuner(TuningCache cache) : cache_(std::move(cache)) {}

  // Rank 0 reads the cache and sends the result to all ranks.
  void load(Transport& transport);
  // `sum` adds up `bytes` bytes with a mode; `max_over_ranks` replaces a tensor by its maximum over all
  // ranks.
  void run(std::size_t bytes, const std::function<void(Mode)>& sum,
           const std::function<void(const Tensor&)>& max_over_ranks);

 private:
  AlgorithmTuner tuner_;
  TuningCache cache_;
};

}  // namespace ddl
