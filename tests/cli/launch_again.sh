#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch --max-restarts`: which ends cause a restart, the output of -q, replays of such runs; the
# scheduler's signals with the real trainer.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"

# --- each start has its words and its number; no one typed DDLRUN_RESTART
# shellcheck disable=SC2016
say='echo "start ${DDLRUN_RESTART-none}: $*"; exit 7'
launch twice 1 --max-restarts 2 --restart-arg again -x KEY=s3cret -- sh -c "$say" sh first
same "restarts: status" 7 "$status"
expected=$'start none: first\nstart 1: first again\nstart 2: first again'
same "restarts: the starts" "$expected" "$(cat twice.out)"
same "restarts: said to be set" "KEY KEY KEY" "$(sed -n 's/^ddlrun: \(.*\) is set from -x$/\1/p' twice.err | tr '\n' ' ' | sed 's/ $//')"
has "restarts: the number in the line" "$(directory_of twice | tail -n 1)/argv" "DDLRUN_RESTART=2 "
check "restarts: no value" bash -c '! grep -rq s3cret twice.err "$1"' bash "$XDG_STATE_HOME"
has "restarts" twice.err "ddlrun: error: not started again: 2 of 2 restarts are used up"

# --- a replay of the last start is one of the first, restarts and all
for run in last "$(basename "$(directory_of twice | head -1)")"; do
  KEY=x run "$DDLRUN" replay "$run"
  same "replay $run: status" 7 "$status"
  same "replay $run: the starts" "$expected" "$(cat "$work/out")"
done
rm -r "$XDG_STATE_HOME"
launch named 1 --max-restarts 1 --run-dir "$work/kept" -- sh -c "$say" sh first
run "$DDLRUN" replay ./kept.1
same "replay of a named directory" $'start none: first\nstart 1: first' "$(cat "$work/out")"
has "replay of a named directory" "$work/err" "./kept.1 was restarted from kept, the first start"
rm -r kept
expect_refusal 3 "this run was restarted from kept, whose record no longer exists" "$DDLRUN" replay ./kept.1

# --- -q: why it was not started again
while read -r code text; do
  launch quiet 1 -q --max-restarts 1 -- sh -c "exit $code"
  same "-q $code: status" "$code" "$status"
  has "-q $code" quiet.err "not started again: $text"
  has_not "-q $code" quiet.err "starting again"
done << 'ROWS'
7 1 of 1 restarts are used up
2 status 2 would come again
75 it ended by preemption: status 75 says that it saved and can go on
ROWS
same "status 75: one start" 1 "$(grep -rl --include=run.json '"exit 75"' "$XDG_STATE_HOME"/ddlrun/runs | wc -l)"

# --- a TERM that comes while the end of a job that failed of it is still cleared away
cat > mpirun << 'PROGRAM'
#!/bin/bash
[ "$1" = --version ] && { echo "mpirun (Open MPI) 4.1.4"; exit; }
echo start >> starts
rm -f deaf
# As with a scheduler's TERM to all processes: first the ranks end, then launch gets the signal.
read -r _ _ _ guard _ < /proc/$$/stat
read -r _ _ _ launch _ < "/proc/$guard/stat"
(trap '' TERM; : > deaf; exec > /dev/null 2>&1; while kill -0 $$; do sleep 0.01; done; sleep 0.05; kill -TERM "$launch"; sleep 20) &
until [ -e deaf ]; do sleep 0.01; done # before it can get a signal
exit 143
PROGRAM
chmod +x mpirun
launch late 1 --max-restarts 3 --mpirun ./mpirun -- true
same "a late TERM: status" 143 "$status"
same "a late TERM: starts" start "$(cat starts)"
has "a late TERM" late.err "not started again: stopped by signal 15"

# --- the scheduler's signals and the real trainer: saved, one start, status 75; a crash starts again
train=$DDLRUN_BUILD_DIR/runtime/ddl-train
if [[ ! -x $train ]]; then
  echo 'left out: no trainer was built'
  finish
  exit
fi
ranks=2
"$DDLRUN" launch 2 --dry-run -- true > /dev/null 2>&1 || ranks=1
images=$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset
ranks_of() { # the trainers of this run, by its checkpoint directory
  grep -lzxF -- "$1" /proc/[0-9]*/cmdline 2> /dev/null | cut -d/ -f3 | while read -r pid; do
    [[ $(readlink "/proc/$pid/exe") == "$(readlink -f "$train")" ]] && echo "$pid"
  done
}
train_until() { # NAME STEPS: in the background, until it has saved twice
  "$DDLRUN" launch $ranks -q --max-restarts 3 -- --data "$images" --threads 1 --global-batch 36 --total-steps "$2" \
    --checkpoint "$work/$1.saved" --checkpoint-every 5 > "$1.out" 2> "$1.err" < /dev/null &
  job=$!
  for _ in $(seq 1 600); do [[ -e $1.saved/latest ]] && return; sleep 0.05; done
  fail "$1: no checkpoint: $(tail -3 "$1.err")"
}
starts() { grep -lF -- "$work/$1.saved" "$XDG_STATE_HOME"/ddlrun/runs/*/argv | wc -l; }
for row in "TERM launch" "USR1 launch" "TERM ranks" "USR1 ranks"; do
  read -r signal whom <<< "$row"
  name=$signal.$whom
  train_until "$name" 1000000
  if [[ $whom = launch ]]; then
    kill -s "$signal" $job
  else
    mapfile -t pids < <(ranks_of "$work/$name.saved")
    same "$name: ranks found" $ranks ${#pids[@]}
    kill -s "$signal" "${pids[@]}"
  fi
  wait $job
  same "$name: status" 75 $?
  same "$name: starts" 1 "$(starts "$name")"
  step=$(sed -n 's/^ddl-train: note: stopped by .* after step \([0-9]*\).*; checkpoint saved.*/\1/p' "$name.err")
  check "$name: saved where it stopped" test -e "$name.saved/$(printf 'ckpt-%06d.safetensors' "${step:-0}")"
  has "$name: why it was not started again, with -q too" "$name.err" "ddlrun: not started again: "
done
has "TERM to the ranks" TERM.ranks.err "it ended by preemption: status 75"
has "USR1 to launch" USR1.launch.err "stopped by signal 10"
has "USR1 to launch: it saved" USR1.launch.err "stopped by signal 10 (SIGUSR1), after which it saved (status 75)"
train_until crash 400
mapfile -t pids < <(ranks_of "$work/crash.saved")
kill -KILL "${pids[0]}"
wait $job
same "a crash: status" 0 $?
same "a crash: starts" 2 "$(starts crash)"
finish
