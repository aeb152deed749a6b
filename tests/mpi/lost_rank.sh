#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that stops, dies, leaves or calls something else inside a sum: the others soon report which, and end. On
# one host, and on hosts that are UTS namespaces of this machine: there too all name that rank and not their neighbour.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/lost_rank}

beside expect 0 'all sums are made' ranks 3 "$program" none
beside expect 0 'all sums are made' ranks 3 "$program" keep
# fate, most seconds, text that rank 0 or 2 must print
meets() {
  local fate=$1 seconds=$2 text=$3 begun=$SECONDS took
  run ranks 3 "$program" "$fate"
  took=$((SECONDS - begun))
  [ "$status" -ne 0 ] || fail "$fate: status 0"
  grep -q 'reported after' "$work/err" || fail "$fate: no rank reports it: $(head -5 "$work/err")"
  grep -q "$text" "$work/err" || fail "$fate: no '$text' in: $(grep -A1 reported "$work/err")"
  [ "$took" -le "$seconds" ] || fail "$fate: took $took s, not $seconds"
}
while read -r fate seconds text; do beside meets "$fate" "$seconds" "$text"; done << 'END'
stop 12 rank 1 .*has not come
kill 6 rank 1
leave 6 rank 1
exit 6 rank 1
return 6 reported after [01]\..* rank 1 (.*) makes no more calls, and this is all_reduce #21 (max) of 1000 float32 "conv1"
throw 6 reported after [01]\..* an exception ended the Context of rank 1 (.*)
throw 6 ^says itself: cannot open part-1.bin
shape 6 rank 1
type 6 rank 1
END

unshare --uts hostname ddlrun-test 2> /dev/null || { echo 'several hosts need root here (unshare --uts): left out'; finish; exit 0; }
[[ ${launcher[*]} == *--oversubscribe* ]] || { echo 'several hosts need Open MPI here: left out'; finish; exit 0; }
spread=(--mca if_base_do_not_resolve 1 --mca plm_rsh_agent "$here/../support/uts_ssh.sh"
  -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM)
with_files=$work/rank
cat > "$with_files" << 'RANK'
#!/bin/sh
echo $$ > "$1/pid.$OMPI_COMM_WORLD_RANK"
exec 2> "$1/said.$OMPI_COMM_WORLD_RANK"
shift
exec "$@"
RANK
chmod +x "$with_files"

# One stops: mpirun sees nothing, the others find out.
one_stops() {
  local hosts=$1 mode=$2 count=$3 more=${4-} said=$work/said job pid rank
  mkdir "$said"
  "${launcher[@]}" --host "$hosts" -n 4 "${spread[@]}" -x STALL=1 -x DDL_OPTIONS="-mode $mode $more" \
    "$with_files" "$said" "$program" stop "$count" > "$work/out" 2> "$work/err" < /dev/null &
  job=$!
  for _ in $(seq 150); do
    [ "$(grep -ls 'reported after' "$said"/said.* | wc -l)" -lt 3 ] || break
    sleep 0.1
  done
  { kill -KILL "$job"; wait "$job"; } 2> /dev/null  # its daemons end with it
  for pid in "$said"/pid.*; do kill -KILL "$(cat "$pid")" 2> /dev/null; done
  for rank in 0 2 3; do
    grep -A1 'reported after [0-9]\.' "$said/said.$rank" 2> /dev/null | grep -q '^  at:  rank 1 (' ||
      fail "$mode of $count: rank $rank does not name rank 1: $(head -4 "$said/said.$rank" 2>&1)"
    grep -q '^stall: rank 1 (.*\(does not respond\|is stopped\)$' "$said/said.$rank" ||
      fail "$mode of $count: rank $rank's stall does not name rank 1: $(grep stall "$said/said.$rank")"
  done
}
while read -r hosts mode count more; do beside one_stops "$hosts" "$mode" "$count" "$more"; done << 'ROWS'
h1:1,h2:1,h3:1,h4:1 r:1x4 100000
h1:1,h2:1,h3:1,h4:1 b:1x4 1000 -dump_iter 5
h1:2,h2:2 r:2x2 1000
h1:2,h2:2 b:2x2 100000
ROWS

# exit() of a rank of MPICH: mpiexec ends only its host's ranks, so the rank itself reports it.
exit_under_mpich() {
  run timeout 60 mpiexec.mpich -launcher ssh -launcher-exec "$here/../support/uts_ssh.sh" -hosts h1,h2,h3 -ppn 1 -n 3 \
    "$program" exit
  [ "$(grep -c 'reported after [12]\.[0-9] s: rank 1 (h2) ended by exit() with its Context alive' "$work/err")" -eq 2 ] ||
    fail "exit under MPICH: not reported by two ranks: $(head -20 "$work/err")"
}
if [ -e "$DDLRUN_BUILD_DIR/lib/ddlrun/libddl_mpi_mpich.so" ] && command -v mpiexec.mpich > /dev/null; then
  beside exit_under_mpich
else
  echo 'without MPICH: no mpiexec.mpich, or built without its headers'
fi

words() { cat "$@" | tr '\n\0' '  '; }  # PRRTE 3.0.8 breaks its sentences into lines
killed='rank 1 with PID [0-9]* on node h2 exited on signal 9'
# Open MPI 5.0.7 may end a rank that loses a connection before the rank can say whose it was, and then mpirun names that
# rank alone.
[[ $(mpirun --version 2>&1) != *'(Open MPI) 5.'* ]] || killed+='\|An error occurred in Socket closed'

# One is killed: MPI ends who has a connection to it, mpirun the rest; no one who still speaks names another rank. What a
# rank says goes to a file, for mpirun loses some of it when it ends a job.
one_is_killed() {
  local hosts=$1 mode=$2 count=$3 said begun took
  for _ in 1 2 3; do  # now and then mpirun loses its own message too, and has ended all ranks before they could say one
    said=$(mktemp -d "$work/said.XXXX")
    begun=$SECONDS
    run timeout 60 "${launcher[@]}" --host "$hosts" -n 4 "${spread[@]}" -x DDL_OPTIONS="-mode $mode" \
      "$with_files" "$said" "$program" kill "$count"
    took=$((SECONDS - begun))
    ! words "$said"/said.* "$work/err" | grep -q "at:  rank \|$killed" || break
  done
  [ "$status" -ne 0 ] || fail "$mode of $count, killed: status 0"
  words "$said"/said.* "$work/err" | grep -q "at:  rank 1 (\|$killed" ||
    fail "$mode of $count, killed: rank 1 is not named: $(head -50 "$work/err" "$said"/said.*)"
  ! grep 'at:  rank [^1]' "$said"/said.* || fail "$mode of $count, killed: another rank is named"
  [ "$took" -le 12 ] || fail "$mode of $count, killed: took $took s"
}
while read -r hosts mode count; do beside one_is_killed "$hosts" "$mode" "$count"; done << 'ROWS'
h1:1,h2:1,h3:1,h4:1 r:1x4 100000
h1:1,h2:1,h3:1,h4:1 b:1x4 1000
h1:2,h2:2 r:2x2 1000
h1:2,h2:2 b:2x2 100000
ROWS
finish
