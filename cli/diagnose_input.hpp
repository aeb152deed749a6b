// SPDX-License-Identifier: MIT
// What `ddlrun diagnose` reads for a word that is no log: the directory or the id of a run or a job, `last`.
#pragma once

#include "base/os/system.hpp"
#include "doctor/diagnose/job_diagnosis.hpp"
#include "launch/history/standing_run.hpp"
#include "schedulers/client/job_ref.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ddlrun::cli {

// What is to be diagnosed: logs as named, or what the directory of a run or a job has of them.
struct DiagnoseInput {
  std::vector<std::string> logs;
  diagnose::RunStatus end;
  std::string recorded;                 // the diagnosis that launch made at the end of the run, of a job too
  std::vector<std::string> last_lines;  // of stderr, where no log was kept
  std::string directory;
  std::optional<diagnose::JobContext> job;
  std::optional<diagnose::FailingRank> first_failing = {};  // by the record of the run
  std::optional<launch::StandingRun> standing = {};         // the run goes on, and stands still
  std::string recorded_in = {};                             // the file of `recorded`
  std::vector<std::string> stall_lines = {};  // what launch printed of the stall for which it ended the run
  std::vector<std::string> program = {};      // of a run
  std::uint32_t hosts = 0;                    // of a run
  bool cause_is_recorded = false;             // `recorded` has a cause
  std::string unseen_run = {};                // its id, if its ddlrun did not write its end; else ""
  std::optional<schedulers::JobRef> submitted = {};  // the job of ddlrun whose logs they are
};

// The file with the record of the run.
std::string record_of(const DiagnoseInput& input);

DiagnoseInput read_run_directory(System& system, const std::string& directory, diagnose::RunStatus end);

// A word that is no file: the id of a job or of a run; `last`: the newest of both. Error{request} where it is
// neither.
DiagnoseInput read_job_or_run(System& system, const std::string& word, diagnose::RunStatus end);

// Adds that the run stands still as the cause, where its logs have none; how the scheduler reports a job's
// end and, where its script started nothing, the reason: of a job of ddlrun by its own file, else by the log.
diagnose::Diagnosis complete_diagnosis(System& system, const DiagnoseInput& input,
                                       diagnose::Diagnosis diagnosis);

}  // namespace ddlrun::cli
