// SPDX-License-Identifier: MIT
// The blocks that pass signals to the program, start it again on request and end with its exit status.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/script_fragment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

std::string early_signal(const JobSpec& job) {
  constexpr std::array known{"USR1", "USR2", "TERM", "INT"};
  if (std::find(known.begin(), known.end(), job.signal.name) != known.end()) return job.signal.name;
  throw Error(ErrorKind::request,
              {fmt::format("signal: unsupported signal '{}'", printable(job.signal.name, 40)), "signal",
               "USR1, USR2, TERM or INT"});
}

// Slurm sends the early signal and ends the job at its limit; elsewhere the script measures the time itself.
Lines alarm_lines(const JobSpec& job) {
  const std::uint64_t limit = job.walltime_seconds, lead = job.signal.before_seconds;
  const bool early = lead > 0 && limit > lead;
  const bool own_limit = job.scheduler == SchedulerKind::local && limit > 0;
  if (job.scheduler == SchedulerKind::slurm || (!early && !own_limit)) return {};
  Lines forget_timeout, early_lines, limit_lines;
  if (early) early_lines = script_lines("alarm_early", {{"seconds", ScriptValue::number(limit - lead)}});
  if (own_limit) {
    forget_timeout = {"rm -f -- \"$ddl_dir/timed_out\""};
    limit_lines = script_lines("alarm_limit", {{"seconds", ScriptValue::number(early ? lead : limit)}});
  }
  return script_lines("alarm", {{"forget_timeout", ScriptValue::block(forget_timeout)},
                                {"early", ScriptValue::block(early_lines)},
                                {"limit", ScriptValue::block(limit_lines)}});
}

Lines restart_command(const JobSpec& job, const JobDirectory& dir) {
  if (job.scheduler == SchedulerKind::slurm) return script_lines("restart_slurm");
  const ScriptValue script = ScriptValue::quoted(dir.script());
  if (job.scheduler == SchedulerKind::local) return script_lines("restart_local", {{"script", script}});
  Lines names;
  if (const auto inherited = inherited_variables(job); !inherited.empty())
    names = script_lines("restart_pbs_names", {{"names", ScriptValue::checked(join(inherited, " "))}});
  return script_lines("restart_pbs", {{"names", ScriptValue::block(names)}, {"script", script}});
}

Lines restart_lines(const JobSpec& job, const JobDirectory& dir) {
  if (!job.requeue.wanted) return {};
  return script_lines("restart", {{"most", ScriptValue::number(job.requeue.max_restarts)},
                                  {"command", ScriptValue::block(restart_command(job, dir))}});
}

}  // namespace

Lines signal_lines(const JobSpec& job) {
  Lines lines = script_lines("signals", {{"early_signal", ScriptValue::checked(early_signal(job))}});
  append(lines, alarm_lines(job));
  return lines;
}

Lines supervisor_lines(const JobSpec& job, const JobDirectory& dir) {
  return script_lines("run", {{"restart", ScriptValue::block(restart_lines(job, dir))}});
}

}  // namespace ddlrun::schedulers
