// SPDX-License-Identifier: MIT
#include "launch/monitor/stop_signals.hpp"

#include "base/process/posix_rank_supervisor.hpp"

#include <fmt/format.h>
#include <signal.h>

namespace ddlrun::launch {

namespace {

constexpr std::chrono::seconds repeat_after{1};  // later, a second signal is a decision of its own

bool is_stop(int signal) { return signal == SIGTERM || signal == SIGINT; }

}  // namespace

// timeout(1) and schedulers signal ddlrun and mpirun at once, some of them twice. For a second signal within
// 5 s mpirun 4 and 5 exit at once and leave the processes on other hosts (orterun.c, prte.c:
// abort_signal_callback).
int StopSignals::take(int signal, bool has_ranks, Time now) {
  if (!is_stop(signal)) return signal;
  const auto& last = mpirun_signalled_ ? mpirun_signalled_ : ranks_signalled_;
  if (last && now - *last < repeat_after) return 0;
  if (last || !has_ranks) return note(signal, now);
  ranks_signalled_ = now;
  return end_signal;
}

// hydra and srun wait for ranks that ignore TERM, forever.
int StopSignals::pass(int signal, Time now) {
  const bool ends = is_stop(signal) || signal == SIGHUP || signal == SIGQUIT;
  if (!ends || mpirun_signalled_) return signal;
  mpirun_signalled_ = now;
  patience_ = save_patience;
  return signal;
}

int StopSignals::note(int signal, Time now) {
  if (is_stop(signal) && !mpirun_signalled_) mpirun_signalled_ = now;
  return signal;
}

int StopSignals::tick(Time now, std::string& warning) {
  if (ranks_signalled_ && !mpirun_signalled_ && now - *ranks_signalled_ > save_patience) {
    mpirun_signalled_ = now;
    warning = fmt::format("the ranks have not ended within {} s: mpirun ends them", save_patience.count());
    return SIGTERM;
  }
  // mpirun exits in its signal handler for a second signal, and may wait for ever there for its own lock of
  // malloc.
  if (!mpirun_signalled_ || now - *mpirun_signalled_ <= patience_) return 0;
  warning =
      fmt::format("the launcher has not ended within {} s of its signal: ddlrun kills it", patience_.count());
  return SIGKILL;
}

}  // namespace ddlrun::launch
