// SPDX-License-Identifier: MIT
// The body: blocks in their order. Its first line that is no comment is a command of ours, so no scheduler
// reads directives below it; every word of the user's is quoted, and only the lines under `setup` are shell.
#include "schedulers/script_forms.hpp"

#include <fmt/format.h>

namespace ddlrun::schedulers {

namespace {

// What the schedulers call the job, its task and its restarts.
struct Names {
  const char* id;
  const char* index;
  const char* restarts;
};

Names names_of(SchedulerKind kind) {
  switch (kind) {
    case SchedulerKind::slurm:
      return {"${SLURM_JOB_ID:-$$}", "${SLURM_ARRAY_TASK_ID:-}", "${SLURM_RESTART_COUNT:-0}"};
    case SchedulerKind::pbs:
      return {"${PBS_JOBID:-$$}", "${PBS_ARRAY_INDEX:-}", "${DDLRUN_RESTARTS:-0}"};
    case SchedulerKind::torque:  // or what Slurm's wrappers leave of it
      return {"${PBS_JOBID:-${SLURM_JOB_ID:-$$}}", "${PBS_ARRAYID:-${SLURM_ARRAY_TASK_ID:-}}",
              "${DDLRUN_RESTARTS:-0}"};
    case SchedulerKind::local:
      break;
  }
  return {"$$", "", "${DDLRUN_RESTARTS:-0}"};
}

// PBS shows what it caught at the end only, so the script writes to the log itself.
Lines log_lines(const JobSpec& job) {
  if (!is_pbs_like(job.scheduler)) return {};
  std::string log = job.array ? "$ddl_folder/output.$ddl_index.log" : "$ddl_folder/output.log";
  if (!job.output.empty()) {
    const std::string path = job.output[0] == '/' ? job.output : job.working_folder + "/" + job.output;
    const std::size_t task = job.array ? path.find("%a") : std::string::npos;
    log = shell_word(path.substr(0, task));
    if (task != std::string::npos) log += "\"$ddl_index\"";
    if (task != std::string::npos && task + 2 < path.size()) log += shell_word(path.substr(task + 2));
  }
  return {"", "# The log grows as the job speaks; the scheduler would show it at the end only.",
          "ddl_log=" + log, "exec >>\"$ddl_log\" 2>&1"};
}

Lines opening_lines(const JobSpec& job, const JobFolder& folder) {
  const Names names = names_of(job.scheduler);
  Lines lines{"# Written by ddlrun submit; the next line ends the scheduler's directives.",
              "# Words of the job are quoted as they are; functions here are called by traps.",
              "# shellcheck disable=SC2016,SC2317",
              "set -u",
              "",
              "# Names of this script begin with ddl_.",
              "ddl_folder=" + shell_word(folder.path),
              fmt::format("ddl_id={}", names.id)};
  if (job.array) lines.push_back(fmt::format("ddl_index={}", names.index));
  lines.push_back(fmt::format("ddl_restarts={}", names.restarts));
  lines.emplace_back("case $ddl_restarts in '' | *[!0-9]*) ddl_restarts=0 ;; esac");
  lines.emplace_back(job.array ? "ddl_status_file=$ddl_folder/exit_status.$ddl_index"
                               : "ddl_status_file=$ddl_folder/exit_status");
  lines.emplace_back("export DDLRUN_JOB_ID=$ddl_id");
  lines.emplace_back("export DDLRUN_RESTART_COUNT=$ddl_restarts");
  if (job.array) lines.emplace_back("export DDLRUN_ARRAY_INDEX=$ddl_index");
  lines.emplace_back("ddl_say() { printf 'ddlrun job: %s\\n' \"$1\" >&2; }");
  lines.emplace_back(
      "ddl_fail() { printf 'ddlrun job: %s\\n  try: %s\\n' \"$1\" \"$2\" >&2; exit \"${3:-3}\"; }");
  return lines;
}

// The scheduler forgets; this file does not. Written beside and renamed: the whole number or none.
Lines status_lines() {
  return {"",
          "# However this ends, its status is written down, unless the job starts again.",
          "rm -f -- \"$ddl_status_file\"",
          "ddl_again=no",
          "ddl_alarm=",
          "ddl_end() {",
          "  local status=$?",
          "  if [ \"$BASHPID\" != \"$$\" ]; then return; fi  # a subshell that ends early has it too",
          "  trap '' USR1 TERM",
          "  if [ -n \"$ddl_alarm\" ]; then kill \"$ddl_alarm\" 2>/dev/null; fi",
          "  if [ \"$ddl_again\" = yes ]; then return; fi",
          "  printf '%s\\n' \"$status\" >\"$ddl_status_file.part\" && mv -f -- \"$ddl_status_file.part\" "
          "\"$ddl_status_file\"",
          "}",
          "trap ddl_end EXIT"};
}

Lines folder_lines(const JobSpec& job) {
  return {"", "# Relative paths of the job begin here.",
          "cd -- " + shell_word(job.working_folder) + " || ddl_fail " +
              shell_word("the working folder " + job.working_folder + " cannot be entered on this host") +
              " \"ls -ld $(printf %q " + shell_word(job.working_folder) + ")   # on this host\""};
}

}  // namespace

void append(Lines& lines, const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); }

std::vector<std::string> render_body(const JobSpec& job, const JobFolder& folder,
                                     const std::vector<std::string>& preamble) {
  Lines lines = opening_lines(job, folder);
  append(lines, status_lines());
  append(lines, log_lines(job));
  append(lines, signal_lines(job));
  append(lines, folder_lines(job));
  append(lines, environment_lines(job, preamble));
  append(lines, program_lines(job));
  append(lines, supervisor_lines(job, folder));
  return lines;
}

}  // namespace ddlrun::schedulers
