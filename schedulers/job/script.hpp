// SPDX-License-Identifier: MIT
// A job script as a value: directives, then shell lines. A directive's value is checked by its kind and a
// shell word is quoted, so that no name, path or argument can become another directive or a command.
#pragma once

#include "schedulers/job/job_spec.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::schedulers {

struct Script {
  std::string shebang = "#!/bin/bash";
  std::string sentinel;                 // "#SBATCH", "#PBS" or "" (no directives)
  std::vector<std::string> directives;  // without the sentinel: "--nodes=2", "-l select=2:ncpus=68"
  std::vector<std::string> body;        // lines

  // Error{internal} if a directive holds a line break.
  std::string text() const;
};

// What a directive's value is; each kind has its own alphabet. The refusal names the key and what is allowed.
enum class ValueKind { job_name, name, resource, path, hosts, mail, job_id };
// The value itself. Error{request} with `origin` as place if it cannot be in a directive.
std::string directive_value(ValueKind kind, std::string_view text, std::string_view key,
                            std::string_view origin = "");

// Where a job's files are: DIR/job.sh, DIR/output.log, DIR/exit_status. Absolute; known before submission.
struct JobDirectory {
  std::string path;
  std::string script() const { return path + "/job.sh"; }
  std::string output() const { return path + "/output.log"; }
  std::string exit_status() const { return path + "/exit_status"; }
  std::string stop_reason() const { return path + "/stop_reason"; }  // why the script started nothing
  std::string spool() const { return path + "/scheduler.log"; }      // PBS: what it caught, at the end
  // Of one task of an array: output.3.log, exit_status.3.
  std::string output(std::uint32_t index) const { return path + "/output." + std::to_string(index) + ".log"; }
  std::string exit_status(std::uint32_t index) const { return exit_status() + "." + std::to_string(index); }
};

// The part that all schedulers share: environment, early signal, ddlrun doctor and launch, exit status,
// requeue. `preamble`: the site's shell lines. Error{request} for what cannot stand in a script.
std::vector<std::string> render_body(const JobSpec& job, const JobDirectory& dir,
                                     const std::vector<std::string>& preamble = {});

}  // namespace ddlrun::schedulers
