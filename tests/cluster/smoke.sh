#!/bin/bash
# SPDX-License-Identifier: MIT
# The lab itself: names, ssh, mpirun and Slurm across 4 hosts, limits per host, and nothing left of it afterwards.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
export LAB_MEMLOCK_2=64
lab_up 4
before=$(grep -c . /proc/self/mountinfo)

every_name() { for i in 1 2 3 4; do ssh -o BatchMode=yes "node$i" hostname; ssh -o BatchMode=yes "ib$i" hostname; done; }
for from in 1 4; do
  same "node$from reaches all by both names" "$(printf '%s ' node{1,1,2,2,3,3,4,4})" \
    "$(on node$from bash -c "$(declare -f every_name); every_name" 2>&1 | tr '\n' ' ')"
done
same "hosts have lives of their own" 4 \
  "$(for i in 1 2 3 4; do on node$i cat /proc/sys/kernel/random/boot_id; done | sort -u | wc -l)"
same "memlock of node2, as ssh finds it" 64 "$(on node1 ssh node2 'ulimit -l')"
same "memlock of node3, as ssh finds it" "$(ulimit -l)" "$(on node1 ssh node3 'ulimit -l')"
same "interfaces" "eth0 ib0 lo " "$(on node3 ls /sys/class/net | tr '\n' ' ')"

same "mpirun over 4 hosts" "node1 node2 node3 node4 " \
  "$(on node1 "${mpirun_short[@]}" --host node1,node2,node3,node4 hostname 2> "$work/err" | sort | tr '\n' ' ')"
on node1 touch /tmp/seen
on node2 test ! -e /tmp/seen || fail "/tmp is shared"
on node1 touch seen
on node2 test -e seen || fail "the home is not shared"

lab link node3 eth0 down
on node1 ssh -o BatchMode=yes -o ConnectTimeout=1 node3 true 2> /dev/null && fail "node3 answers with its link down"
same "the other interface stays" node3 "$(on node1 ssh ib3 hostname)"
lab link node3 eth0 up
same "the link is up again" node3 "$(on node1 ssh node3 hostname)"
lab stop node4
on node1 ssh -o BatchMode=yes -o ConnectTimeout=1 node4 true 2> /dev/null && fail "node4 answers although it is off"
lab start node4 || fail "node4 did not start"
same "node4 is back" node4 "$(on node1 ssh ib4 hostname)"

# What runs in a host ends with the one who requested it.
timeout 0.5 "$lab_tests/lab.sh" exec node2 sleep 12345
sleep 0.1
on node2 pgrep -xf 'sleep 12345' > /dev/null && fail "a command outlives its caller"

slurm_jobs() {
  slurm up 2 > "$work/slurm" 2>&1 || { fail "slurm: $(tail -3 "$work/slurm")"; return; }
  same "srun -N4" "node1 node2 node3 node4 " "$(on node1 srun -N4 hostname | sort | tr '\n' ' ')"
  printf '#!/bin/sh\nexit 3\n' > "$lab_home/job.sh"
  on node1 sbatch --wait job.sh > /dev/null
  same "sbatch --wait gives the job's own status" 3 "$?"
  slurm down > /dev/null || fail "slurm down"
}
if command -v slurmctld > /dev/null; then slurm_jobs; else echo "no slurmctld here: Slurm left out"; fi

# Held open, a namespace's number cannot be given to anybody else while we look for its processes.
names=$(for i in 1 2 3 4; do readlink "/proc/$(lab pid node$i)/ns/pid"; done)
# shellcheck disable=SC2034
for i in 1 2 3 4; do exec {held}< "/proc/$(lab pid node$i)/ns/pid"; done
lab down > /dev/null || fail "down"
left=$(for process in /proc/[0-9]*; do readlink "$process/ns/pid" 2> /dev/null; done | grep -cF "$names")
same "processes left in the hosts" 0 "$left"
same "mounts" "$before" "$(grep -c . /proc/self/mountinfo)"
grep -F "$LAB_DIR" /proc/self/mountinfo && fail "a mount is left in $LAB_DIR"
[ ! -e "$LAB_DIR" ] || fail "$LAB_DIR is left"

# An "up" that fails half-way takes back what it has started.
echo 'false' > "$work/hook"
LAB_HOOK=$work/hook expect 1 "did not come up" lab up 3
[ ! -e "$LAB_DIR" ] || fail "a failed up leaves $LAB_DIR"
expect 1 "hosts, not" lab up none
finish
