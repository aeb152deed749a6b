# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Faults of the scheduler; Slurm is up only while one of them is there.

slurm_off() {
  slurm down > /dev/null
  for host in "${hosts[@]}" "$head"; do on_disk "$host" 'rm -rf /etc/slurm/slurm.conf /etc/slurm/gres.conf'; done
}
state_of() { on "$head" sinfo -h -N -n "$1" -p normal -o %T; }
is_idle() { [ "$(state_of "$1")" = idle ]; }

fault drained SCH-05 quick fail each "Slurm's node is drained"
inject_drained() {
  slurm up 2 > "$work/slurm" || return 1
  for host; do as_root "$head" scontrol update NodeName="$host" State=DRAIN Reason="lab test"; done
}
repair_drained() { for host; do as_root "$head" scontrol update NodeName="$host" State=RESUME; done; }
settle_drained() { for host; do wait_until 10 is_idle "$host"; done; } # "idle*" until slurmd has answered again
undo_drained() { slurm_off; }
shows_drained() { [ "$(state_of "$1")" = drained ]; }

fault no_controller SCH-01 quick 'warn|fail' job "Slurm's controller does not run"
inject_no_controller() {
  slurm up 2 > "$work/slurm" || return 1
  on_disk node1 'kill $(cat /run/slurmctld.pid); while [ -e /run/slurmctld.pid ]; do sleep 0.05; done'
}
repair_no_controller() { as_root node1 slurmctld && wait_until 10 on "$head" sinfo -h; }
undo_no_controller() { slurm_off; }
shows_no_controller() { ! on "$head" timeout 5 sinfo -h > /dev/null 2>&1; }
