#!/bin/bash
# SPDX-License-Identifier: MIT
# A supervisor beside each rank changes nothing for the program and leaves no process behind: statuses,
# signals, streams, children; with the mpirun that is installed, on this machine.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"

ranks=2
"$DDLRUN" launch 2 --dry-run -- true > /dev/null 2>&1 || ranks=1
last=$((ranks - 1))

# Processes that sleep for so many seconds; the number names our own. (The brackets keep grep from finding itself.)
left() {
  grep -lzxe "[${1:0:1}]${1:1}" /proc/[0-9]*/cmdline 2> /dev/null | while read -r file; do
    [[ $({ tr '\0' ' ' < "$file"; } 2> /dev/null) == "sleep "* ]] && echo "$file"
  done | wc -l
}
wait_for() { # SECONDS-NAME COUNT
  for _ in $(seq 1 100); do
    [[ $(left "$1") -eq $2 ]] && return 0
    sleep 0.05
  done
  echo "$(left "$1") sleepers, not $2"
  return 1
}
new_name() { echo $((200000 + RANDOM * 20 + RANDOM % 20)); }

# --- the program's own status, whatever it is
statuses() {
  own_place
  for code in 0 1 2 7 85 126 127 255; do
    launch code 1 -- sh -c "exit $code"
    same "exit $code" "$code" "$status"
  done
  # shellcheck disable=SC2016
  for signal in KILL SEGV ABRT TERM USR1 PIPE; do
    launch signal 1 -- sh -c 'kill -'$signal' $$'
    same "signal $signal" $((128 + $(kill -l $signal))) "$status"
    has "signal $signal" signal.err "rank 0 on $(hostname) failed first: it was ended by signal $(kill -l $signal) (SIG$signal)"
    has "signal $signal" "$(directory_of signal)/run.json" "\"signal\": $(kill -l $signal)"
  done
  launch exited 1 -- sh -c 'exit 7'
  has "exit 7" exited.err "rank 0 on $(hostname) failed first: it exited with status 7"
  # shellcheck disable=SC2016
  launch second $ranks -- sh -c '[ $OMPI_COMM_WORLD_RANK = '$last' ] && { sleep 0.3; exit 9; }; sleep 30'
  same "one rank fails: status" 9 "$status"
  has "one rank fails" second.err "ddlrun: rank $last on $(hostname) failed first: it exited with status 9"
  # The rank that was killed from outside, not one that ends because of it and is reported first; nor one that mpirun kills.
  # PRRTE 3.0.8 may end the killed rank's supervisor before it reports, so that there the kill comes first.
  other='exit 14'
  [[ $open_mpi -lt 5 ]] || other='{ sleep 0.6; exit 14; }'
  launch killed $ranks -- sh -c "[ \$OMPI_COMM_WORLD_RANK = $last ] || $other; trap '' TERM; sleep 0.3; kill -KILL \$\$"
  has "killed from outside" killed.err "rank $last on $(hostname) failed first: it was ended by signal 9 (SIGKILL)"
  has "killed from outside" killed.err 'try:'
  # shellcheck disable=SC2016
  launch by_mpirun $ranks -- sh -c '[ $OMPI_COMM_WORLD_RANK != 0 ] || exit 14; trap "" TERM; sleep 20'
  has "killed by mpirun" by_mpirun.err "rank 0 on $(hostname) failed first: it exited with status 14"

  # A rank that ends by itself without a word, while the others report that it is gone.
  if [[ $ranks -gt 1 ]]; then
    launch alone 2 -- /usr/bin/python3 -c 'import os, sys, time, traceback
if os.environ["OMPI_COMM_WORLD_RANK"] == "1":
    time.sleep(1)
    sys.exit(3)
try: raise RuntimeError("[pair.cc:598] Connection closed by peer [10.83.1.4]:52368")
except RuntimeError: traceback.print_exc()
time.sleep(20)'
    same "a rank that ends by itself: status" 3 "$status"
    has "a rank that ends by itself" alone.err "cause: unknown: rank 1 on $(hostname) exited with status 3 by itself and printed no error"
    has "a rank that ends by itself" alone.err "  | RuntimeError: [pair.cc:598] Connection closed by peer"
    has_not "a rank that ends by itself" alone.err "  | Traceback"
    has "a rank that ends by itself" alone.err "what ends it with status 3"
  fi
}

# --- streams: stdin arrives, stdout is byte for byte, stderr holds nothing of ours
streams() {
  own_place
  head -c 3000000 /dev/urandom > random
  # Open MPI's mpirun itself crashes in one of twenty such runs: the test reports that and counts it as no result.
  for _ in 1 2 3 4 5 6; do
    "$DDLRUN" launch 1 -- sh -c 'tee /dev/stderr' < random > copy.out 2> copy.err
    status=$?
    grep -aq '\.so(orte_iof_hnp_read_local_handler' copy.err || break
    same "mpirun crashes on both streams: status" 139 "$status"
    has "mpirun crashes on both streams" copy.err "cause: mpirun itself crashed: no rank did [E28]"
  done
  same "stdin and stdout: status" 0 "$status"
  check "stdin and stdout" cmp -s random copy.out
  launch flood 1 -- sh -c 'seq 500000 >&2'
  same "stderr: all of it, and nothing else" "$(seq 500000 | md5sum)" "$(grep -v '^ddlrun: \|^+ ' flood.err | md5sum)"
}

