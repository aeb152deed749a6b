#!/bin/bash
# SPDX-License-Identifier: MIT
# A host of four goes away in the middle of a training: the job goes on with three, or waits for it, from the last
# checkpoint; its weights are those of a run that no one disturbed from that checkpoint on, to the bit.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
command -v mpirun > /dev/null || { echo "skipped: no mpirun; apt-get install openmpi-bin"; exit 125; }
lab_up 4
install_trainer
cp -r "$(dirname "$(readlink -f "$0")")/../data/fashion-mnist-subset" "$lab_home/images"
chown -R 2000:2000 "$lab_home/bin" "$lab_home/images"
steps=600
program=(/home/ddl/bin/ddl-train --data /home/ddl/images --threads 1 --global-batch 36 --lr 0.005 --lr-decay none)
hosts=node1,node2,node3,node4
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*$/\1/p' "$1" | tail -1; }
resumed_at() { sed -n 's/^resume: .*, step \([0-9]*\) of .*/\1/p' "$1" | tail -1; }

start() { # DIMS OPTIONS... : the job, in the background
  (
    LAB_PATIENCE=300 on node1 "$tool" launch "$1" $hosts --sockets 1 --cores 2 --max-restarts 2 "${@:2}" -- \
      "${program[@]}" --total-steps $steps --checkpoint /home/ddl/saved --checkpoint-every 10 \
      > "$work/job.out" 2> "$work/job.err" < /dev/null
    echo $? > "$work/job.status"
  ) 2> /dev/null &
  job=$!
  for _ in $(seq 1 300); do
    [ -e "$lab_home/saved/latest" ] && return
    sleep 0.1
  done
  fail "no checkpoint yet: $(tail -3 "$work/job.err")"
}
said() { # TEXT SECONDS
  local begun=$SECONDS
  until grep -qF -- "$1" "$work/job.err"; do
    [ $((SECONDS - begun)) -le "$2" ] || { fail "not said within $2 s: $1: $(grep '^ddlrun' "$work/job.err" | tail -5)"; return; }
    sleep 0.2
  done
  echo "said after $((SECONDS - begun)) s: $(grep -F -- "$1" "$work/job.err" | head -1)"
}
# undisturbed HOSTS COUNT : from nothing on four hosts to the step that was gone on from, then on these to the end
undisturbed() {
  local at
  at=$(resumed_at "$work/job.err")
  [ -n "$at" ] || { fail "nothing was gone on from: $(tail -3 "$work/job.err")"; return; }
  rm -rf --one-file-system "$lab_home/again"
  go() {
    on node1 "$tool" launch "$@" --total-steps "$limit" --checkpoint /home/ddl/again --checkpoint-every 10 --resume
  }
  limit=$at
  expect 0 'ddl-train: ok' go 1x4x1 $hosts --sockets 1 --cores 2 -- "${program[@]}"
  limit=$steps
  expect 0 'ddl-train: ok' go "1x$2x1" "$1" --sockets 1 --cores 2 -- "${program[@]}"
  same "weights after a restart from step $at on $2 hosts" "$(hash_of "$work/out")" "$(hash_of "$work/job.out")"
}

# --- preempted: TERM for launch reaches the ranks of all hosts, which save; that is no failure to start again from
start 1x4x1
on node1 kill -TERM "$(on node1 pgrep -o -u ddl -f '^/home/ddl/bin/ddlrun launch ')"
wait "$job"
same 'status when preempted' 75 "$(cat "$work/job.status")"
grep -q '^ddl-train: note: stopped by TERM after step [0-9]* of .*; checkpoint saved' "$work/job.err" || fail "not saved: $(tail -3 "$work/job.err")"
grep -q '^ddlrun: not started again: stopped by signal 15' "$work/job.err" || fail "started again: $(tail -3 "$work/job.err")"
same 'one start' 1 "$(grep -c '^ddlrun: run directory' "$work/job.err")"
rm -rf --one-file-system "$lab_home/saved"

# --- left out
start 1x4x1 --on-host-failure shrink --restart-arg=--resume
lab stop node3
said 'starting again: node3 lost and left out: 1x3x1 on node[1-2,4]; restart 1 of 2' 60
wait "$job"
same 'status with three hosts' 0 "$(cat "$work/job.status")"
lab start node3
undisturbed node1,node2,node4 3

# --- waited for
rm -rf --one-file-system "$lab_home/saved"
start 1x4x1 --restart-arg=--resume
lab stop node2
said 'node2 lost, the dims 1x4x1 need it; restart 1 of 2' 60
sleep 3
lab start node2
wait "$job"
same 'status after waiting' 0 "$(cat "$work/job.status")"
undisturbed $hosts 4

# --- no one comes back
rm -rf --one-file-system "$lab_home/saved"
start 1x4x1 --host-timeout 6 --restart-arg=--resume
lab stop node4
said 'node4 did not come back within 6 s' 60
wait "$job"
same 'status without it' 5 "$(cat "$work/job.status")"
finish
