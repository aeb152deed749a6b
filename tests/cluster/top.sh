#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun top` of a run over two hosts, under each launcher: a rank that spins and one that sleeps are shown so, with
# the network of their hosts; a host that is gone is silent; a job is seen from another host.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
# shellcheck source=tests/cluster/lib/leftovers.sh
. "$lab_tests/lib/leftovers.sh"
lab_up 3
know_hosts node2
cat > "$lab_home/work" << 'PROGRAM'
#!/bin/bash
echo "rank $DDLRUN_RANK works"
if [ "$DDLRUN_RANK" = 0 ]; then until [ -e "$HOME/end" ]; do sleep 1; done
else until [ -e "$HOME/end" ]; do :; done; fi
[ "$DDLRUN_RANK" = 0 ] || sleep 3 # else a launcher ends rank 0 first
exit "$DDLRUN_RANK"
PROGRAM
chmod 755 "$lab_home/work"

# picture HOST PATTERN ARGUMENTS...: until a line of `top --once` on HOST fits
picture() {
  for _ in $(seq 60); do
    on "$1" "$tool" top --once "${@:3}" > "$work/picture" 2> "$work/picture.err" &&
      grep -qE -- "$2" "$work/picture" && return 0
    sleep 0.5
  done
  fail "no line fits '$2': $(cat "$work/picture" "$work/picture.err")"
  return 1
}
start() { # OPTIONS...
  rm -f "$lab_home/end"
  (
    LAB_PATIENCE=200 on node1 "$tool" launch 1x2x1 node1,node2 --sockets 1 --cores 2 "$@" -- ./work \
      > "$work/job.out" 2> "$work/job.err" < /dev/null
    echo $? > "$work/job.status"
  ) 2> /dev/null &
  job=$!
}
end() { # WHAT
  touch "$lab_home/end"
  wait "$job"
  same "$1: status" 1 "$(cat "$work/job.status")"
  picture node1 '^ +1 +node2 +2 +status 1 ' last && grep -qE '^ +0 +node1 +2 +ok ' "$work/picture" ||
    fail "$1: the end: $(cat "$work/picture")"
}

for launcher in openmpi mpich ssh; do
  case $launcher in
    openmpi) command -v mpirun > /dev/null || continue ;;
    mpich) command -v mpirun.mpich > /dev/null || continue ;;
  esac
  start --launcher "$launcher" --tee
  picture node1 '^ +0 +node1 +2 +waiting +[0-2] .* 0:0[2-9] .*rank 0 works' last &&
    picture node1 '^ +1 +node2 +2 +running +([5-9]|[1-9][0-9]) .*rank 1 works' last &&
    echo "$launcher: $(grep '^slowest' "$work/picture")"
  has "$launcher: the slowest" "$work/picture" 'slowest: rank 1 on node2 works while 1 of 2 ranks wait'
  grep -qE '^network: .*node[12] in .*/s out .*/s' "$work/picture" || fail "$launcher: no network: $(cat "$work/picture")"
  # From another host, as from a login node, which has only the files of the shared home.
  picture node3 '^ +1 +node2 +2 +running ' last
  has "$launcher: the host of launch" "$work/picture" 'running on node1'
  end "$launcher"
done

# A host that is stopped reports nothing; its ranks are silent.
start --launcher ssh --on-stall warn
picture node1 '^ +1 +node2 +2 +running ' last
mapfile -t frozen < <(everything | cut -d' ' -f2)
kill -STOP "${frozen[@]}"
picture node1 '^> +1 +node2 +2 +silent .* 0:[2-5][0-9]' last
has "silent" "$work/picture" 'stall: host node2 has been silent for '
kill -CONT "${frozen[@]}"
picture node1 '^ +1 +node2 +2 +running ' last
end silent

# A job of Slurm, by its id, from a host that is none of its own.
if ! command -v slurmctld > /dev/null; then
  echo "skipped: a job, for there is no slurmctld here"
elif ! slurm up 4 0 > "$work/slurm" 2>&1; then
  fail "Slurm: $(tail -n 3 "$work/slurm")"
else
  rm -f "$lab_home/end"
  on node1 "$tool" submit --slurm --detach --doctor off --walltime 5m 1x2x1 -- ./work > "$work/submit" 2>&1
  job_id=$(on node1 "$tool" jobs 2> /dev/null | awk 'NR == 2 { print $1 }')
  picture node3 '^ +1 .* running ' "$job_id" || cat "$work/submit"
  has "a job" "$work/picture" "job $job_id"
  has "the host of launch" "$work/picture" 'running on node'
  echo "job $job_id: $(grep '^ranks' "$work/picture")"
  touch "$lab_home/end"
  picture node3 '^ +1 .* status 1 ' last
  rm -f "$lab_home/end"
  on node1 salloc -Q -N2 --ntasks-per-node=1 -w 'node[1-2]' "$tool" launch --launcher srun --tee 1x2x1 -- ./work \
    > "$work/job.out" 2> "$work/job.err" < /dev/null &
  job=$!
  picture node1 '^ +0 +node1 .* waiting .*rank 0 works' last || cat "$work/job.err"
  has "srun" "$work/picture" 'slowest: rank 1 on node2 works while 1 of 2 ranks wait'
  echo "srun: $(grep '^slowest' "$work/picture")"
  touch "$lab_home/end"
  wait "$job"
  picture node1 '^ +1 +node2 .* status 1 ' last
fi
finish
