// SPDX-License-Identifier: MIT
// Why a job failed, from the diagnosis of its output and what launch knows of the run. Pure.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"
#include "launch/monitor/rank_monitor.hpp"
#include "launch/run/launch_run.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::launch {

struct FailureCause {
  std::string text;                             // for people; "" without a known cause
  bool was_printed = false;                     // the screen has the cause, with place and remedy
  bool trainer_refused = false;                 // it is an error of the bundled trainer, one for all ranks
  std::vector<std::string> error_lines;         // without a cause: the lines that look most like errors
  bool first_is_alone = false;                  // those are consequences: one rank ended by itself
  std::optional<diagnose::Place> missed_rank;   // the rank that the others report as missing
  std::vector<std::uint32_t> mismatched_ranks;  // the two ranks whose calls differ
};

struct FailureContext {
  std::optional<RankReport> first;  // the rank that failed first
  std::string report;               // the line that says so
  bool launcher_died = false;       // and launch has printed that
  bool trainer_printed = false;     // an error, on the screen
  bool in_job = false;              // of a scheduler
};

FailureCause conclude_failure(diagnose::Diagnosis found, const LaunchRun& run, const FailureContext& context);

}  // namespace ddlrun::launch
