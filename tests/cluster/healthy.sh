#!/bin/bash
# SPDX-License-Identifier: MIT
# No false alarms: doctor on a lab where nothing is wrong, LAB_RUNS times (3); quick from a login node, every third
# time from the job's first host, every tenth with --full. Nothing may be warned of, failed or broken.
# shellcheck source=tests/cluster/faults/table.sh
. "$(dirname "$(readlink -f "$0")")/faults/table.sh"
# shellcheck source=tests/cluster/faults/doctor.sh
. "$faults/doctor.sh"
runs=${1:-${LAB_RUNS:-3}}
faults_up

alarms=0
for ((i = 1; i <= runs; i++)); do
  level=quick
  head=node5
  [ $((i % 3)) -ne 0 ] || head=node1
  [ $((i % 10)) -ne 2 ] || level=full
  run_doctor "$level" "$work/report" || true
  reported=$(judge clean "$work/report") || reported=${reported:-no report: $(tail -3 "$work/report.err")}
  reported=$(grep -vE "$lab_truths" <<< "$reported")
  [ -z "$reported" ] || { alarms=$((alarms + 1)); fail "run $i (--$level on $head): $reported"; }
done
echo "$alarms alarms in $runs runs on healthy hosts"
finish
