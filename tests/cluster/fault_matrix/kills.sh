# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# A process of a command is killed as it begins its N-th system call: N = 1 to the last. The short form takes a few.

# kill_at_call NAME WORD N COMMAND...
kill_at_call() {
  status=0
  on node1 bin/kill_at "$1" "$2" "$3" "${@:4}" > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
  # ddlrun that was killed itself wrote no end.
  if [ "$1" = ddlrun ] && [ "$2" = "$own_word" ] && grep -q 'kill_at: signal 9' "$work/job.err"; then alive=0; fi
}
# kill_process COMMAND NAME WORD STATUSES MESSAGE CALLS ROWS: in the short form, ROWS of about so many calls; in the full
# form the calls are counted first.
kill_process() {
  local calls=$6 n step=$(($6 / $7))
  if [ -n "$full" ]; then
    on node1 bin/kill_at "$2" "$3" 0 "${command[@]}" > /dev/null 2> "$work/job.err" < /dev/null
    calls=$(sed -n 's/^kill_at: \([0-9]*\) calls$/\1/p' "$work/job.err")
    [ "${calls:-0}" -gt 0 ] || { fail "$1: no process $2 $3: $(tail -n 3 "$work/job.err")"; return; }
    wait_for_end 30
    clear_hosts
    step=${MATRIX_STEP:-1}
  fi
  for ((n = 1 + RANDOM % step; n <= calls; n += step)); do
    row "$1" "$2 ${3#-*} killed" 'at each system call' "$4" "$5" kill_at_call "$2" "$3" "$n" "${command[@]}"
  done
}
key=start name=start # of clear_hosts before the first row
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "kills: seed $seed"

both=node1,node2
own_word=launch
command=("$tool" launch 1x2x1 "$both" --sockets 1 --cores 2 --rank-output files -- ./rank)
kill_process launch ddlrun launch '137|0' - 460 3
kill_process launch ddlrun-guard launch '3|137|0' 'process guard|ended well' 45 2
kill_process launch mpirun -n '137|5|0' 'signal 9|status 5|ended well' 2500 2
kill_process launch ddlrun exec '137|0' 'SIGKILL|ended well' 150 1
kill_process launch ddlrun-guard exec '126|137|0' 'process guard|SIGKILL|ended well' 45 1

command=("$tool" launch 1x2x1 "$both" --launcher ssh --sockets 1 --cores 2 --rank-output files -- ./rank)
kill_process 'launch, ssh' ddlrun launch '137|0' - 380 1
kill_process 'launch, ssh' ddlrun ssh-launch '137|0' 'signal 9|ended well' 250 2
kill_process 'launch, ssh' ddlrun ssh-daemon '137|5|0' 'node1|ended well' 200 1
kill_process 'launch, ssh' ssh - '255|5|0' 'node2|ended well' 2400 1

own_word=doctor
command=("$tool" doctor "$both")
kill_process doctor ddlrun doctor '137|0|1' - 600 1
kill_process doctor ssh - '0|1|5' - 350 1
