#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that save after a signal and exit with 75, as of data-parallel training: rank 0 takes longer than the others,
# and no launcher may end it meanwhile.
support=$(dirname "$(readlink -f "$0")")/../support
# shellcheck source=tests/support/launch_checks.sh
. "$support/launch_checks.sh"

cat > train.sh << 'END'
#!/bin/bash
# train.sh END-OF-RANK-0: its other ranks exit with 75 at once.
save() {
  if [ "$RANK" = 0 ]; then
    sleep 3
    eval "$end_of_rank_0"
  fi
  touch saved.$RANK
  exit 75
}
end_of_rank_0=$1
trap save TERM USR1
touch started.$RANK
while :; do sleep 0.1; done
END
chmod +x train.sh
all_started() { [ -e started.0 ] && [ -e started.1 ]; }

# saves SIGNAL LAUNCHER END-OF-RANK-0: the job gets the signal; sets status.
saves() {
  rm -f saved.? started.?
  set -m
  "$DDLRUN" launch 2 --oversubscribe --framework pytorch --launcher "$2" -- ./train.sh "$3" > save.out 2> save.err < /dev/null &
  set +m
  for ((tries = 0; tries < 100; tries++)); do
    ! all_started || break
    sleep 0.1
  done
  kill -"$1" $!
  wait $! 2> /dev/null
  status=$?
}

for launcher in openmpi mpich ssh; do
  if [ $launcher = mpich ] && ! command -v mpirun.mpich > /dev/null; then
    echo "not run with MPICH: no mpirun.mpich"
    continue
  fi
  for signal in TERM USR1; do
    saves $signal $launcher :
    same "$launcher, $signal: status" 75 $status
    same "$launcher, $signal: who saved" "saved.0 saved.1" "$(echo saved.?)"
    has "$launcher, $signal" save.err "the job saved after signal"
    has_not "$launcher, $signal" save.err "failed"
  done
  saves TERM $launcher 'exit 9'
  same "$launcher: who saved, when rank 0 fails" "saved.1" "$(echo saved.?)"
  has_not "$launcher: rank 0 fails" save.err "the job saved"
  check "$launcher: rank 0 fails: status" test $status -ne 75
done
finish
