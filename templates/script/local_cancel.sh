# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2086,SC2015
# Ends the process group of a job without a scheduler: $1 is its process id, $2 its start time, $3 its host.
# A newer process with the same id has another start time. Exit status 3: the job is over; 4: it runs on another host.
# ----- the lines below go into the script -----
[ "$(uname -n)" = "$3" ] || { echo "it runs on $3" >&2; exit 4; }
stat=$(cat "/proc/$1/stat" 2>/dev/null) || exit 3
stat=${stat##*) }
pid=$1 start=$2
set -- $stat
[ "${20}" = "$start" ] && [ "$1" != Z ] || exit 3
kill -s TERM -- "-$pid"
