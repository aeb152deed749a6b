// SPDX-License-Identifier: MIT
// Mode p: a trial of the algorithms for each size. Pure bookkeeping, as Trials.
#pragma once

#include "ddl/ddl.hpp"
#include "ddl/trials.hpp"

#include <array>
#include <map>
#include <span>
#include <vector>

namespace ddl {

using TunedAlgorithms = std::map<int, Mode>;  // by the width of the number of bytes

class AlgorithmTuner {
 public:
  // Those with a deadline that compare the calls of the ranks, and so not Mode::mpi.
  static constexpr std::array<Mode, 2> algorithms{Mode::best, Mode::ring};

  // How to make the next sum of this many bytes; sizes count by powers of two.
  Mode choose(std::size_t bytes) const;
  // What it took here. Once all algorithms have been tried, this rank's median times, to be compared with the
  // others' (the slowest rank counts) and given to finish_trial(); else empty.
  std::vector<double> add(std::size_t bytes, double seconds);
  void finish_trial(std::size_t bytes, std::span<const double> slowest);

  // From another run and for it: these sizes are not tried.
  void load(const TunedAlgorithms& algorithms);
  TunedAlgorithms chosen() const;

 private:
  Trials& trials_of(std::size_t bytes);

  std::map<int, Trials> trials_;  // by the width of the number of bytes
};

}  // namespace ddl
