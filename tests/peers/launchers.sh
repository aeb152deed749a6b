#!/bin/bash
# SPDX-License-Identifier: MIT
# launchers.sh PEER: one plan on 4 virtual hosts by an MPI that is not Debian's, from PyPI: openmpi5, mpich5 or intelmpi. What
# each rank finds equals the plan; exit statuses, a killed rank and a missing program are as under Debian's launchers.
peer=$1
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/../cluster/lab_test.sh"
# shellcheck source=tests/cluster/lib/rank_places.sh
. "$lab_tests/lib/rank_places.sh"
place=$("$(dirname "$(readlink -f "$0")")/install.sh" "$peer") || { status=$?; echo "$place"; exit "$status"; }
lab_up 4
launcher=mpich settings=() environment=()
case $peer in
  openmpi5) launcher=openmpi settings=(-x OMPI_MCA_mpi_yield_when_idle=1) ;;
  intelmpi) launcher=intelmpi environment=(I_MPI_ROOT="$place") ;;
esac
in_peer() { on "$1" env PATH="$place/bin:/usr/local/bin:/usr/bin:/bin" "${environment[@]}" "${@:2}"; }
launch() { in_peer node1 "$tool" launch "$@"; }

I_MPI_ROOT=$place PATH=$place/bin:$PATH build "place_$peer" "$place/bin/mpicc" || exit 1
hosts=(2x2x2 'node[1-4]' --cores-per-rank 1 --strict -x 'KEY=s3cret;a b' "${settings[@]}")
unequal=(-H 'node1:2,node2:1,node3:2' "${hosts[@]:2}")
variables=(KEY OMP_NUM_THREADS DDLRUN_RANKS)
judge "$peer" launch "${hosts[@]}" -- "bin/place_$peer" "$peer" "${variables[@]}"
grep -q "started by" "$work/err" && sed -n 's/.*\(started by [^;]*\).*/\1/p' "$work/err"
planned=uneven judge "uneven_$peer" launch "${unequal[@]}" -- "bin/place_$peer" "uneven_$peer" "${variables[@]}"
judge "named_$peer" launch "${hosts[@]}" --launcher "$launcher" -- "bin/place_$peer" "named_$peer" "${variables[@]}"

# The trainer was built with Debian's MPIs, and loads this one. It needs ranks of a host that share memory.
install_trainer && cp -r "$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset" "$lab_home/data"
in_peer node1 LD_LIBRARY_PATH="$place/lib" "$tool" launch 2x2 node1,node2 "${settings[@]}" -- --global-batch 40 --max-steps 5 \
  --data data --quiet > "$work/out" 2> "$work/err" || fail "the trainer: $(cat "$work/err")"
grep -q 'ranks=4 ' "$work/out" || fail "the trainer: $(cat "$work/out")"

# shellcheck disable=SC2016
rank_of='${OMPI_COMM_WORLD_RANK:-$PMI_RANK}'
ends() { # NAME STATUS TEXT SCRIPT: a run of SCRIPT ends with STATUS, and the report contains TEXT
  local status=0
  launch 1x4 "node[1-4]" -- sh -c "$4" > "$work/out" 2> "$work/err" || status=$?
  same "$1: status" "$2" "$status"
  grep -qE "$3" "$work/err" || fail "$1: no '$3' in: $(tail -n 12 "$work/err")"
}
ends "a rank that fails" 7 "rank 2 on node3" "[ $rank_of = 2 ] && exit 7; exec sleep 60"
ends "a rank that is killed" 137 "rank 1 on node2.*(SIGKILL|signal 9)" "[ $rank_of = 1 ] && kill -KILL \$\$; exec sleep 60"
ends "a rank that crashes" 139 "rank 3 on node4.*(SIGSEGV|signal 11)" "[ $rank_of = 3 ] && kill -SEGV \$\$; exec sleep 60"
on node1 sh -c 'printf "#!/bin/sh\nexec sleep 20\n" > /tmp/only_on_node1; chmod 755 /tmp/only_on_node1'
status=0
launch 1x2 node1,node2 -- /tmp/only_on_node1 > "$work/out" 2> "$work/err" || status=$?
same "a missing program: status" 127 "$status"
grep -q "the program '/tmp/only_on_node1' does not exist on node2" "$work/err" || fail "a missing program: $(cat "$work/err")"
left=$(ps -eo uid=,args= | awk '$1 == 2000 && /sleep 60/')
same "processes that are left" "" "$left"
finish