# --- signals: one delivery, to the program and its children
signals() {
  own_place
  cat > counter.sh <<'PROGRAM'
trap 'echo USR1 >> usr1.$OMPI_COMM_WORLD_RANK' USR1
touch ready.$OMPI_COMM_WORLD_RANK
for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.3; done
PROGRAM
  "$DDLRUN" launch $ranks -- bash counter.sh > usr1.out 2> usr1.err < /dev/null &
  for _ in $(seq 1 100); do [[ -e ready.$last ]] && break; sleep 0.05; done
  sleep 0.5
  kill -USR1 $!
  wait $!
  for rank in $(seq 0 $last); do same "USR1 of rank $rank" 1 "$(wc -l < "usr1.$rank")"; done

  # A signal to the supervisor alone reaches the program.
  # shellcheck disable=SC2016
  "$DDLRUN" launch 1 -- bash -c 'trap "echo got TERM; exit 5" TERM; echo $PPID > guard; sleep 30 & wait' > term.out 2> term.err < /dev/null &
  for _ in $(seq 1 100); do [[ -s guard ]] && break; sleep 0.05; done
  sleep 0.2
  kill -TERM "$(ps -o ppid= -p "$(cat guard)" | tr -d ' ')"
  wait $!
  same "TERM to the keeper: status" 5 $?
  has "TERM to the keeper" term.out "got TERM"

  # TERM to the job: 128 + 15, unless all ranks say one thing, as 75 of those that saved and can go on.
  # shellcheck disable=SC2016
  "$DDLRUN" launch $ranks -- bash -c 'trap "exit 75" TERM; : > saved.$OMPI_COMM_WORLD_RANK; sleep 30 & wait' > saved.out 2> saved.err < /dev/null &
  for _ in $(seq 1 100); do [[ -e saved.0 && -e saved.$last ]] && break; sleep 0.05; done
  sleep 0.2
  kill -TERM $!
  wait $!
  same "TERM to a job that saves: status" 75 $?
  has "TERM to a job that saves" saved.err "ddlrun: the job saved after signal 15 (SIGTERM), and can go on (status 75)"
}

# --- nothing is left: children, sessions of their own, daemons; of good ends and bad ones
nothing_left() {
  own_place
  name=$(new_name)
  cat > family.sh <<'PROGRAM'
sleep $1 &
setsid sleep $1 &
(setsid sh -c "sleep $1 & exit" &)
sleep 0.3
PROGRAM
  launch good $ranks -- bash family.sh "$name"
  same "a good end: status" 0 "$status"
  check "a good end: all is gone" wait_for "$name" 0
  # shellcheck disable=SC2016
  launch crash $ranks -- bash -c '. ./family.sh "$0"; kill -SEGV $$' "$name"
  same "a crash: status" 139 "$status"
  check "a crash: all is gone" wait_for "$name" 0
  for victim in rank keeper guard mpirun ddlrun; do
    name=$(new_name)
    rm -f pid.0
    # shellcheck disable=SC2016
    "$DDLRUN" launch $ranks -- bash -c 'trap "" TERM; . ./family.sh "$0"; echo $$ $PPID > pid.$OMPI_COMM_WORLD_RANK; sleep $0' "$name" \
      > kill.out 2> kill.err < /dev/null &
    job=$!
    check "$victim: it starts" wait_for "$name" $((4 * ranks))
    for _ in $(seq 1 100); do [[ -s pid.0 ]] && break; sleep 0.05; done
    read -r program guard < pid.0
    keeper=$(ps -o ppid= -p "$guard" | tr -d ' ')
    case $victim in
      rank) kill -KILL "$program" ;;
      keeper) kill -KILL "$keeper" ;;
      guard) kill -KILL "$guard" ;;
      mpirun) kill -KILL "$(ps -o ppid= -p "$keeper" | tr -d ' ')" ;;
      ddlrun) kill -KILL $job ;;
    esac
    wait $job 2> /dev/null
    same "$victim killed: status" 137 $?
    check "$victim killed: all is gone" wait_for "$name" 0
  done
}

