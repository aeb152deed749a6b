// SPDX-License-Identifier: MIT
// The script as the program's keeper: signals reach it at once, a job that asks for it starts again, and the
// status is the program's. bash runs a trap only between commands, hence `child & wait`.
#include "base/error.hpp"
#include "base/text.hpp"
#include "schedulers/script_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

std::string early_signal(const JobSpec& job) {
  constexpr std::array known{"USR1", "USR2", "TERM", "INT"};
  if (std::find(known.begin(), known.end(), job.signal.name) != known.end()) return job.signal.name;
  throw Error(ErrorKind::request,
              {fmt::format("signal: '{}' is none of those for a program", printable(job.signal.name, 40)),
               "signal", "USR1, USR2, TERM or INT"});
}

// Slurm sends the early signal, and ends the job at its limit; elsewhere the script counts itself.
Lines alarm_lines(const JobSpec& job) {
  const std::uint64_t limit = job.walltime_seconds, lead = job.signal.before_seconds;
  const bool early = lead > 0 && limit > lead;
  const bool own_limit = job.scheduler == SchedulerKind::local && limit > 0;
  if (job.scheduler == SchedulerKind::slurm || (!early && !own_limit)) return {};
  Lines lines{"", "# An alarm of our own, for want of the scheduler's. It ends with the job."};
  if (own_limit) lines.emplace_back("rm -f -- \"$ddl_folder/timed_out\"");
  append(lines, {"(", "  trap - EXIT USR1",
                 "  ddl_sleeper=", "  trap 'kill \"$ddl_sleeper\" 2>/dev/null; exit' TERM", "  ddl_sleep() {",
                 "    sleep \"$1\" &", "    ddl_sleeper=$!", "    wait \"$ddl_sleeper\" 2>/dev/null", "  }"});
  if (early) append(lines, {fmt::format("  ddl_sleep {}", limit - lead), "  kill -s USR1 \"$$\""});
  if (own_limit) {
    append(lines, {fmt::format("  ddl_sleep {}", early ? lead : limit), "  ddl_say 'the walltime is used up'",
                   "  : >\"$ddl_folder/timed_out\"", "  kill -s TERM \"$$\""});
  }
  append(lines, {") </dev/null >/dev/null &", "ddl_alarm=$!"});
  return lines;
}

// What makes the job start again; the condition stands before it.
Lines again_command(const JobSpec& job, const JobFolder& folder) {
  if (job.scheduler == SchedulerKind::slurm)
    return {"  if scontrol requeue \"$ddl_id\"; then", "    ddl_again=yes", "  else",
            "    ddl_say 'scontrol requeue refused'", "  fi"};
  if (job.scheduler == SchedulerKind::local) {
    return {"  trap - EXIT USR1 TERM", "  if [ -n \"$ddl_alarm\" ]; then kill \"$ddl_alarm\" 2>/dev/null; fi",
            "  DDLRUN_RESTARTS=$((ddl_restarts + 1)) exec bash -- " + shell_word(folder.script())};
  }
  // qrerun needs an operator, so the job hands itself in again, to start when this one is over. Options of
  // the line win over those of the script.
  std::vector<std::string> names;
  for (const std::string& entry : job.environment) {
    if (is_wildcard(entry)) continue;
    const std::string name = variable_name(entry);
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (entry.size() == name.size() && is_new) names.push_back(name);
  }
  Lines lines{"  ddl_names=DDLRUN_RESTARTS=$((ddl_restarts + 1))"};
  if (!names.empty()) {
    append(lines, {"  ddl_passed=(" + join(names, " ") + ")", "  for ddl_name in \"${ddl_passed[@]}\"; do",
                   "    if [ -n \"${!ddl_name+set}\" ]; then ddl_names+=,$ddl_name; fi", "  done"});
  }
  append(lines, {"  if ddl_next=$(qsub -W \"depend=afterany:$ddl_id\" -v \"$ddl_names\" " +
                     shell_word(folder.script()) + ") && [ -n \"$ddl_next\" ]; then",
                 "    ddl_again=yes",
                 "    printf '%s\\n' \"$ddl_next\" >\"$ddl_folder/next_job.part\" && mv -f -- "
                 "\"$ddl_folder/next_job.part\" \"$ddl_folder/next_job\"",
                 "  else", "    ddl_say 'qsub refused the next start'", "  fi"});
  return lines;
}

