// SPDX-License-Identifier: MIT
// Mode p: each way is tried a few times for each size, then the fastest is kept. Pure bookkeeping: all ranks
// make the same calls, so all try the same way at the same time.
#pragma once

#include "ddl/ddl.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>

namespace ddl {

using TunedAlgorithms = std::map<int, Mode>;  // by the width of the number of bytes

class AlgorithmTuner {
 public:
  static constexpr std::array<Mode, 3> algorithms{Mode::best, Mode::ring, Mode::mpi};
  static constexpr int rounds = 3;
  using Seconds = std::array<double, algorithms.size()>;  // the best of the rounds

  // How to make the next sum of this many bytes; sizes count by powers of two.
  Mode choose(std::size_t bytes) const;
  // What it took here. Once all ways have been tried, this rank's times, to be compared with the others' (the
  // slowest rank counts) and given to finish_trial().
  std::optional<Seconds> add(std::size_t bytes, double seconds);
  void finish_trial(std::size_t bytes, const Seconds& slowest);

  // From another run and for it: these sizes are not tried.
  void load(const TunedAlgorithms& algorithms);
  TunedAlgorithms chosen() const;

 private:
  struct Trial {
    int calls = 0;
    Seconds best{};
    std::optional<Mode> chosen;
  };
  std::map<int, Trial> trials_;  // by the width of the number of bytes
};

}  // namespace ddl
