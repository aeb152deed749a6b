// SPDX-License-Identifier: MIT
// The remedies of a diagnosis in words that fit this run: options of its launcher, its own hosts. Pure.
#pragma once

#include "base/os/system.hpp"
#include "doctor/diagnose/job_diagnosis.hpp"
#include "launch/frameworks/framework.hpp"
#include "launch/launchers/launcher.hpp"

#include <string>
#include <vector>

namespace ddlrun::launch {

struct RemedyContext {
  LauncherKind launcher = LauncherKind::open_mpi;
  std::vector<std::string> hosts;
  std::string failed_host;       // "" if it is not known
  bool in_job = false;           // of a scheduler; else no remedy names one, unless srun starts the ranks
  std::string master_port = {};  // MASTER_PORT of the ranks; "" where launch sets none
};

// Remedies for another launcher are translated or left out. At least one remedy stays.
std::vector<std::string> fit_remedies(const std::vector<std::string>& remedies, const RemedyContext& context);

// What makes an exception of one rank end all ranks of this program; "" where nothing is known.
std::string remedy_for_exception(const std::vector<std::string>& program, frameworks::Framework framework);

// The scheduler's job in which this run is; of a job of `ddlrun submit` the remedies are options of submit.
diagnose::JobContext job_context(const Environment& environment);

}  // namespace ddlrun::launch