Lines again_lines(const JobSpec& job, const JobFolder& folder) {
  if (!job.requeue.wanted) return {};
  Lines lines{
      "",
      "# Again: the program asks for it by status 85, or it was told early and did not finish.",
      "ddl_wanted=no",
      "if [ \"$ddl_status\" -eq 85 ]; then ddl_wanted=yes; fi",
      "if [ \"$ddl_early\" = yes ] && [ \"$ddl_status\" -ne 0 ]; then ddl_wanted=yes; fi",
      "if [ \"$ddl_ended\" = yes ]; then ddl_wanted=no; fi",
      fmt::format("if [ \"$ddl_wanted\" = yes ] && [ \"$ddl_restarts\" -ge {} ]; then", job.requeue.most),
      fmt::format("  ddl_say \"status $ddl_status after $ddl_restarts restarts, of {} at most\"",
                  job.requeue.most),
      "elif [ \"$ddl_wanted\" = yes ]; then",
      "  ddl_say \"status $ddl_status: the job starts again, restart $((ddl_restarts + 1))\""};
  append(lines, again_command(job, folder));
  lines.emplace_back("fi");
  return lines;
}

}  // namespace

Lines signal_lines(const JobSpec& job) {
  Lines lines{"",
              "# Signals are passed on to the program. USR1 comes ahead of the time limit, TERM at the end.",
              "ddl_child=",
              "ddl_early=no",
              "ddl_ended=no",
              "ddl_signals=0",
              "ddl_missed=",
              "ddl_pass_on() {",
              "  ddl_signals=$((ddl_signals + 1))",
              "  if [ -n \"$ddl_child\" ]; then kill -s \"$1\" \"$ddl_child\" 2>/dev/null; else "
              "ddl_missed+=\" $1\"; fi",
              "}",
              "trap 'ddl_early=yes; ddl_pass_on " + early_signal(job) + "' USR1",
              "trap 'ddl_ended=yes; ddl_pass_on TERM' TERM"};
  append(lines, alarm_lines(job));
  return lines;
}

Lines supervisor_lines(const JobSpec& job, const JobFolder& folder) {
  Lines lines{
      "",
      "# Start and wait. A signal interrupts wait, so it is asked again until no signal came meanwhile.",
      "ddl_status=143",
      "if [ \"$ddl_early$ddl_ended\" = nono ]; then",
      "  (",
      "    trap - INT QUIT USR1 TERM EXIT",
      "    exec -- \"${ddl_command[@]}\"",
      "  ) &",
      "  ddl_child=$!",
      "  # what came between the question above and this line",
      "  for ddl_name in $ddl_missed; do kill -s \"$ddl_name\" \"$ddl_child\" 2>/dev/null; done",
      "  while :; do",
      "    ddl_seen=$ddl_signals",
      "    wait \"$ddl_child\" 2>/dev/null",
      "    ddl_status=$?",
      "    if [ \"$ddl_seen\" -eq \"$ddl_signals\" ]; then break; fi",
      "  done",
      "  # bash 5.2 can lose the status of a child that ends in the instant of a signal, and then says -1 or "
      "127",
      "  case $ddl_ended$ddl_status in yes-1 | yes127) ddl_status=143 ;; esac",
      "  ddl_child=",
      "fi"};
  append(lines, again_lines(job, folder));
  append(lines, {"", "exit \"$ddl_status\""});
  return lines;
}

}  // namespace ddlrun::schedulers
