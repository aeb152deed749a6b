#!/bin/bash
# SPDX-License-Identifier: MIT
# Launchers beside Open MPI on this machine: MPICH's hydra for real, what exec does with the rank map, what is refused.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"
unset "${!PMI_@}" "${!SLURM_@}" "${!PMIX_@}"

# --- exec and the rank map, with a rank as a launcher would set it
read -r cpus < <(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
first=${cpus%%[-,]*}
rank_map() { # FIELDS, RANK
  printf '{"schema":"ddlrun.ranks/1",%s"hosts":"h1","kind_of_host":[0],"ranks":["0"],"kinds":[[%s]],"groups":[{"first":0,"ranks":1,%s}]}' \
    "$1" "$2" '"arguments":["--task={rank}"],"set":{"LOCAL_RANK":"{local_rank}","TF":"{\"a\":{rank}}"}'
}
# shellcheck disable=SC2016
show='echo "$1 $LOCAL_RANK $TF ${DDLRUN_RANKS-none} $PWD $(grep Cpus_allowed_list /proc/self/status | cut -f2) ${CUDA_VISIBLE_DEVICES-unset}"'
expect 0 "" env PMI_RANK=0 DDLRUN_RANKS="$(rank_map '"bind":true,"workdir":"/usr",' "{\"pus\":\"$first\"}")" \
  "$DDLRUN" exec --rank-map -- sh -c "$show" sh
same "exec --rank-map" "--task=0 0 {\"a\":0} none /usr $first unset" "$(cat "$work/out")"
rank_map '"gpu_view":"one",' '{"gpu":1,"pci":"ffff:01:00.0"}' > rank_map.json
expect 0 "" env PMI_RANK=0 CUDA_VISIBLE_DEVICES=7 "$DDLRUN" exec --rank-map-file rank_map.json -- sh -c "$show" sh
same "exec --rank-map-file: a GPU whose driver is silent goes by its number" 1 "$(awk '{print $NF}' "$work/out")"
# The host of a rank may have python3 only.
mkdir -p python3_only
ln -sf "$(command -v python3)" python3_only/python3
expect 127 "" env PATH="$PWD/python3_only" "$DDLRUN" exec -- python train.py
grep -q "the program 'python' does not exist on " "$work/err" || fail "python is missing: $(cat "$work/err")"
grep -q "try: -- python3 \.\.\.   # " "$work/err" || fail "python3 is there: $(cat "$work/err")"
expect_refusal 2 "which did not arrive" env PMI_RANK=0 "$DDLRUN" exec --rank-map -- true
expect_refusal 2 "no launcher has set one" env DDLRUN_RANKS="$(rank_map '' '{}')" "$DDLRUN" exec --rank-map -- true
expect_refusal 3 "the plan has ranks 0 to 0" env PMI_RANK=3 DDLRUN_RANKS="$(rank_map '' '{}')" "$DDLRUN" exec --rank-map -- true
expect_refusal 3 "is to run on PUs 99999, but the kernel allows" env PMI_RANK=0 \
  DDLRUN_RANKS="$(rank_map '"bind":true,' '{"pus":"99999"}')" "$DDLRUN" exec --rank-map -- true
expect_refusal 3 "cannot be entered" env PMI_RANK=0 DDLRUN_RANKS="$(rank_map '"workdir":"/no/such",' '{}')" "$DDLRUN" exec --rank-map -- true

# --- memory policy, as the kernel reports it inside the rank
if [[ -r /proc/self/numa_maps ]] && grep -qs '"numa":0\|"os": *0' <("$DDLRUN" topo --json); then
  for policy in preferred bind; do
    launch "memory_$policy" 1 --mem-bind "$policy" -- cat /proc/self/numa_maps
    grep -q "^[0-9a-f]* ${policy%red}[^ ]*:0 " "memory_$policy.out" || fail "--mem-bind $policy: $(head -n 1 "memory_$policy.out")"
  done
  launch memory_local 1 --mem-bind local -- cat /proc/self/numa_maps
  grep -q '^[0-9a-f]* default ' memory_local.out || fail "--mem-bind local: $(head -n 1 memory_local.out)"
fi

# --- MPICH
if ! command -v mpirun.mpich > /dev/null; then
  echo "no MPICH here (apt-get install mpich): left out"
  finish
  exit
fi
ranks=2
"$DDLRUN" launch 2 --dry-run -- true > /dev/null 2>&1 || ranks=1
# shellcheck disable=SC2016
launch mpich $ranks --launcher mpich --strict -x 'KEY=s3cret;a,b=c "x"' -- sh -c 'echo $PMI_RANK of $PMI_SIZE local $MPI_LOCALRANKID $KEY ${DDLRUN_RANKS-none}'
same "mpich: status" 0 "$status"
same "mpich: the ranks" "$(for ((i = 0; i < ranks; i++)); do echo "$i of $ranks local $i s3cret;a,b=c \"x\" none"; done)" "$(sort mpich.out)"
has "mpich" mpich.err "$ranks of $ranks ranks are where they were planned"
has_not "mpich" mpich.err s3cret
has "mpich: run.json" "$(directory_of mpich)/run.json" '"launcher": "mpich"'
same "mpich: host file" "$(sed -n 's/^rank 0=\([^ ]*\) .*/\1/p' "$(directory_of mpich)/rankfile"):$ranks" "$(cat "$(directory_of mpich)/hosts")"
# shellcheck disable=SC2016 # the point of these words is that nothing expands them
words=('a b' '"q"' "it's" $'two\nlines' '$(touch PWNED)' '' '*' '-n' ':' '--' $'\xff\xfe')
printf '%s\0' "${words[@]}" > words.expected
# shellcheck disable=SC2016
launch words 1 --launcher mpich -- sh -c 'for a; do printf "%s\0" "$a"; done > words.found' sh "${words[@]}"
check "mpich: words byte for byte" cmp -s words.expected words.found
check "nothing was expanded on the way" test ! -e PWNED
launch seven 1 --launcher mpich -- sh -c 'exit 7'
same "mpich: exit 7" 7 "$status"
launch madeup 1 --launcher mpich --sockets 1 --cores 1 --smt 16 -- touch ran
same "mpich: a plan that the kernel does not allow" 3 "$status"
has "mpich: both sets" madeup.err "is to run on PUs 0-15, but the kernel allows"
launch mca 1 --launcher mpich --mca btl tcp -- touch ran
same "mpich: --mca" 2 "$status"
has "mpich: --mca" mca.err 'try: --launcher openmpi'
launch other 1 --launcher mpich --mpirun mpirun.openmpi -- touch ran
same "mpich: an mpirun of Open MPI's" 3 "$status"
has "mpich: an mpirun of Open MPI's" other.err "--mpirun mpirun.openmpi is Open MPI $open_mpi"
has "mpich: an mpirun of Open MPI's" other.err "and --launcher mpich requests MPICH"

