#!/bin/bash
# SPDX-License-Identifier: MIT
# A Slurm job whose nodes refuse ssh: doctor, gen-rankfile, launch and submit reach them by srun, as plain srun does. What
# needs ssh still fails for want of it; a node where srun starts nothing is reached by ssh, and nothing waits for long.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v slurmctld > /dev/null || { echo "skipped: no slurmctld here"; exit 125; }
lab_up 3
slurm up 4 2 > "$work/slurm" 2>&1 || { tail -n 3 "$work/slurm"; exit 1; }
# The number in its PID file is of the host's own namespace.
# shellcheck disable=SC2016
signal_daemon() { as_root "$1" bash -c 'kill -"$1" "$(cat "$2")"' bash "$3" "/run/$2.pid"; } # HOST DAEMON SIGNAL
salloc=(salloc -Q -N2 --ntasks-per-node=2 -w 'node[2-3]')
in_job() { on node1 "${salloc[@]}" "$@"; }
says() { grep -qF -- "$1" "$work/err" || fail "$2: no '$1' on stderr: $(tail -n 5 "$work/err")"; }
says_not() { ! grep -qF -- "$1" "$work/err" || fail "$2: '$1' on stderr: $(tail -n 5 "$work/err")"; }
# no_ssh LABEL: the traced commands (-v) of the last run start no ssh.
no_ssh() { ! grep -Eq "^\+ .*\bssh -(T|o|x)" "$work/err" || fail "$1 starts ssh: $(grep -E '\bssh -' "$work/err" | head -n 2 | cut -c 1-200)"; }
places=$'node2\nnode2\nnode3\nnode3'

# With ssh open: the hosts of a job by srun, and the same findings as by ssh but for those about ssh itself.
findings() { # VIA
  in_job "$tool" doctor --json --via "$1" > "$work/$1.json" 2> "$work/err"
  python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    if f["verdict"] in ("fail", "warn") and not f["id"].startswith(("SSH", "PATH")): print(f["id"], f["verdict"])' "$work/$1.json" | sort -u
}
same "findings by srun and by ssh" "$(findings ssh)" "$(findings srun)"
in_job "$tool" doctor --only SSH-01 > "$work/out" 2> "$work/err" || fail "doctor in a job: $(cat "$work/out" "$work/err")"
grep -q '^2 hosts by srun, quick: ' "$work/out" || fail "doctor in a job: $(tail -n 1 "$work/out")"
expect 0 '' on node1 "$tool" doctor node2,node3 --only SSH-01
grep -q '^2 hosts by ssh, quick: ' "$work/out" || fail "doctor outside of a job: $(tail -n 1 "$work/out")"
expect 0 '' in_job env OMPI_MCA_plm=rsh "$tool" doctor --only SSH-01
grep -q '^2 hosts by ssh, quick: ' "$work/out" || fail "doctor where mpirun uses ssh: $(tail -n 1 "$work/out")"
# With --gpus or --gpus-per-task a step would see the GPUs of one task, or not start.
for gpus in --gpus=4 --gpus-per-task=1; do
  expect 0 '' on node1 "${salloc[@]}" $gpus "$tool" doctor --only SSH-01
  grep -q '^2 hosts by ssh, quick: ' "$work/out" || fail "$gpus: $(tail -n 1 "$work/out")"
done
expect 0 '' on node1 "${salloc[@]}" --gpus-per-node=2 "$tool" doctor --only SSH-01
grep -q '^2 hosts by srun, quick: ' "$work/out" || fail "--gpus-per-node: $(tail -n 1 "$work/out")"
# Variables of a job that shape its steps, and a step of it that holds all processors and memory.
# shellcheck disable=SC2016
expect 0 '' on node1 env SLURM_LABELIO=1 SLURM_CPUS_PER_TASK=1 SLURM_MEM_PER_CPU=10 "${salloc[@]}" bash -c '
  srun -N2 -n4 --exclusive sleep 60 & sleep 1
  "$0" doctor --only SSH-01 && "$0" gen-rankfile --strict 2x2 node2,node3; status=$?; kill $!; wait; exit $status' "$tool"
grep -q '^2 hosts by srun' "$work/out" || fail "beside a step of the job: $(cat "$work/out" "$work/err")"
same "the rankfile beside a step of the job" 4 "$(grep -c '^rank ' "$work/out")"

