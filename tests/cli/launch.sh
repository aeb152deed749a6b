#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch` with the mpirun that is installed, on this machine.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"

ranks=2
"$DDLRUN" launch 2 --dry-run -- true > /dev/null 2>&1 || ranks=1
numbers=$(seq 0 $((ranks - 1)))
rankfile_option=--rankfile
[[ $open_mpi -lt 5 ]] || rankfile_option='--map-by rankfile:file='

# --- a dry run writes nothing and is a script that does the same
# shellcheck disable=SC2016
say='echo $OMPI_COMM_WORLD_RANK $OMP_NUM_THREADS $CUDA_DEVICE_ORDER'
launch dry $ranks --dry-run -- sh -c "$say"
same "dry run: status" 0 "$status"
check "dry run: no state directory" test ! -e "$XDG_STATE_HOME"
launch drydir $ranks --dry-run --run-dir kept -- true
check "dry run: no --run-dir" test ! -e kept
check "dry run: bash reads it" bash -n dry.out
has_not "dry run" dry.out "by launch itself"
for words in "--rank-output files" "--rank-output prefix" "--tee" "--max-restarts 2"; do
  # shellcheck disable=SC2086 # these are words
  launch left_out 1 --dry-run $words -- true
  same "dry run $words: status" 0 "$status"
  has "dry run $words" left_out.out "# ${words%% 2} is done by launch itself: this script "
done
launch real $ranks -- sh -c "$say"
same "launch: status" 0 "$status"
same "launch: the ranks" "$numbers" "$(cut -d' ' -f1 real.out | sort -n)"
check "launch: device order" grep -q PCI_BUS_ID real.out
same "dry run: the script does the same" "$(sort real.out)" "$(bash dry.out 2> /dev/null | sort)"
check "dry run: its script leaves no run" test "$(find "$XDG_STATE_HOME/ddlrun/runs" -mindepth 1 -maxdepth 1 | wc -l)" -eq 1
same "launch: the line of argv does the same" "$(sort real.out)" \
  "$(bash -c "$(sed -n '1s/^# //p' "$(directory_of real)/argv")" 2> /dev/null | sort)"

# --- ddlrun's own numbers, those of this rank in a launch inside a rank too
# shellcheck disable=SC2016
numbered='echo $DDLRUN_RANK $DDLRUN_SIZE $DDLRUN_LOCAL_RANK $DDLRUN_LOCAL_SIZE $DDLRUN_NODE_RANK $DDLRUN_NODE_COUNT'
launch numbers $ranks -- sh -c "$numbered"
same "the numbers of the ranks" "$(for n in $numbers; do echo "$n $ranks $n $ranks 0 1"; done)" "$(sort numbers.out)"
DDLRUN_RANK=9 DDLRUN_SIZE=10 DDLRUN_LOCAL_RANK=9 launch inner $ranks --verify -- sh -c "$numbered"
same "the numbers in a launch inside a rank" "$(sort numbers.out)" "$(sort inner.out)"
same "the numbers in a launch inside a rank: status" 0 "$status"

has_not "launch: the command is in argv" real.err "$rankfile_option"
[ "$(grep -c '^ddlrun: ' real.err)" -le 5 ] || fail "launch: more than five lines: $(cat real.err)"
launch verbose 1 -v -- true
has "launch -v: the command" verbose.err "$rankfile_option"
launch unexplained 1 -- sh -c 'exit 3'
same "a cause that is not known: status" 3 "$status"
has "a cause that is not known" unexplained.err "exited with status 3, and the output does not show why"
has "a cause that is not known" unexplained.err "  ddlrun doctor $(hostname)   # checks the hosts"
launch deck 1 -- sh -c 'echo "heat: cannot read the input deck material.dat" >&2; exit 7'
# Of Open MPI 5 the log ends with a message that names no error, so the line before it counts as a likely cause.
check "no known cause: the likely error line" grep -qE 'the last 1 line of rank 0 on stderr:|^most likely: heat: ' deck.err
check "no known cause: the likely error line" grep -qE '^(  \| |most likely: )heat: cannot read the input deck' deck.err
has_not "no known cause: the likely error line" deck.err "does not show why"
launch saved 2 -- sh -c 'echo bye >&2; exit 75'
same "status 75 of a program that saved: status" 75 "$status"
has "status 75 of a program that saved" saved.err "ddlrun: the job saved and can go on (status 75); run directory "
for text in "failed first" "checks the hosts" "what the output says"; do has_not "status 75 is no failure" saved.err "$text"; done
launch explained 1 -- sh -c 'echo "x: error while loading shared libraries: libx.so.1: cannot open shared object file: No such file or directory" >&2; exit 127'
has_not "a cause that is known" explained.err "does not show why"

