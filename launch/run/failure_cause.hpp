// SPDX-License-Identifier: MIT
// Why a job failed, from the diagnosis of its output and what launch knows of the run. Pure.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/run/launch_run.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct FailureCause {
  std::string text;              // for people; "" where launch has explained the end before
  bool is_known = false;         // the text has a cause
  bool was_printed = false;      // the screen has the cause, with place and remedy
  bool trainer_refused = false;  // it is an error of the bundled trainer, one for all ranks
  // The rank that the others report as missing, that left, or that printed the exception.
  std::optional<diagnose::Place> missed_rank;
  bool missed_stood_still = false;  // it has not left, as far as they know
  bool is_shared = false;           // several ranks failed at once, and nothing shows which of them was first
  bool fails_alike = false;         // each rank printed the same error
  std::vector<std::uint32_t> mismatched_ranks;  // the two ranks whose calls differ
};

struct FailureContext {
  int status = 0;                            // of the job
  std::optional<RankReport> first;           // the rank that failed first
  std::string report;                        // the line that reports it
  bool launcher_died = false;                // and launch has printed that
  bool trainer_printed = false;              // an error, on the screen
  bool in_job = false;                       // of a scheduler
  bool knows_ranks = false;                  // of each line on stderr
  std::vector<std::string> last_lines = {};  // of `first` on stderr, where ranks are known
  MonitorRecord record = {};                 // of all ranks
  bool names_ranks = false;                  // each line of the output has its rank
  // Whether a host is this one, which a remedy reaches without ssh; without it none is.
  std::function<bool(const std::string& host)> is_here = {};
};

// The end of the job, of which `first` failed first; `is_unsure`: others failed in the same second.
diagnose::RunStatus run_status_of(const LaunchRun& run, int status, const std::optional<RankReport>& first,
                                  bool is_unsure);

FailureCause conclude_failure(diagnose::Diagnosis found, const LaunchRun& run, const FailureContext& context);

}  // namespace ddlrun::launch
