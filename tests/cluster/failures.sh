#!/bin/bash
# SPDX-License-Identifier: MIT
# Breaks real runs of mpirun, srun, sbatch, ssh and the trainer on virtual hosts, each in a known way, and asks
# `ddlrun diagnose` for the cause: a foreign judge, for the cause is what was broken here.
#   failures.sh [KIND...]            all kinds or those named; LAB_FULL=1 adds the slow ones
#   failures.sh --list               the kinds, and what is broken
#   failures.sh --record [KIND...]   also writes tests/golden/broken_runs, which CI judges without a lab
# BROKEN_LOGS=DIRECTORY keeps all logs.
here=$(dirname "$(readlink -f "$0")")
if [ "${1-}" != --list ]; then
  # shellcheck source=tests/cluster/lab_test.sh
  . "$here/lab_test.sh"
fi
# shellcheck source=tests/cluster/lib/settings.sh
. "$here/lib/settings.sh"
# shellcheck source=tests/cluster/failures/support.sh
. "$here/failures/support.sh"
for subject in names rankfile ssh network ranks threads trainer slurm scripts healthy last; do
  # shellcheck source=/dev/null
  . "$here/failures/$subject.sh"
done
if [ "${1-}" = --list ]; then
  for id in "${kinds[@]}"; do printf '%-34s %-8s %s\n' "$id" "${kind_causes[$id]}" "${kind_what[$id]}"; done
  exit 0
fi

record=
[ "${1-}" != --record ] || { record=$here/../golden/broken_runs; shift; }
chosen=("$@")
[ $# -gt 0 ] || chosen=("${kinds[@]}")
broken_up
logs=${BROKEN_LOGS:-$work/logs}
directories=()
rows=()
for id in "${chosen[@]}"; do if declare -F "prepare_$id" > /dev/null && wanted "$id"; then "prepare_$id"; fi; done
for id in "${chosen[@]}"; do
  wanted "$id" || continue
  run_kind "$id"
  diagnose_kind "$id"
  [ -z "$record" ] || record_kind "$id" "$record"
done
judge_all
finish
