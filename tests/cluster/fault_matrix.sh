#!/bin/bash
# SPDX-License-Identifier: MIT
# Faults while a command runs: a matrix of command, fault and moment. A judge looks from outside after each row: the
# exit status and the message that names the fault; processes, shared memory, session directories and temporary files
# that are left; files that are whole; a record of each run that began.
#   fault_matrix.sh [WORD...]   only the groups with these names: kills disks memory hosts network names clock home submit
# MATRIX_FULL=1 for every moment and the slow rows; MATRIX_STEP=7: then each 7th system call only. MATRIX_TABLE=FILE
# for the results as a table. kills.sh, watch.sh, restart.sh and tests/mpi/checkpoint_kills.sh have rows of their own.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
# shellcheck source=tests/cluster/lib/leftovers.sh
. "$lab_tests/lib/leftovers.sh"
command -v mpirun > /dev/null || { echo "skipped: no mpirun here (apt-get install openmpi-bin)"; exit 125; }
command -v cc > /dev/null || { echo "skipped: no C compiler"; exit 125; }
lab_up 2
# shellcheck disable=SC2034 # read by the groups
full=${MATRIX_FULL-}
groups=("$@")
hosts=(node1 node2)
know_hosts "${hosts[@]}"
cc -O1 -o "$lab_home/bin/kill_at" "$lab_tests/fault_matrix/kill_at.c" || exit 1
cp "$lab_tests/fault_matrix/judge.py" "$lab_home/bin/"
trainer=$DDLRUN_BUILD_DIR/runtime/ddl-train
[ ! -x "$trainer" ] || install_trainer
cp -r "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" "$lab_home/data"
# The rank: it leaves a mark, and works for a moment or until it may end.
cat > "$lab_home/rank" << 'PROGRAM'
#!/bin/bash
: > "ran-${OMPI_COMM_WORLD_RANK:-$DDLRUN_RANK}"
echo begin
for ((i = 0; i < ${1:-3}; i++)); do sleep 0.1; done
echo end
PROGRAM
chmod 755 "$lab_home/rank"
chown -R 2000:2000 "$lab_home"
keep_as_before

# What a row is judged by, set by the function that runs it: the exit status; 1 if ddlrun itself could write to the end.
status=0 alive=1
declare -A runs lost half left hung wrong slowest
keys=()
# row COMMAND FAULT MOMENT STATUSES MESSAGE FUNCTION WORDS...: STATUSES and MESSAGE are extended regular expressions; the
# message is looked for in what the command printed, "-" for none.
row() {
  local key="$1 | $2 | $3" name="$1, $2, $3 (${*:6})" begun=$SECONDS
  [ -n "${runs[$key]-}" ] || keys+=("$key")
  runs[$key]=$((${runs[$key]-0} + 1))
  alive=1 patience=${patience:-60}
  LAB_PATIENCE=$patience "${@:6}"
  [ $((SECONDS - begun)) -lt "$patience" ] || count hung "$name: not ended after $patience s"
  [[ $status =~ ^($4)$ ]] || count wrong "$name: status $status, not $4: $(tail -n 3 "$work/job.err")"
  [ "$5" = - ] || grep -qE -- "$5" "$work/job.err" "$work/job.out" || count wrong "$name: no '$5': $(tail -n 4 "$work/job.err")"
  wait_for_end "${within:-30}"
  while read -r line; do count left "$name: $(cut -c1-160 <<< "$line")"; done < "$work/left"
  cut -d' ' -f1 "$work/left" | xargs -r kill -KILL 2> /dev/null
  look
  on node1 "$tool" history > "$work/history" 2>&1 || count lost "$name: history: $(tail -n 2 "$work/history")"
  clear_hosts
  [ $((SECONDS - begun)) -le "${slowest[$key]-0}" ] || slowest[$key]=$((SECONDS - begun))
}
# What the files on node1 show; a row whose disk goes away with it looks before.
look() {
  local word rest
  while read -r word rest; do [ -z "$word" ] || count "$word" "$name: $rest"; done \
    < <(on node1 python3 bin/judge.py /home/ddl "$status" "$alive")
}
count() { # KIND TEXT
  declare -n table=$1
  # shellcheck disable=SC2004 # the keys are words
  table[$key]=$((${table[$key]-0} + 1))
  fail "$1: $2"
}
# The hosts' own directories must be empty; then nothing of this row is there for the next.
clear_hosts() {
  local host found
  for host in "${hosts[@]}"; do
    found=$(as_root "$host" find /dev/shm /tmp -mindepth 1 -not -path '/tmp/hsperf*')
    [ -z "$found" ] || count left "$name: $host: ${found//$'\n'/ }"
    as_root "$host" find /dev/shm /tmp -mindepth 1 -delete
  done
  rm -rf --one-file-system "$lab_home"/.local/state/ddlrun "$lab_home"/ran-* "$lab_home"/run-*
}
# launch WORDS...: on both hosts, streams in $work/job.out and job.err, status in $status
launch() {
  status=0
  on node1 "$tool" launch 1x2x1 node1,node2 --sockets 1 --cores 2 "$@" > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
}
doctor() {
  status=0
  on node1 "$tool" doctor "$@" node1,node2 > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
}
wanted() { [ ${#groups[@]} -eq 0 ] || [[ " ${groups[*]} " == *" $1 "* ]]; }

for group in kills disks memory hosts network names clock home submit; do
  # shellcheck source=/dev/null
  ! wanted "$group" || . "$lab_tests/fault_matrix/$group.sh"
done

{
  echo '| command | fault | moment | runs | lost | half-written | left behind | hung | wrong | slowest |'
  echo '|---|---|---|---|---|---|---|---|---|---|'
  for key in "${keys[@]}"; do
    echo "| $key | ${runs[$key]} | ${lost[$key]-0} | ${half[$key]-0} | ${left[$key]-0} | ${hung[$key]-0} | ${wrong[$key]-0} | ${slowest[$key]-0} s |"
  done
} | tee "${MATRIX_TABLE:-/dev/null}"
finish
