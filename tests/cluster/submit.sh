#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2031 # $work of scenarios
# `ddlrun submit` and its kin against a real Slurm on 4 hosts of 68 faked cores and 4 faked GPUs. Each function
# scenario_* of submit/*.sh is a scenario: what ddlrun says is held against slurmctld and against the ranks.
#   submit.sh [NAME...]   only these; LAB_AT_ONCE (6) side by side
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
# shellcheck source=tests/cluster/lib/scenarios.sh
. "$lab_tests/lib/scenarios.sh"
export LAB_SLURM_REQUEUE_AFTER=5 LAB_SLURM_KILLWAIT=2 LAB_SLURM_MINJOBAGE=30
export LAB_SLURM_MORE="PartitionName=short Nodes=node[1-4] MaxTime=00:01:00 State=UP
PartitionName=single Nodes=node[1-4] MaxNodes=1 State=UP"
command -v slurmctld > /dev/null || { echo "skipped: no slurmctld here"; exit 125; }
lab_up 4
slurm up 68 4 > "$work/slurm" 2>&1 || { tail -n 3 "$work/slurm"; exit 1; }

# shellcheck disable=SC2034 # scenarios.sh
scheduler=--slurm state_field=JobState
# field ID NAME: what slurmctld says
field() { on node1 scontrol -o show job "$1" 2> /dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1; }
is_state() { [ "$(field "$1" JobState)" = "$2" ]; }

run_scenarios "$lab_tests/submit" "$@"
finish
