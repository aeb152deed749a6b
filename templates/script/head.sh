# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# The first lines: names of the job, and how the script reports.
# ----- the lines below go into the script -----
# Written by ddlrun submit; the next line ends the scheduler's directives.
# Words of the job are quoted as they are; functions here are called by traps, and one replaces trap.
# shellcheck disable=SC2016,SC2218,SC2317,SC2329
set -u

# Names of this script begin with ddl_.
ddl_dir=@directory@
ddl_id=@id@
@array_index@
ddl_restarts=@restarts@
case $ddl_restarts in '' | *[!0-9]*) ddl_restarts=0 ;; esac
ddl_status_file=$ddl_dir/@status_file@
ddl_stop_file=$ddl_dir/@stop_file@
export DDLRUN_JOB_ID=$ddl_id
export DDLRUN_RESTART_COUNT=$ddl_restarts
@export_array_index@
ddl_say() { printf 'ddlrun job: %s\n' "$1" >&2; }
# ddl_fail REASON REMEDY [STATUS]: ends the job. The program writes to the log too, so ddlrun reads both in the file.
ddl_fail() {
  local text
  printf -v text 'ddlrun job: %s\n  try: %s' "$1" "$2"
  printf '%s\n' "$text" >&2
  {
    printf '%s\n' "$text" >"$ddl_stop_file.part" && mv -f -- "$ddl_stop_file.part" "$ddl_stop_file"
  } 2>/dev/null || :
  exit "${3:-3}"
}
# Handed in by hand, the job has no directory yet.
(umask 077 && mkdir -p -- "$ddl_dir") ||
  ddl_fail "$ddl_dir cannot be made on this host" "ls -ld $(printf %q "${ddl_dir%/*}")   # on this host"
