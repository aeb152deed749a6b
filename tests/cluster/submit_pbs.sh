#!/bin/bash
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2031 # $work of scenarios
# `ddlrun submit` and its kin against a real OpenPBS on 6 hosts: 4 of 68 faked cores and 4 faked GPUs, and two of the
# queue "cores" with this machine's own number of cores. Each function scenario_* of submit_pbs/*.sh is a scenario: what
# ddlrun prints is compared with qstat and with the ranks. Skips where OpenPBS is not built (../peers/build_openpbs.sh).
#   submit_pbs.sh [NAME...]   only these; LAB_AT_ONCE (6) side by side
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
# shellcheck source=tests/cluster/lib/scenarios.sh
. "$lab_tests/lib/scenarios.sh"
lab_up 6
cores=$(nproc)
LAB_PBS_MORE="create queue cores queue_type=e, enabled=t, started=t
set node node5 resources_available.ncpus = $cores
set node node6 resources_available.ncpus = $cores
set node node5 resources_available.ngpus = 0
set node node6 resources_available.ngpus = 0
set node node5 queue = cores
set node node6 queue = cores
create queue closed queue_type=e, enabled=f, started=t
create queue stopped queue_type=e, enabled=t, started=f"
export LAB_PBS_MORE
pbs up 68 4 > "$work/pbs" 2>&1 || { status=$?; tail -n 3 "$work/pbs"; exit "$status"; }

# shellcheck disable=SC2034 # scenarios.sh
scheduler=--pbs state_field=job_state
# field ID NAME: what pbs_server reports, also after the job's end
field() { on node1 qstat -x -f -F dsv "$1" 2> /dev/null | tr '|' '\n' | sed -n "s/^$2=//p" | head -n 1; }
is_state() { [ "$(field "$1" job_state)" = "$2" ]; }

run_scenarios "$lab_tests/submit_pbs" "$@"
finish
