#!/bin/bash
# SPDX-License-Identifier: MIT
# Much work in a row: launches, jobs on Slurm, rounds of doctor, cycles of checkpoint, kill and resume. Before and after:
# processes, files in the hosts' /dev/shm and /tmp and in the state directory, memory and descriptors of the hosts' sshd
# and of a launch that runs all the time. Not in CI; sizes:
#   SOAK_LAUNCHES=200 SOAK_JOBS=50 SOAK_ROUNDS=1000 SOAK_CYCLES=20 soak.sh
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
# shellcheck source=tests/cluster/lib/leftovers.sh
. "$lab_tests/lib/leftovers.sh"
command -v mpirun > /dev/null || { echo "skipped: no mpirun here (apt-get install openmpi-bin)"; exit 125; }
launches=${SOAK_LAUNCHES:-200} jobs=${SOAK_JOBS:-50} rounds=${SOAK_ROUNDS:-1000} cycles=${SOAK_CYCLES:-20}
lab_up 2
hosts=(node1 node2)
know_hosts "${hosts[@]}"
[ "$jobs" -eq 0 ] || slurm up 8 0 > "$work/slurm" 2>&1 || { tail -n 3 "$work/slurm"; exit 1; }
[ "$cycles" -eq 0 ] || install_trainer
cp -r "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" "$lab_home/data"
# It talks until it may end.
cat > "$lab_home/talk" << 'PROGRAM'
#!/bin/bash
while [ ! -e "$HOME/done" ]; do echo "$RANDOM $RANDOM $RANDOM"; sleep 0.05; done
PROGRAM
chmod 755 "$lab_home/talk"
chown -R 2000:2000 "$lab_home"
keep_as_before

pids_of() { everything | awk -v name="$1" -v word="$2" '$4 == name && index($0, word) { print $2 }'; }
# usage NAME WORD: "KiB of memory, descriptors" of such processes
usage() {
  local pid kib=0 fds=0
  for pid in $(pids_of "$1" "$2"); do
    kib=$((kib + $(awk '/^VmRSS:/ { print $2 }' "/proc/$pid/status")))
    fds=$((fds + $(find "/proc/$pid/fd" -mindepth 1 2> /dev/null | wc -l)))
  done
  echo "$kib KiB, $fds descriptors"
}
files_in() { for host in "${hosts[@]}"; do as_root "$host" find "$@" -mindepth 1 -not -path '/tmp/ompi*'; done | wc -l; }
figures() { # WHEN
  echo "$1: sshd $(usage sshd 'sshd -f'); talking launch $(usage ddlrun 'launch --run-dir'), guard $(usage ddlrun-guard 'launch --run-dir'), ranks $(usage ddlrun ' exec '); files in /dev/shm and /tmp $(files_in /dev/shm /tmp); runs $(find "$lab_home/.local/state/ddlrun/runs" -mindepth 1 -maxdepth 1 2> /dev/null | wc -l); temporary files $(find "$lab_home" -name '*.tmp*' | wc -l)"
}

(
  LAB_PATIENCE=100000 on node1 "$tool" launch --run-dir talking --rank-output files 1x2x1 node1,node2 --sockets 1 --cores 2 -- ./talk \
    > "$work/talk.out" 2> "$work/talk.err" < /dev/null
  echo $? > "$work/talk.status"
) 2> /dev/null &
talking=$!
sleep 5
figures before | tee "$work/figures"

begun=$SECONDS
for ((i = 0; i < launches; i++)); do
  launcher=$([ $((i % 2)) -eq 0 ] && echo openmpi || echo ssh)
  expect 0 "rank $i" on node1 "$tool" launch --launcher "$launcher" 1x2x1 node1,node2 --sockets 1 --cores 2 -- echo "rank $i"
  [ "$(grep -c "rank $i" "$work/out")" -eq 2 ] || fail "launch $i: not two ranks"
done
echo "$launches launches in $((SECONDS - begun)) s"
figures "after launches"