for host in node1 node2 node3; do signal_daemon $host sshd TERM; done
! on node1 ssh node2 true 2> "$work/err" || fail "ssh is open"
grep -q 'Connection refused' "$work/err" || fail "ssh: $(cat "$work/err")"
same "srun alone" "$places" "$(in_job srun hostname 2> "$work/err" | sort)"

in_job "$tool" -v doctor > "$work/out" 2> "$work/err"
! grep -q '^fail  SSH' "$work/out" || fail "doctor: $(grep -A 4 '^fail  SSH' "$work/out")"
grep -q '^2 hosts by srun, quick: .*[^d]$' "$work/out" || fail "doctor: $(tail -n 1 "$work/out")"
no_ssh doctor
expect 0 '' in_job "$tool" -v gen-rankfile --strict 2x2 node2,node3
same "gen-rankfile" 4 "$(grep -c '^rank ' "$work/out")"
no_ssh gen-rankfile
launchers=(srun openmpi)
[ -z "$(type -P mpirun.mpich)" ] || launchers+=(mpich)
for launcher in "${launchers[@]}"; do
  expect 0 '' in_job "$tool" -v launch --launcher $launcher --verify 2x2 -- hostname
  same "$launcher: ranks" "$places" "$(sort "$work/out")"
  says '4 of 4 ranks are where they were planned' $launcher
  no_ssh $launcher
done
# The network of the job is read by srun too: --interface asks for it.
expect 0 '' in_job "$tool" -v launch --launcher openmpi --interface 10.9.1.0/24 2x2 -- hostname
no_ssh "launch --interface"
submit=(env DDLRUN_WALLTIME=5m DDLRUN_EXCLUSIVE=no "$tool" submit --slurm --cores-per-node 2 --threads 1 --doctor-skip LIM)
expect 0 '' on node1 "${submit[@]}" 2x2 -- hostname
same "submit: 4 ranks" 4 "$(grep -c '^node[1-3]$' "$work/out")"
grep -q '^2 hosts by srun' "$work/out" || fail "submit: doctor: $(grep ' hosts by ' "$work/out")"

# What needs ssh fails by its own words, before a rank starts.
expect_refusal 5 'could be read' in_job "$tool" launch --launcher ssh 2x2 -- hostname
says 'Connection refused' '--launcher ssh'
says_not 'by srun' '--launcher ssh'
says 'try: ddlrun doctor --via ssh node2,' '--launcher ssh'
expect_refusal 5 'could be read' in_job "$tool" launch --launcher openmpi --mca plm rsh 2x2 -- hostname

# srun starts nothing either: both reasons, and no long wait. SIGSTOP: slurmd accepts connections and is silent.
# shellcheck disable=SC2016
frozen=('touch ready; while [ -e ready ]; do sleep 0.1; done; exec "$@"' sh)
freeze_meanwhile() { # HOST...
  local host polls=0
  until [ -e "$lab_home/ready" ] || [ $((++polls)) -gt 300 ]; do sleep 0.1; done
  for host; do signal_daemon "$host" slurmd STOP; done
  rm -f "$lab_home/ready"
}
thaw() { for host; do signal_daemon "$host" slurmd CONT; done; }
freeze_meanwhile node2 node3 & begun=$SECONDS status=0
in_job sh -c "${frozen[@]}" "$tool" launch --launcher srun 2x2 -- hostname > "$work/out" 2> "$work/err" || status=$?
same "neither srun nor ssh: status" 5 "$status"
[ $((SECONDS - begun)) -lt 50 ] || fail "neither srun nor ssh: it takes $((SECONDS - begun)) s"
says 'Connection refused; by srun: srun starts nothing within' "neither srun nor ssh"
same "neither srun nor ssh: one line" 1 "$(grep -c 'srun starts no step on node\[2-3\] (.*: ssh is used there$' "$work/err")"
thaw node2 node3

# One node is silent for srun: it is reached by ssh, the other one by srun.
for host in node1 node2 node3; do lab sshd $host || fail "sshd of $host"; done
wait_until 60 on node1 srun -N2 -w 'node[2-3]' true || fail "the nodes do not come back"
freeze_meanwhile node3 &
expect 0 '' in_job sh -c "${frozen[@]}" "$tool" doctor --only SSH-01
grep -q '^2 hosts by srun and ssh, quick: ' "$work/out" || fail "one node by ssh: $(tail -n 1 "$work/out")"
says 'srun starts no step on node3 (' "one node by ssh"
thaw node3
slurm down > /dev/null || fail "slurm down"
finish