# --- nor is anything left of what MPI made: mpirun alone knows its files, so it must live long enough to remove them
no_files_left() {
  own_place
  shared_files() {
    local process
    for process in $(grep -lzxe "$1" /proc/[0-9]*/cmdline 2> /dev/null); do
      grep -o '/dev/shm/[^ ]*\|[^ ]*/ompi\.[^ ]*' "${process%cmdline}maps" 2> /dev/null
    done | sort -u
  }
  for victim in ddlrun guard; do
    [[ -x $DDLRUN_BUILD_DIR/runtime/ddl-train && $ranks -gt 1 ]] || { echo "left out: no trainer, or one core"; break; }
    seed=$((100000 + RANDOM))
    "$DDLRUN" launch 2 -- --data "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" --epochs 1000000 --quiet --seed $seed \
      --metrics shared.jsonl > shared.out 2> shared.err < /dev/null &
    job=$!
    for _ in $(seq 1 200); do [[ -s shared.jsonl ]] && break; sleep 0.1; done
    mapfile -t files < <(shared_files $seed)
    check "$victim of an MPI program: it shares memory" test ${#files[@]} -gt 0
    case $victim in
      ddlrun) kill -KILL $job ;;
      guard) kill -KILL "$(pgrep -P $job -x ddlrun-guard)" ;;
    esac
    wait $job 2> /dev/null
    for _ in $(seq 1 50); do
      kept=$(for file in "${files[@]}"; do [[ ! -e $file ]] || echo "$file"; done)
      [[ -z $kept ]] && break
      sleep 0.1
    done
    same "$victim of an MPI program killed: files that stay" "" "$kept"
    rm -f shared.jsonl
  done
}

# --- an mpirun that does not end after its ranks is ended, and the status is theirs; one whose reader waits is not
endless() {
  own_place
  cat > endless_mpirun <<'PROGRAM'
#!/bin/bash
[[ ${1-} != --version ]] || exec mpirun --version
mpirun "$@"
exec sleep 86400
PROGRAM
  sed 's/^exec sleep/trap "" TERM; &/' endless_mpirun > deaf_mpirun
  sed -e 's/^mpirun.*/& > all/' -e 's/^exec sleep.*/exec cat all/' endless_mpirun > held_mpirun
  # Its daemon does not report the end of rank 0.
  sed 's/^mpirun.*/& 2> >(grep -v "rank=0 .*ended" >\&2)/' endless_mpirun > silent_mpirun
  chmod 755 endless_mpirun deaf_mpirun held_mpirun silent_mpirun
  timed() { # NAME COMMAND...: with a limit, as a run that hangs is the fault; its status and seconds in NAME.end
    local begun=$SECONDS
    timeout -k 1 90 "${@:2}" > "$1.out" 2> "$1.err" < /dev/null
    echo "$? $((SECONDS - begun))" > "$1.end"
  }
  # One rank: PRRTE 3.0.8 may end the supervisor of a second one before it reports.
  timed endless "$DDLRUN" launch 1 --mpirun ./endless_mpirun -- sh -c 'exit 7' &
  timed silent "$DDLRUN" launch $ranks --mpirun ./silent_mpirun -- sh -c '[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 7; sleep 20' &
  timed deaf "$DDLRUN" launch $ranks --mpirun ./deaf_mpirun -- true &
  "$DDLRUN" launch 1 --mpirun ./held_mpirun -- seq 100000 2> held.err < /dev/null | { sleep 14; md5sum; } > held.out &
  wait
  for row in endless:7:30 deaf:0:45 silent:7:80; do
    IFS=: read -r name expected most <<< "$row"
    read -r status seconds < "$name.end"
    same "$name mpirun: status" "$expected" "$status"
    check "$name mpirun: $seconds s" test "$seconds" -lt "$most"
    [[ $name == silent ]] || has "$name mpirun" "$name.err" "but mpirun has not within 10 s: ddlrun ends it"
    has "$name mpirun" "$name.err" "at:  ./${name}_mpirun"
    has "$name mpirun" "$(directory_of "$name")/run.json" "\"exit_status\": $expected"
  done
  has "endless mpirun" endless.err "failed first: it exited with status 7"
  has_not "deaf mpirun" deaf.err "failed first"
  has "silent mpirun" silent.err "rank 1 has failed, but mpirun neither ends nor does anything for 45 s: ddlrun ends it"
  has_not "a reader that waits" held.err "but mpirun has not"
  same "a reader that waits" "$(seq 100000 | md5sum)" "$(cat held.out)"
}

# A program may talk of lost hosts as it likes.
talks() {
  own_place
  launch talk 1 -- sh -c 'echo "ORTE has lost communication with a remote daemon." >&2; sleep 2'
  same "talk of a lost host: status" 0 "$status"
}

# The longest first.
for part in endless nothing_left no_files_left signals statuses streams talks; do beside $part; done
all_done
cd "$work" || exit 2

# --- a host without ddlrun at that path starts the program all the same
"$DDLRUN" launch 1 not-this-host --sockets 1 --cores 1 --dry-run -- printf '%s|' 'a b' "it's" '' > script 2> /dev/null
shell=$(tail -1 script | sed -n "s/.*\\(\\/bin\\/sh -c .*\\)/\\1/p")
same "without ddlrun" "a b|it's||" "$(bash -c "${shell//$(readlink -f "$DDLRUN")//no/ddlrun}")"
same "with ddlrun" "a b|it's||" "$(DDLRUN_RANKS=$(grep '^{"schema":"ddlrun.ranks' script) OMPI_COMM_WORLD_RANK=0 bash -c "$shell")"

finish
