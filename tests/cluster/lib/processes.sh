# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced. Processes the lab has started, as "PID START" in a file: a number that the kernel has given to somebody
# else meanwhile has another start time, and is left alone.

# When a process was started, in ticks since boot; nothing if there is none.
start_of() {
  local line
  { read -r line < "/proc/$1/stat"; } 2> /dev/null || return 1
  line=${line##*) } # the name in brackets may hold anything
  # shellcheck disable=SC2086
  set -- $line
  echo "${20}"
}
# record_process FILE PID
record_process() { echo "$2 $(start_of "$2")" > "$1"; }
# The process in FILE if it is still ours and no zombie, else false.
living() {
  local pid start
  { read -r pid start < "$1"; } 2> /dev/null || return 1
  [ -n "$start" ] && [ "$(start_of "$pid")" = "$start" ] && ! grep -q '^State:.*Z' "/proc/$pid/status" 2> /dev/null &&
    echo "$pid"
}
gone() { ! living "$1" > /dev/null; }
# signal_process SIGNAL FILE
signal_process() {
  local pid
  pid=$(living "$2") || return 0
  kill -s "$1" "$pid" 2> /dev/null || true
}
