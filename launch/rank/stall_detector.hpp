// SPDX-License-Identifier: MIT
// Does a rank make progress? Judged from samples of its processes: any byte, and more CPU time than polls and
// the background threads of libraries use, unless it spins in a library that waits for other ranks. Pure.
#pragma once

#include "base/process/code_samples.hpp"
#include "base/process/tree_snapshot.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace ddlrun::launch {

// For how long nothing happened, and what the most telling process does instead.
struct Stall {
  int seconds = 0;
  // T stopped, t traced, D in the kernel, S asleep, P polls between sleeps, R spins, C computes.
  char state = 'S';
  int pid = -1;
  std::string name;
  std::string waits_in;  // a function of the kernel; of one that spins the library; see `computes`

  bool operator==(const Stall&) const = default;
};

// Sampling interval with which a stall is reported at most `after` seconds after the last progress.
std::chrono::milliseconds sample_interval(int after);

struct StallEvent {
  // computes: busy without a byte for as long as another rank may sleep. That is no stall, but others may
  // wait for it. `waits_in` is the file of its code; "" where it may wait itself.
  enum Kind { nothing, stalled, resumed, computes } kind = nothing;
  Stall stall;
};

class StallDetector {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Samples of the code that a process runs; costs some CPU time, and so is called for busy ranks that have
  // moved no byte for long. None: a rank that spins counts as working.
  using SampleCode = std::function<CodeSamples(int pid)>;
  StallDetector(int after, Time start, SampleCode sample_code = {});
  // A stall is reported once; again only if its state changes, as from asleep to stopped. Its end is reported
  // at a byte, or after several samples of work: not at a late sample, nor because a poll needed more time.
  StallEvent take(Time now, const TreeSnapshot& sample);

 private:
  bool works(Time now, const TreeSnapshot& sample) const;
  bool uses_cpu(Time now, const TreeSnapshot& sample) const;
  bool moves_bytes(Time now, const TreeSnapshot& sample) const;
  bool polls(Time now, const TreeSnapshot& sample) const;
  double busy_share(Time now, const TreeSnapshot& sample) const;
  void forgive_delay(Time now);
  bool goes_on(Time now, const TreeSnapshot& sample);
  std::optional<std::string> spins_in(Time now, int pid);
  StallEvent report_work(Time now, const Stall& stall, const StallEvent& event);
  StallEvent report(Time now, const Stall& stall, bool moves);

  std::chrono::milliseconds every_, report_after_;
  SampleCode sample_code_;
  CodeSamples code_;       // of a rank that gets little CPU time, until they are enough to decide
  CodeSamples busy_code_;  // of all looks since it last waited
  bool computes_ = false;  // reported
  Time last_progress_, last_bytes_, last_idle_, last_look_;
  std::optional<TreeSnapshot> last_;
  char reported_ = 0;
  int work_samples_ = 0;  // in a row, of a rank that has been reported
};

}  // namespace ddlrun::launch