# hydra's own number says little of a signal that ended it: 128 and the signal, as by every launcher.
for signal in INT TERM; do
  seconds=$((100000 + RANDOM))
  (set -m; exec "$DDLRUN" launch $ranks --launcher mpich -- sh -c "sleep $seconds; true" > signal.out 2> signal.err) &
  wait_for "$seconds" $ranks
  kill -"$signal" $!
  wait $! 2> /dev/null
  status=$?
  same "mpich: $signal" $((128 + $(kill -l $signal))) $status
  check "mpich: $signal: no rank is left" wait_for "$seconds" 0
done

# Its 0 says nothing then: here it always says 0, and the ranks' own ends decide.
cat > says_0 << 'END'
#!/bin/bash
[[ $* == *--version* ]] && exec mpirun.mpich "$@"
mpirun.mpich "$@" &
trap 'kill -INT $!' INT
wait $! || wait $!
exit 0
END
chmod +x says_0
for row in '130 :' '0 exit 0'; do
  seconds=$((100000 + RANDOM))
  (set -m; exec "$DDLRUN" launch $ranks --launcher mpich --mpirun "$work/says_0" -- \
    sh -c "trap '${row#* }; kill -9 \$\$' INT; sleep $seconds & wait" > signal.out 2> signal.err) &
  wait_for "$seconds" $ranks
  kill -INT $!
  wait $! 2> /dev/null
  same "mpich says 0, ranks: ${row#* }" "${row%% *}" $?
  check "mpich says 0: no rank is left" wait_for "$seconds" 0
done

# A host that ssh does not reach: hydra 4.0 alone would wait forever, hydra 4.2 ends with 255.
printf '#!/bin/sh\nexit 255\n' > no_ssh
chmod +x no_ssh
"$DDLRUN" topo --json > machine.json
timeout 60 "$DDLRUN" launch 1x2x1 h1,h2 --topology machine.json --cores-per-rank 1 --launcher mpich --mpi-arg -launcher-exec \
  --mpi-arg "$work/no_ssh" -- true > lost.out 2> lost.err < /dev/null
same "mpich: hosts that are not reached" 5 $?
grep -q "it would wait forever\|mpi[a-z.]* did not reach a host" lost.err || fail "mpich: hosts that are not reached: $(cat lost.err)"

# --- a program of one MPI under the launcher of the other: each rank would be rank 0 of 1
compile() { command -v "$1" > /dev/null && "$1" -o "$2" "$DDLRUN_SOURCE_DIR/tests/support/rank_place.c" 2> /dev/null; }
if compile mpicc.mpich theirs && compile mpicc ours; then
  launch wired $ranks --launcher mpich --strict -- ./theirs .
  same "MPICH's program: status" 0 "$status"
  same "MPICH's program: ranks" "$(for ((i = 0; i < ranks; i++)); do echo "$i of $ranks (sum $((ranks - 1)))"; done)" \
    "$(cut -d' ' -f1-5 place.*)"
  launch theirs 1 -- ./theirs .
  same "MPICH's program, Open MPI's mpirun" 3 "$status"
  has "theirs" theirs.err "try: --launcher mpich"
  launch ours 1 --launcher mpich -- ./ours .
  same "Open MPI's program, MPICH's mpirun" 3 "$status"
  has "ours" ours.err "try: --launcher openmpi"
fi
check "nothing was started by any of them" test ! -e ran
finish
