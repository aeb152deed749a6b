#!/bin/bash
# SPDX-License-Identifier: MIT
# Groups of ranks: rows and columns of a grid, under each MPI, over TCP without MPI, on one host and on hosts that are UTS
# namespaces of this machine. A rank that calls something else in its group, stops, dies or leaves is reported by all, also by
# ranks that wait in another group.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
. "$here/../support/tcp_ranks.sh"
groups=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/groups}
host=$(hostname)

for count in 2 3 4 6; do beside expect 0 'all sums of groups are right' ranks "$count" "$groups" sums; done
for mode in 'm' 'r' 'p -cache off' 'b -dump_iter 50 -wire bf16'; do
  beside expect 0 'all sums of groups are right' env DDL_OPTIONS="-mode $mode" timeout 120 "${launcher[@]}" -n 4 "$groups" sums
done

# lost WHAT COUNT SECONDS TEXT START...: how many ranks say TEXT, all of them about one rank
lost() {
  local what=$1 count=$2 seconds=$3 text=$4 begun=$SECONDS said
  shift 4
  rm -f "$work"/said.*
  run timeout 60 "$@" sh -c 'exec 2> "$0/said.$OMPI_COMM_WORLD_RANK$PMI_RANK"; exec "$@"' "$work" "$groups" "$what"
  [ $((SECONDS - begun)) -le "$seconds" ] || fail "$what: $((SECONDS - begun)) s"
  said=$(cat "$work"/said.*)
  [ "$(grep -c "$text" <<< "$said")" -ge "$count" ] || fail "$what: '$text' not said by $count: $said"
}
both="rank 1 (H1) calls all_reduce #2 (max) of 1000 float32 \"w\" in row 0, rank 0 (H0) calls all_reduce #2 (sum) of 1000 float32 \"w\" in row 0"
all_lost() { # HOST0 HOST1 START...
  local first=$1 second=$2 odd
  shift 2
  odd=${both/H1/$second}
  beside lost odd 4 15 "reported after [01] s: ${odd/H0/$first}" "$@"
  beside lost cross 4 20 ' #[27] .*: they wait for each other$' "$@"
  beside lost throw 3 15 'an exception ended the Context of rank 1 (' "$@"
  beside stopped "$@"
}
stopped() {
  lost stop 3 20 '^  at:  rank 1 (' "$@"
  ! grep '^  at:  rank [^1]' "$work"/said.* || fail 'stop: another rank is named'
}
all_lost "$host" "$host" "${launcher[@]}" -n 4
beside lost kill 2 15 '^  at:  rank 1 (' "${launcher[@]}" -n 4
gone='rank 1 (.*) \(ended by exit() with its Context alive, before it came to\|ended before it came to\) all_reduce #2 .* in \(row 0\|column 1\)$'
beside lost exit 1 15 "$gone" "${launcher[@]}" -n 4

if [ -e "$DDLRUN_BUILD_DIR/lib/ddlrun/libddl_mpi_mpich.so" ] && command -v mpiexec.mpich > /dev/null; then
  beside expect 0 'all sums of groups are right' timeout 100 mpiexec.mpich -n 4 "$groups" sums
  beside expect 0 'all sums of groups are right' timeout 100 mpiexec.mpich -launcher fork -hosts localhost,127.0.0.1 -ppn 2 -n 4 \
    "$groups" sums
  beside lost odd 4 15 "${both//H[01]/$host}" mpiexec.mpich -n 4
else
  echo 'without MPICH: no mpiexec.mpich, or built without its headers'
fi

# Without MPI: the ranks of hosts "$@", or of this one for "-".
over_tcp() {
  local what=$1 number=0 each limit=(timeout 60)
  shift
  [ "$what" != stop ] || limit=() # the stopped rank is killed by its own number
  rm -f "$work"/said.*
  for each; do
    rank "$number" $# "${each#-}" "${limit[@]}" "$groups" "$what"
    number=$((number + 1))
  done
  if [ "$what" = stop ]; then
    for number in 0 2 3; do wait "${pids[number]}" 2> /dev/null; done
    kill -KILL "${pids[1]}"
  fi
  await
}
tcp_sums() {
  over_tcp sums "$@"
  [[ " ${statuses[*]} " != *[1-9]* ]] && grep -q 'all sums of groups are right' "$work/said.0" || fail "sums over TCP on $*: $(cat "$work"/said.*)"
}
tcp_lost() { # COUNT TEXT WHAT HOSTS
  local count=$1 text=$2
  shift 2
  over_tcp "$@"
  [ "$(cat "$work"/said.* | grep -c -- "$text")" -ge "$count" ] || fail "$* over TCP: '$text' not said by $count: $(cat "$work"/said.*)"
}
for hosts in '- -' '- - - - -' '- - - - - -'; do
  read -ra each <<< "$hosts"
  beside_at_port tcp_sums "${each[@]}"
done
beside_at_port tcp_lost 4 "${both//H[01]/$host}" odd - - - -
beside_at_port tcp_lost 4 'they wait for each other$' cross - - - -
beside_at_port tcp_lost 3 '^  at:  rank 1 (' stop - - - -
beside_at_port tcp_lost 3 '^  at:  rank 1 (' kill - - - -
beside_at_port tcp_lost 3 "$gone" exit - - - -

unshare --uts hostname ddlrun-test 2> /dev/null || { echo 'several hosts need root here (unshare --uts): left out'; finish; exit 0; }
for hosts in 'h1 h2' 'h1 h1 h2 h2' 'h1 h2 h3 h1 h2 h3' 'h1 h1 h1 h2'; do
  read -ra each <<< "$hosts"
  beside_at_port tcp_sums "${each[@]}"
done
odd=${both/H1/h1}
beside_at_port tcp_lost 4 "${odd/H0/h1}" odd h1 h1 h2 h2
beside_at_port tcp_lost 3 '^  at:  rank 1 (' stop h1 h1 h2 h2
beside_at_port tcp_lost 3 '^  at:  rank 1 (' kill h1 h2 h3 h4
beside_at_port tcp_lost 3 "$gone" exit h1 h1 h2 h2

[[ ${launcher[*]} == *--oversubscribe* ]] || { echo 'several hosts need Open MPI here: left out'; finish; exit 0; }
spread=("${launcher[@]}" --mca if_base_do_not_resolve 1 --mca plm_rsh_agent "$here/../support/uts_ssh.sh"
  -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM)
while read -r hosts count; do
  beside expect 0 'all sums of groups are right' timeout 100 "${spread[@]}" --host "$hosts" -n "$count" "$groups" sums
done << 'END'
h1:2,h2:2 4
h1:3,h2:3 6
h1:1,h2:1,h3:1,h4:1 4
h1:2,h2:1,h3:1 4
END
all_lost h1 h1 "${spread[@]}" --host h1:2,h2:2 -n 4
all_lost h1 h2 "${spread[@]}" --host h1:1,h2:1,h3:1,h4:1 -n 4
finish
