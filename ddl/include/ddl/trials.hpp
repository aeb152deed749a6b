// SPDX-License-Identifier: MIT
// Tries candidates in turn, measures them and keeps the fastest: the algorithms of a sum, the schedules of a
// training step. Pure bookkeeping: all ranks make the same calls, so all try the same candidate at the same
// time. For ddl-train and libddl itself: it is no part of the public interface.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ddl {

class Trials {
 public:
  struct Plan {
    std::size_t rounds = 3;   // measurements of each candidate; odd, for the median
    std::size_t warm_up = 0;  // measurements that are not counted, before the first round
    // The first candidate is left only for one that takes less than this share of its time.
    double worth_it = 1.0;
  };
  // A turn of a candidate: so many calls, of which the first ones are not counted.
  struct Turn {
    std::size_t calls = 1, uncounted = 0;
  };

  // A turn each; at least one. A single candidate is kept without a trial.
  Trials(std::vector<Turn> turns, Plan plan);

  std::size_t current() const { return current_; }
  bool decided() const { return decided_; }
  // Whether the candidate may change after this call.
  bool turn_ends() const;
  // Adds the seconds of a call on this rank. Returns true once each candidate has been tried: then call
  // decide().
  bool add(double seconds);
  // This rank's median seconds of each candidate.
  std::vector<double> medians() const;
  // Keeps the candidate with the smallest cost: medians(), combined over all ranks.
  void decide(std::span<const double> costs);
  // Keeps a candidate that is known.
  void keep(std::size_t candidate);

 private:
  std::vector<Turn> turns_;
  Plan plan_;
  std::vector<std::vector<double>> seconds_;
  std::size_t calls_ = 0;
  std::size_t current_ = 0;
  std::size_t in_turn_ = 0;  // calls with the current candidate
  bool decided_;
};

}  // namespace ddl
