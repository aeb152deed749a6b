// SPDX-License-Identifier: MIT
// The body: blocks in their order. Its first line after the comments is a command of ddlrun's, so no
// scheduler reads directives below it. Every word from the user is quoted; only the lines under `setup` are
// shell.
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/script_fragment.hpp"

#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

// The shell words that give a job's id, its index in an array and its number of restarts.
struct JobVariables {
  const char* id;
  const char* index;
  const char* restarts;
};

JobVariables job_variables(SchedulerKind kind, bool is_array) {
  switch (kind) {
    case SchedulerKind::slurm:
      // A task's own number is none that a user has seen.
      if (is_array)
        return {"${SLURM_ARRAY_JOB_ID:-$$}_${SLURM_ARRAY_TASK_ID:-}", "${SLURM_ARRAY_TASK_ID:-}",
                "${SLURM_RESTART_COUNT:-0}"};
      return {"${SLURM_JOB_ID:-$$}", "${SLURM_ARRAY_TASK_ID:-}", "${SLURM_RESTART_COUNT:-0}"};
    case SchedulerKind::pbs:
      return {"${PBS_JOBID:-$$}", "${PBS_ARRAY_INDEX:-}", "${DDLRUN_RESTARTS:-0}"};
    case SchedulerKind::torque:  // under Slurm's qsub wrapper, Slurm's variables
      return {"${PBS_JOBID:-${SLURM_JOB_ID:-$$}}", "${PBS_ARRAYID:-${SLURM_ARRAY_TASK_ID:-}}",
              "${DDLRUN_RESTARTS:-0}"};
    case SchedulerKind::local:
      break;
  }
  return {"$$", "", "${DDLRUN_RESTARTS:-0}"};
}

Lines log_lines(const JobSpec& job) {
  if (!is_pbs_like(job.scheduler)) return {};
  std::string log = job.array ? "$ddl_dir/output.$ddl_index.log" : "$ddl_dir/output.log";
  if (!job.output.empty()) {
    const std::string path = job.output[0] == '/' ? job.output : job.workdir + "/" + job.output;
    const std::size_t task = job.array ? path.find("%a") : std::string::npos;
    log = shell_word(path.substr(0, task));
    if (task != std::string::npos) log += "\"$ddl_index\"";
    if (task != std::string::npos && task + 2 < path.size()) log += shell_word(path.substr(task + 2));
  }
  return script_lines("log", {{"log", ScriptValue::checked(log)}});
}

Lines head_lines(const JobSpec& job, const JobDirectory& dir) {
  const JobVariables variables = job_variables(job.scheduler, job.array.has_value());
  Lines index, exported_index;
  if (job.array) {
    index.push_back(fmt::format("ddl_index={}", variables.index));
    exported_index.emplace_back("export DDLRUN_ARRAY_INDEX=$ddl_index");
  }
  return script_lines(
      "head", {{"directory", ScriptValue::quoted(dir.path)},
               {"id", ScriptValue::checked(variables.id)},
               {"array_index", ScriptValue::block(index)},
               {"restarts", ScriptValue::checked(variables.restarts)},
               {"status_file", ScriptValue::checked(job.array ? "exit_status.$ddl_index" : "exit_status")},
               {"stop_file", ScriptValue::checked(job.array ? "stop_reason.$ddl_index" : "stop_reason")},
               {"export_array_index", ScriptValue::block(exported_index)}});
}

Lines working_directory_lines(const JobSpec& job) {
  const std::string message = "the working directory " + job.workdir + " cannot be entered on this host";
  return script_lines("working_directory", {{"directory", ScriptValue::quoted(job.workdir)},
                                            {"message", ScriptValue::quoted(message)}});
}

}  // namespace

void append(Lines& lines, const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); }

std::vector<std::string> render_body(const JobSpec& job, const JobDirectory& dir,
                                     const std::vector<std::string>& preamble) {
  Lines lines = head_lines(job, dir);
  append(lines, script_lines("exit_status"));
  append(lines, log_lines(job));
  append(lines, signal_lines(job));
  append(lines, working_directory_lines(job));
  append(lines, environment_lines(job, preamble));
  append(lines, program_lines(job));
  append(lines, supervisor_lines(job, dir));
  return lines;
}

}  // namespace ddlrun::schedulers