# --- the run directory
directory=$(directory_of real)
same "run directory: mode" 700 "$(stat -c %a "$directory")"
for file in rankfile argv argv.nul environment plan.json topology-0.json run.json; do
  check "run directory: $file" test -s "$directory/$file"
done
has "run directory" "$directory/run.json" '"schema": "ddlrun.run/1"'
has "run directory" "$directory/run.json" '"exit_status": 0'
has "run directory" "$directory/environment" "exported PATH"
launch named $ranks --run-dir "$work/a run:1" -- true
same "--run-dir: status" 0 "$status"
same "--run-dir: mode" 700 "$(stat -c %a "$work/a run:1")"
if [ "$(id -u)" -eq 0 ]; then  # only root can give a directory to somebody else
  install -d -o 65534 "$work/foreign"
  launch foreign $ranks --run-dir "$work/foreign" -- true
  same "--run-dir of another user: status" 3 "$status"
  check "--run-dir of another user: nothing in it" test -z "$(ls -A "$work/foreign")"
  install -d -m 777 "$work/open"
  launch below $ranks --run-dir "$work/open/a/b" -- true
  same "--run-dir below a directory of everybody: status" 3 "$status"
  has "--run-dir below a directory of everybody" below.err "every user can write to $work/open"
fi
launch again $ranks --run-dir "$work/a run:1" -- true
same "--run-dir: an old run is not overwritten" 3 "$status"

# --- exit statuses are the program's
launch seven $ranks -- sh -c 'exit 7'
same "exit 7" 7 "$status"
has "exit 7" "$(directory_of seven)/run.json" '"exit_status": 7'
# shellcheck disable=SC2016
launch killed $ranks --verify -- sh -c 'kill -KILL $$'
same "a rank killed by signal 9" 137 "$status"

