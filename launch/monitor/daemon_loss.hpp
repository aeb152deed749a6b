// SPDX-License-Identifier: MIT
// The lines by which Open MPI says that it lost a host, and MPICH that it did not reach one. From then on the
// job is over, but mpirun takes 4 s and more to end it: first its own ranks, then those of the other hosts.
#pragma once

#include <string>
#include <string_view>

namespace ddlrun::launch {

struct DaemonLoss {
  bool said = false;         // the job is over
  std::string host;          // the lost host, if a line names it
  std::string reporter;      // a host whose daemon reported that a rank was ended by a signal: it is not lost
  bool killed = false;       // hydra or srun ended the job for a process that was killed
  bool unreached = false;    // an ssh ended before the daemon of its host had answered
  std::string refusal = {};  // ssh's own reason why it did not reach a host, or ""
  std::string refused = {};  // that host, if the reason names it
};

// Lines in any order.
class DaemonLossDetector {
 public:
  void take_line(std::string_view line);
  const DaemonLoss& lost() const { return lost_; }

 private:
  DaemonLoss lost_;
  bool no_daemon_ = false;   // Open MPI could not start a daemon
  bool task_ended_ = false;  // srun reported the end of a task
};

}  // namespace ddlrun::launch