begun=$SECONDS
for ((i = 0; i < rounds; i++)); do
  on node1 "$tool" doctor node2 > "$work/out" 2> "$work/err" < /dev/null
  status=$?
  [ "$status" -le 1 ] || fail "doctor $i: status $status: $(tail -n 2 "$work/err")"
done
echo "$rounds rounds of doctor in $((SECONDS - begun)) s"
figures "after doctor"

begun=$SECONDS
ids=()
for ((i = 0; i < jobs; i++)); do
  run on node1 env DDLRUN_EXCLUSIVE=no DDLRUN_RUNNER=none DDLRUN_DOCTOR=off "$tool" submit --slurm --detach --walltime 5m --dims 1x1x1 -- true
  ids+=("$(head -n 1 "$work/out")")
  [ "$status" -eq 0 ] || fail "submit $i: $status: $(tail -n 2 "$work/err")"
done
for id in "${ids[@]}"; do expect 0 '' on node1 "$tool" wait "$id"; done
[ "$jobs" -eq 0 ] || [ "$(find "$lab_home/ddlrun-jobs" -name exit_status -exec grep -lx 0 {} + | wc -l)" -eq "$jobs" ] ||
  fail "not $jobs jobs with status 0"
echo "$jobs jobs in $((SECONDS - begun)) s"

# Each cycle kills a rank, a supervisor, a guard or ddlrun itself after the next checkpoint.
begun=$SECONDS
train() { # WORDS...
  LAB_PATIENCE=300 on node1 "$tool" launch 1x2x1 node1,node2 --sockets 1 --cores 2 --no-verify -- /home/ddl/bin/ddl-train --data /home/ddl/data \
    --threads 1 --global-batch 36 --lr 0.005 --lr-decay none --quiet "$@" > "$work/train.out" 2> "$work/train.err" < /dev/null
}
step_of() { sed -n 's/^ckpt-0*\([0-9]\{1,\}\)\.safetensors$/\1/p' "$lab_home/saved/latest" 2> /dev/null; }
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*$/\1/p' "$work/train.out" | tail -n 1; }
trained() { everything | awk -v name="$1" -v word="$2" '$4 == name && index($0, word) && /ddl-train --data/ { print $2 }'; }
all_ended() { [ -z "$(trained ddl-train '' && trained ddlrun '')" ]; }
last=0
victims=('ddl-train ddl-train' 'ddlrun exec' 'ddlrun-guard exec' 'ddlrun launch')
for ((i = 0; i < cycles; i++)); do
  train --total-steps 1000000 --checkpoint /home/ddl/saved --checkpoint-every 5 --resume &
  job=$!
  for _ in $(seq 600); do [ "$(step_of)" -gt "$last" ] 2> /dev/null && break; sleep 0.1; done
  read -r name word <<< "${victims[i % ${#victims[@]}]}"
  victim=$(trained "$name" "$word" | shuf -n 1)
  if [ -n "$victim" ]; then kill -KILL "$victim"; else fail "cycle $i: no $name $word"; fi
  wait "$job" && fail "cycle $i: not ended by the kill"
  wait_until 30 all_ended || fail "cycle $i: $name $word killed, and not all have ended after 30 s"
  [ "$(step_of)" -gt "$last" ] 2> /dev/null || fail "cycle $i: latest went from $last to $(step_of): $(tail -n 3 "$work/train.err")"
  last=$(step_of)
done
if [ "$cycles" -gt 0 ]; then
  train --total-steps $((last + 5)) --checkpoint /home/ddl/saved --resume || fail "the last resume: $(tail -n 3 "$work/train.err")"
  pieces=$(hash_of)
  train --total-steps $((last + 5)) || fail "in one go: $(tail -n 3 "$work/train.err")"
  same "weights after $cycles kills" "$(hash_of)" "$pieces"
fi
echo "$cycles cycles up to step $last in $((SECONDS - begun)) s"

figures after
: > "$lab_home/done"
wait "$talking"
same 'the talking launch' 0 "$(cat "$work/talk.status")"
wait_for_end 30
[ ! -s "$work/left" ] || fail "left: $(cut -c1-160 "$work/left")"
same 'files left on the hosts' 0 "$(files_in /dev/shm /tmp)"
finish