# --- words arrive byte for byte, with and without the wrapper
# shellcheck disable=SC1003,SC2016 # the point of these words is that nothing expands them
words=('a b' '"q"' "it's" $'two\nlines' '$(touch PWNED)' '`touch PWNED`' '' '*' '-n' '--mca' '\' $'\xff\xfe' ';' ':' '--' '%colon%')
printf '%s\0' "${words[@]}" > words.expected
# shellcheck disable=SC2016
for option in --verify --no-verify; do
  rm -f words.[0-9]*
  launch words $ranks $option -- sh -c 'for a; do printf "%s\0" "$a"; done > words.$OMPI_COMM_WORLD_RANK' sh "${words[@]}"
  for rank in $numbers; do check "words $option, rank $rank" cmp -s words.expected "words.$rank"; done
done
check "nothing was expanded on the way" test ! -e PWNED

# --- values reach the ranks and show nowhere
# shellcheck disable=SC2016
launch export 1 -x 'KEY=s3cret;a,b=c "x"' -- sh -c 'printf %s "$KEY" > key'
same "-x: the value" 's3cret;a,b=c "x"' "$(cat key)"
has_not "-x" export.err s3cret
# shellcheck disable=SC2016
check "-x: no value in the run directory" bash -c '! grep -rq s3cret "$1"' bash "$(directory_of export)"
launch unset 1 -x DDLRUN_TEST_UNSET -- true
same "-x of what is not set" 2 "$status"

# --- each rank's place: plan = report = the kernel's view inside the rank
# shellcheck disable=SC2016
launch places $ranks --verify -- sh -c 'grep Cpus_allowed_list /proc/self/status | cut -f2 > place.$OMPI_COMM_WORLD_RANK; echo to stderr >&2'
same "places: status" 0 "$status"
has "places" places.err "$ranks of $ranks ranks are where they were planned"
has_not "places" places.err "ddlrun-place"
same "places: the program's stderr" $ranks "$(grep -c '^to stderr$' places.err)"
for rank in $numbers; do
  has "places" "$(directory_of places)/run.json" "\"planned_pus\":\"$(cat "place.$rank")\""
  has "places" "$(directory_of places)/run.json" "\"found_pus\":\"$(cat "place.$rank")\",\"verdict\":\"ok\""
done
launch tagged $ranks --verify --tag-output -- sh -c 'echo to stderr >&2'
has_not "tagged" tagged.err "ddlrun-place"
same "tagged: lines" $ranks "$(grep -c '^\[[^]]*\]<stderr>: \?to stderr$' tagged.err)"
launch quiet $ranks -q --verify -- sh -c 'echo to stderr >&2'
same "-q: the program's own stderr, and nothing else" "$(yes 'to stderr' | head -$ranks)" "$(cat quiet.err)"
launch quiet_failed 1 -q -- sh -c 'exit 3'
has "-q: the rank that failed" quiet_failed.err 'failed first: it exited with status 3'
has "-q: how the job ended" quiet_failed.err 'ddlrun: the job ended with status 3; run directory '
has_not "-q: nothing else" quiet_failed.err 'started by'
launch quiet_saved 1 -q -- sh -c 'exit 75'
has_not "-q: no failure" quiet_saved.err "ddlrun: "

# A prompt or a progress bar shows although its line is not finished yet.
"$DDLRUN" launch 1 --verify -- sh -c 'printf "half a line" >&2; sleep 3; echo ends >&2' > half.out 2> half.err < /dev/null &
for _ in $(seq 1 20); do grep -q 'half a line$' half.err && break; sleep 0.1; done
check "unfinished line" grep -q 'half a line$' half.err
wait $!
has "unfinished line" half.err "half a lineends"
run_v=$("$DDLRUN" launch 1 -v -x KEY=s3cret -- true 2>&1 < /dev/null)
check "-v: no value" test "${run_v/s3cret/}" = "$run_v"

# --- a plan that does not hold is caught: another rankfile wins, and cores that are not there
"$DDLRUN" launch 1 --dry-run -- true 2> /dev/null | sed -n 's/^rank 0=\([^ ]*\) .*/\1/p' > name
printf 'rank 0=%s slot=0:0\n' "$(cat name)" > one.rf
if [[ $ranks -eq 2 ]]; then
  printf 'rank 0=%s slot=0:1\n' "$(cat name)" > other.rf
  another=(--mpi-arg --rankfile --mpi-arg other.rf)
  if [[ $open_mpi -ge 5 ]]; then  # PRRTE 3.0.8 refuses two rankfiles: its mpirun gets the other one
    printf '#!/bin/sh\nexec mpirun "$@" 9< other.rf\n' > swaps
    chmod +x swaps
    another=(--mpirun ./swaps)
  fi
  launch differs --rankfile one.rf --verify "${another[@]}" -- true
  same "differs: status" 0 "$status"
  has "differs" differs.err "DIFFERS"
  has "differs" differs.err "ddlrun: warning: 1 of 1 ranks are NOT where they were planned"
  launch strict --rankfile one.rf --strict "${another[@]}" -- true
  same "--strict: status" 1 "$status"
  launch strict4 --rankfile one.rf --strict "${another[@]}" -- sh -c 'exit 4'
  same "--strict: the program's failure comes first" 4 "$status"
fi
launch madeup 1 --strict --sockets 1 --cores 1 --smt 16 -- true
same "made-up machine: status" 1 "$status"
has "made-up machine" madeup.err "of 16 planned PUs"

# --- a rankfile of the user's is checked before anything runs
printf 'rank 1=%s slot=0:0\nrank 0=%s slot=0:0\n' "$(cat name)" "$(cat name)" > bad.rf
launch bad --rankfile bad.rf -- touch ran
same "bad rankfile: status" 3 "$status"
has "bad rankfile" bad.err "bad.rf:2:"
printf 'rank 0=%s slot=0:9999\n' "$(cat name)" > nocore.rf
launch nocore --rankfile nocore.rf -- touch ran
same "a core that is not there: status" 3 "$status"
has "a core that is not there: what finds it" nocore.err "ddlrun doctor --rankfile nocore.rf"
launch count 3 --rankfile one.rf -- touch ran
same "dims that disagree: status" 3 "$status"
launch number -n 2 -rf one.rf -- touch ran
same "-n that disagrees: status" 3 "$status"
has "-n that disagrees" number.err "rank 1 has no line; 2 ranks are requested"
launch alloc 1 not-this-host --rankfile one.rf -- touch ran
same "a host outside the given ones: status" 3 "$status"

# --- refusals before anything is started
launch missing 1 -- no_such_program_anywhere
same "program not found" 3 "$status"
touch not_executable
launch noexec 1 --verify -- ./not_executable
same "program not executable" 3 "$status"
launch nompi 1 --mpirun no_such_mpirun -- touch ran
same "mpirun not found" 3 "$status"
has "mpirun not found" nompi.err "try: apt-get install openmpi-bin"
launch other 1 --mpirun "$(command -v true)" -- touch ran
same "an mpirun that is not Open MPI's" 3 "$status"
launch dashes 1 ./not_executable
same "a program without --" 2 "$status"
launch many 9999999x1x1 -- touch ran
check "too many ranks" test "$status" -ne 0
if [[ $(id -u) -eq 0 ]]; then
  (unset OMPI_ALLOW_RUN_AS_ROOT_CONFIRM && launch root 1 -- touch ran && exit "$status")
  same "root is refused" 3 $?
  (unset OMPI_ALLOW_RUN_AS_ROOT_CONFIRM && launch root 1 --allow-run-as-root -- true && exit "$status")
  same "root on demand" 0 $?
fi
check "nothing was started by any of them" test ! -e ran

# --- the trainer's options are judged once, by one process, before mpirun and also at --dry-run
if [[ -x $DDLRUN_BUILD_DIR/runtime/ddl-train ]]; then
  while read -r expected text words; do
    for dry in "" --dry-run; do
      # shellcheck disable=SC2086 # these are words
      launch refused $ranks $dry --run-dir unmade -- ${words/#TRAINER/$DDLRUN_BUILD_DIR/runtime/ddl-train}
      same "$words $dry: status" "$expected" "$status"
      same "$words $dry: one message" 1 "$(grep -c '^ddl-train: error: ' refused.err)"
      has "$words $dry" refused.err "${text//_/ }"
      has_not "$words $dry" refused.err "mpirun -n"
      same "$words $dry: stdout" "" "$(cat refused.out)"
      check "$words $dry: no run directory" test ! -e unmade
    done
  done << 'ROWS'
2 did_you_mean_--epochs? --epochz 3
2 did_you_mean_lenet5? --net lenet
3 does_not_exist --data /nonexistent/images
3 cannot_be_read --net /nonexistent/net.yaml
2 leave_no_worker --parameter-servers 64
2 did_you_mean_--epochs? TRAINER --epochz 3
2 --device_cuda TRAINER train -solver=s.prototxt -gpu 0
ROWS
  launch refusedq 1 -q -- --epochz 3
  has "the trainer's refusal with -q" refusedq.err "did you mean --epochs?"
  # Only if a rank would find the same: not with mpirun's own options, such as another directory.
  launch elsewhere 1 --dry-run --mpi-arg --wdir --mpi-arg /nonexistent -- --data images
  same "files of another directory: status" 0 "$status"
  launch own 1 --dry-run -- true --epochz 3
  same "another program's words: status" 0 "$status"
else
  echo 'left out: no trainer was built'
fi

# --- signals: to ddlrun, and nothing is left. The number of seconds names our own processes.
for signal in TERM INT KILL; do
  seconds=$((100000 + RANDOM))
  # In a group of its own, as a job-control shell would: else INT is ignored from the start.
  (set -m; exec "$DDLRUN" launch $ranks --verify -- sh -c "sleep $seconds; true" > signal.out 2> signal.err) &
  wait_for "$seconds" $ranks
  kill -"$signal" $!
  wait $! 2> /dev/null
  status=$?
  same "$signal: status" $((128 + $(kill -l $signal))) $status
  check "$signal: no rank is left" wait_for "$seconds" 0
done

# timeout(1) and a script signal a whole process group. mpirun is in another one: a rank has the time to save.
seconds=$((100000 + RANDOM))
set -m
"$DDLRUN" launch 1 -- bash -c "trap 'sleep 3; echo yes > saved; exit 75' TERM; sleep $seconds & wait" \
  > signal.out 2> signal.err < /dev/null &
set +m
wait_for "$seconds" 1
kill -INT -- -$!
wait $! 2> /dev/null
same "INT to the process group: status" 75 $?
same "INT to the process group: the rank saved" yes "$(cat saved 2> /dev/null)"
check "INT to the process group: no rank is left" wait_for "$seconds" 0

# mpirun crashes on a signal, as it may while a rank fails: its crash is not the job's exit status.
cat > crashes << 'END'
#!/bin/bash
[[ $* == *--version* ]] && exec mpirun "$@"
mpirun "$@" &
trap 'kill -URG $!; wait $!; ulimit -c 0; kill -SEGV $$' URG # by which ddlrun ends the ranks
wait $!
END
chmod +x crashes
for row in '130 :' '9 exit 9'; do
  seconds=$((100000 + RANDOM))
  (set -m; exec "$DDLRUN" launch 1 --mpirun "$work/crashes" -- \
    bash -c "trap '${row#* }; kill -9 \$\$' TERM; sleep $seconds & wait" > signal.out 2> signal.err) &
  wait_for "$seconds" 1
  kill -INT $!
  wait $! 2> /dev/null
  same "mpirun crashes, the rank: ${row#* }" "${row%% *}" $?
  has "mpirun crashes: the signal in history is none of its own" "$(directory_of signal)/run.json" '"signal": 0'
  check "mpirun crashes: no rank is left" wait_for "$seconds" 0
done

# mpirun itself is killed: the ranks get their death signal, although their program knows nothing of MPI.
seconds=$((100000 + RANDOM))
"$DDLRUN" launch $ranks --verify -- sh -c "sleep $seconds; true" > signal.out 2> signal.err < /dev/null &
wait_for "$seconds" $ranks
read -r guard _ < "/proc/$!/task/$!/children"
read -r mpirun_pid _ < "/proc/$guard/task/$guard/children"
kill -KILL "$mpirun_pid"
wait $! 2> /dev/null
status=$?
same "mpirun killed: status" 137 "$status"
check "mpirun killed: no rank is left" wait_for "$seconds" 0

# --- a file that cannot be run is found before anything starts
printf '#!/bin/sh\n' > plain.py
launch plain 2 -- ./plain.py
same "without its x: status" 3 "$status"
has "without its x" plain.err "try: python3 ./plain.py, or chmod +x ./plain.py"
launch directory 2 -- "$work"
same "a directory: status" 3 "$status"
finish
