// SPDX-License-Identifier: MIT
// Fits a diagnosis to a job: the end that the scheduler reports, and remedies of that scheduler.
// Pure.
#pragma once

#include "doctor/diagnose/diagnosis.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddlrun::diagnose {

// The signatures of an end that only the scheduler reports, and of a script that started nothing.
constexpr std::string_view scheduler_end_id = "O17";
constexpr std::string_view nothing_started_id = "O9";

struct JobContext {
  LogSource scheduler = LogSource::unknown;  // pbs or slurm: remedies of the other are left out
  std::string id;                            // for JOB in a remedy
  // For remedies of a job of `ddlrun submit`: "ddlrun submit", with the runner that options of launch need.
  std::string submit;
  std::string end;           // as the scheduler reports it: "was cancelled: terminated by ddl@node1"; ""
  bool is_certain = false;   // `end` is the cause, whatever the log contains
  bool ends_stalls = false;  // it runs with --on-stall end
  std::vector<std::string> program = {};        // for PROGRAM in a remedy; empty where it is not known
  std::uint32_t nodes = 0, ranks_per_node = 0;  // 0: not known
  bool names_ranks = false;                     // it runs with --rank-output prefix or files

  // The command that prints the rank on each line; "": as the log's launcher has it.
  std::string tagging() const { return submit.empty() ? std::string() : submit + " --rank-output prefix"; }
};

// `end` is the cause where the log has none, or where that is certain.
Diagnosis fit_to_job(Diagnosis diagnosis, const JobContext& job, const SignatureSet& signatures);

}  // namespace ddlrun::diagnose
