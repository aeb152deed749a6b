// SPDX-License-Identifier: MIT
// What a signal that ends ddlrun means for mpirun and its ranks.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace ddlrun::launch {

// For ranks to save after a signal that ends the job.
constexpr std::chrono::seconds save_patience{20};  // Slurm kills after 30 s

class StopSignals {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Of a signal that was sent to ddlrun: what mpirun gets, or 0. The ranks get TERM first, by end_signal, and
  // can save; mpirun itself gets the signal only if no rank can get it, or if it comes again later.
  int take(int signal, bool has_ranks, Time now);
  // Of a launcher that passes the signal on to the ranks itself. Returns it; the ranks can save as long.
  int pass(int signal, Time now);
  // A signal that mpirun gets or has, such as a Ctrl-C. Returns it.
  int note(int signal, Time now);
  // For each tick: a signal for mpirun, or 0; then `warning` says why.
  int tick(Time now, std::string& warning);

  bool has_begun() const { return ranks_signalled_.has_value() || has_mpirun(); }
  bool has_mpirun() const { return mpirun_signalled_.has_value(); }

 private:
  std::optional<Time> ranks_signalled_;
  std::optional<Time> mpirun_signalled_;  // it too
  std::chrono::seconds patience_{10};     // for mpirun after its signal
};

}  // namespace ddlrun::launch
