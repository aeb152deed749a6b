# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2016
# Starts a job script without a scheduler: $1 is the script, $2 its log. The new process prints its id before it
# becomes the script, since a short job ends before another process could look. Then it closes the pipe, which ends the
# substitution. Field 22 of stat is the start time (proc_pid_stat(5)); the name in field 2 may contain blanks.
# ----- the lines below go into the script -----
umask 077
id=$(setsid nohup bash -c '
  stat=$(cat "/proc/$$/stat") || exit 1
  stat=${stat##*) }
  set -- "$1" "$2" $stat
  echo "$$-${22}@$(uname -n)"
  exec bash "$1" >>"$2" 2>&1' bash "$1" "$2" </dev/null 2>/dev/null &)
[ -n "$id" ] || exit 1
echo "$id"
