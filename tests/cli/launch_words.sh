#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch` as users of mpirun, horovodrun and torchrun type it.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"
machine=(--sockets 1 --cores 4)
misused() { # TEXT TRY WORDS...
  expect_refusal 2 "$1" "$DDLRUN" launch "${@:3}"
  has "${*:3}" "$work/err" "  try: $2"
}
refused() { # TEXT TRY WORDS...
  expect_refusal 3 "$1" "$DDLRUN" launch "${@:3}"
  has "${*:3}" "$work/err" "  try: $2"
}

plan_of() { grep -v -e '^run_dir=' -e "$work" "$1"; }

# --- the number of ranks
for flag in -n -np --np; do
  # shellcheck disable=SC2016
  launch count $flag 1 -- sh -c 'echo $OMPI_COMM_WORLD_SIZE'
  same "$flag 1" "0 1" "$status $(cat count.out)"
done
# Behind -- the words are the program's.
launch behind 1 -- echo -np 4
same "-np of the program" "-np 4" "$(cat behind.out)"

# Words of mpirun's that launch makes needless.
for word in -cpu-bind --report-bindings; do
  expect_refusal 2 "unknown option '$word' of ddlrun launch" "$DDLRUN" launch 2 $word core -- true
  has "$word" "$work/err" "  try: leave it out: launch binds each rank to its cores, and --verify shows them"
done

# Binding and mapping: taken, or refused with the line to type; never without effect.
# shellcheck disable=SC2016
mask='sed -n "s/Cpus_allowed_list:\t//p" /proc/self/status'
all=$(bash -c "$mask")
for words in "-bind-to none" "--bind-to none" "--bind-to none --launcher ssh" "--bind-to none --no-monitor"; do
  # shellcheck disable=SC2086 # these are words
  launch unbound 1 $words -- sh -c "$mask"
  same "launch $words" "0 $all" "$status $(cat unbound.out)"
done
launch bound 1 -bind-to core -- sh -c "$mask"
same "-bind-to core" 0 "$status"
[[ $all == 0 || $(cat bound.out) != "$all" ]] || fail "-bind-to core leaves a rank unbound"
launch one_core 2 localhost "${machine[@]}" --bind-to core --dry-run -- true
same "--bind-to core is one core for each rank, as with mpirun" "0 0:0
1 0:1" "$(sed -n 's/^rank \([0-9]*\)=.* slot=/\1 /p' one_core.out)"
expect_refusal 2 'try: leave it out: each rank gets its share' "$DDLRUN" launch 2 --bind-to socket -- true
expect_refusal 2 'try: --bind-to core: one core' "$DDLRUN" launch 2 --bind-to hwthread -- true
expect_refusal 2 '--verify and --bind-to none conflict' "$DDLRUN" launch 2 --bind-to none --verify -- true
for words in "--mpi-arg --bind-to --mpi-arg none" "--mpi-arg=-bind-to=none" "--mca hwloc_base_binding_policy none" -bind-to-none; do
  # shellcheck disable=SC2086
  expect_refusal 2 'try: --bind-to none' "$DDLRUN" launch 2 $words -- true
done
expect_refusal 2 'try: --bind-to none' "$DDLRUN" launch 2 --mpi-arg '--bind-to none' -- true
expect_refusal 2 'try: --bind-to core' "$DDLRUN" launch 2 --mpi-arg --bind-to --mpi-arg core -- true
# A line that is proposed has launch's own words for the places, so that it runs.
for row in 'socket|--map-by packages' 'slot|--order packed' 'node|--order ddl'; do
  expect_refusal 2 "put programs after --" "$DDLRUN" launch -np 1 --map-by "${row%|*}" --bind-to socket --report-bindings /bin/true
  has "a proposal with --map-by ${row%|*}" "$work/err" "  try: ddlrun launch -np 1 ${row#*|} -- /bin/true"
done
for words in "-map-by slot" "--map-by slot" "--mpi-arg --map-by --mpi-arg slot"; do
  # shellcheck disable=SC2086
  expect_refusal 2 'try: --order packed ' "$DDLRUN" launch 2 $words -- true
done
expect_refusal 2 'try: --order packed: ranks host by host' "$DDLRUN" launch 2 --rank-by slot -- true
expect_refusal 2 'try: --order packed ' "$DDLRUN" gen-rankfile 2 h1 --map-by slot

# Options of mpirun, mpiexec, srun and torchrun: taken, or answered with what launch has instead.
printf 'h1\nh2\n' > hosts
launch plain -n 2 --hostfile hosts "${machine[@]}" --dry-run -- true
for word in -hostfile -machinefile --machinefile; do
  launch foreign -n 2 $word hosts "${machine[@]}" --dry-run -- true
  same "$word" "$(plan_of plain.out)" "$(plan_of foreign.out)"
done
for word in -host --host -hosts; do
  launch foreign -n 2 $word h1,h2 "${machine[@]}" --dry-run -- true
  same "$word" "$(plan_of plain.out)" "$(plan_of foreign.out)"
done
printf 'h1 slots=2\nh2 slots=1\n' > slots
launch slots --hostfile slots "${machine[@]}" --dry-run -- true
same "slots of a hostfile" "0 h1
1 h1
2 h2" "$(sed -n 's/^rank \([0-9]*\)=\([^ ]*\) .*/\1 \2/p' slots.out | sort)"
for word in '-ppn 2' '--ntasks-per-node 2' --nproc_per_node=2; do
  # shellcheck disable=SC2086
  launch per_host $word h1,h2 "${machine[@]}" --dry-run -- true
  same "$word" 4 "$(grep -c '^rank [0-9]*=' per_host.out)"
done
printf 'h1 slots=2\nh2\n' > some_slots
printf 'h1 slots=2\nh2 slots=2\n' > even_slots
misused 'the hostfile gives slots for some hosts, but not for h2' 'h2 slots=N, or the slots of no host' \
  --hostfile some_slots "${machine[@]}" -- true
misused "'h1:2,h2:1': ranks per host are for -H" '-H h1:2,h2:1' h1:2,h2:1 "${machine[@]}" -- true
misused "'train.py' is a program: programs follow --" '-H h1,h2 -- python3 train.py' -H h1,h2 train.py
refused '2x2x1 needs 2 hosts, and none are named' \
  'ddlrun launch 2x2x1 h1,h2,... -- PROGRAM; on a cluster: ddlrun submit 2x2x1 -- PROGRAM' 2x2 -- true
shape='DIMS: 2x3 h1,h2,h3 is 2 ranks on each of 3 hosts; or -H h1:2,h2:4'
while read -r word value try; do
  expect_refusal 2 "unknown option '$word' of ddlrun launch" "$DDLRUN" launch -n 2 "$word" "$value" -- true
  has "$word" "$work/err" "  try: $try"
done << END
-npernode 2 $shape
-N 2 $shape
--nnodes=2 2 leave it out: the hosts give it: HOSTS, -H or --hostfile
-genv A=1 -x NAME, or -x NAME=value
-wdir /tmp cd DIR before launch: the ranks start in its working directory
--master_addr h1 leave it out: launch sets RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT for each rank (--framework pytorch)
--partition gpu an option of a job: ddlrun submit
END
misused "'ppr:2:node:PE=1' is a unit of mpirun's --map-by, not of ddlrun's" \
  '2x2 h1,h2 --cores-per-rank 1   # without --map-by and -H' -H h1,h2 --map-by ppr:2:node:PE=1 -- true
misused "'ppr:2:node' is a unit" '--ranks-per-host 2   # without' --map-by ppr:2:node -- true
misused 'FOO before the program: no shell reads these words' 'ddlrun launch ... -x FOO=1 -- ./hi' 2 -- FOO=1 ./hi
misused '5 ranks, and the hostfile has 4 slots' '-n 4, the sum of the slots; or --oversubscribe' -n 5 --hostfile even_slots -- true
# Fewer ranks than slots fill the hosts in their order, as with mpirun.
printf 'h1:2\nh2:2\n' > colon_slots
hosts_of_ranks() { sed -n 's/^rank \([0-9]*\)=\([^ ]*\) .*/\1 \2/p' "$1" | sort; }
for words in '--hostfile even_slots' '-machinefile even_slots' '@even_slots' '--hostfile colon_slots' '-H h1:2,h2:2'; do
  # shellcheck disable=SC2086
  launch two -np 2 $words "${machine[@]}" --dry-run -- true
  same "-np 2 $words" "0 h1
1 h1" "$(hosts_of_ranks two.out)"
  has "-np 2 $words" two.out '-n 2 of 4 slots fills the hosts in their order, as mpirun does: h1:2; without ranks: h2'
  # shellcheck disable=SC2086
  launch three --np 3 $words "${machine[@]}" --dry-run -- true
  same "--np 3 $words" "0 h1
1 h1
2 h2" "$(hosts_of_ranks three.out)"
done
launch passed 1 --mpi-arg -host --mpi-arg "$(hostname)" --dry-run -- true
has "--mpi-arg -host stays" passed.out ' -host '

# --- hosts in the place of DIMS
launch first localhost --dry-run -- true
launch second -H localhost --dry-run -- true
same "hosts first: status" 0 "$status"
same "hosts first" "$(plan_of second.out)" "$(plan_of first.out)"
launch turned h1,h2 2x2 "${machine[@]}" --dry-run -- true
same "hosts before DIMS" "0 h1
1 h2
2 h1
3 h2" "$(sed -n 's/^rank \([0-9]*\)=\([^ ]*\) .*/\1 \2/p' turned.out | sort)"
refused "2 as DIMS is 2 ranks on one host, 2 hosts given" \
  "2x2 h[1-2] (2 on each host), or -n 2 -H h[1-2] (2 in all)" 2 h1,h2 "${machine[@]}" -- true

# --- a launcher as the program
mkdir bin
for name in torchrun horovodrun; do printf '#!/bin/sh\necho started\n' > bin/$name; done
chmod +x bin/*
export PATH=$work/bin:$PATH
own="starts ranks itself: each of 2 ranks would start all of them again"
refused "torchrun $own" "ddlrun launch 2 -- python3 train.py --lr 1" 2 -- torchrun --nproc-per-node=2 train.py --lr 1
refused "horovodrun $own" "ddlrun launch 2 -- python train.py" 2 -- horovodrun -np 2 python train.py
refused "mpirun $own" "ddlrun launch 2 -- ./prog" 2 -- mpirun -np 2 --bind-to core ./prog
only="mpirun starts ranks itself, and it would be the only rank of the job"
refused "$only" "ddlrun launch -np 2 -- ./prog" 1 -- mpirun -np 2 --bind-to core ./prog
refused "$only" "ddlrun launch -np N -- ./prog" -n 1 --launcher ssh -- mpirun ./prog
has_not "nothing was started" "$work/out" started
check "no run directory was made" test -z "$(grep -rl -e torchrun -e horovodrun "$XDG_STATE_HOME")"
refused "torchrun has no --nnodes, so it starts a training of its own on each of 2 hosts, not one on all" \
  "ddlrun launch 2x2 HOSTS -- python3 train.py; a training on each host: torchrun --standalone --nproc-per-node=2 train.py" \
  1x2 h1,h2 "${machine[@]}" -- torchrun --nproc-per-node=2 train.py
launch once 1 -- torchrun --nproc-per-node=2 train.py
same "one torchrun on its host" "0 started" "$status $(cat once.out)"
# More ranks than cores, to try a job on a laptop: each where it was planned, with every launcher that is here.
expect 3 '--oversubscribe' "$DDLRUN" launch 3 --sockets 1 --cores 1 -- true
for kind in openmpi ssh; do
  expect 0 '3 ranks share 1 core: ' "$DDLRUN" launch 3 --launcher $kind --sockets 1 --cores 1 --oversubscribe --verify -- true
  grep -q '3 of 3 ranks are where they were planned' "$work/err" || fail "$kind: $(cat "$work/err")"
  grep -q overlap "$work/err" && fail "$kind: the shared cores are a finding: $(cat "$work/err")"
done

# In a batch script a stopped process of the same group is no reason for the kernel to hang up on all others.
for kind in openmpi ssh; do
  # shellcheck disable=SC2016
  run setsid --wait bash -c 'sleep 60 & kill -STOP $!; "$0" launch 1 -q --launcher "$1" -- true; kill -KILL $!; echo alive' "$DDLRUN" $kind
  grep -qx alive "$work/out" || fail "$kind: the whole group was ended: status $status, $(cat "$work/err")"
done

# A name that is mistyped, or forgotten.
printf 'print(1)\n' > train.py
refused "the script 'trian.py' was not found" 'train.py   # did you mean this?' 1 -- python3 trian.py
refused "the program 'train.py' was not found" 'python3 train.py' 1 -- train.py
# What no rank could run, here or on the hosts that share the directory, and what Python cannot read.
for hosts in localhost h9; do
  refused "'./train.py' is not executable" 'python3 ./train.py, or chmod +x ./train.py' 1 $hosts --sockets 1 --cores 1 -- ./train.py
done
printf 'import os\nx = = 1\n' > wrong.py
refused "cannot read the script: invalid syntax" 'sed -n 1,3p wrong.py   # then correct line 2' 1 -- python3 -u wrong.py --lr 1
check "the check writes nothing" test ! -e __pycache__
refused "the program 'trian.py' was not found" 'python3 train.py   # did you mean this?' 1 -- trian.py
refused "the program 'pyton3' was not found" 'python3   # did you mean this?' 1 -- pyton3 train.py
# Options of launch among those of the trainer.
for words in '--max-restarts 2' '--rank-output files' --verify; do
  # shellcheck disable=SC2086 # these are words
  expect_refusal 2 "unknown option '${words%% *}': it is an option of ddlrun launch, and stands before --" "$DDLRUN" launch 2 -- --data ./photos $words
  has "$words behind --" "$work/err" "  try: ddlrun launch DIMS $words -- OPTIONS"
done
"$DDLRUN" launch --help > "$work/help"
options=$(sed -n '/^constexpr std::string_view launch_options/,/};/p' "$DDLRUN_SOURCE_DIR/runtime/core/other_words.cpp" | grep -o -e '--[a-z-]*')
[ "$(wc -w <<< "$options")" -gt 30 ] || fail 'the list of launch options of ddl-train was not found'
for option in $options; do has "launch has $option" "$work/help" "$option"; done

# The trainer's options without --, and images as a program.
mkdir -p photos/train
expect_refusal 2 "'--data' is no option of ddlrun launch; put options of the program after --" "$DDLRUN" launch 2 --data ./photos --epochs 1
has "options without --" "$work/err" '  try: ddlrun launch 2 -- --data ./photos --epochs 1'
expect_refusal 2 "'--epochs' is no option" "$DDLRUN" launch 2 --epochs 1 --data ./photos
has "options without --, data last" "$work/err" '  try: ddlrun launch 2 -- --epochs 1 --data ./photos'
expect_refusal 2 "'./photos' is a directory; put the program's data after --" "$DDLRUN" launch 2 ./photos
has "a directory without --" "$work/err" '  try: ddlrun launch 2 -- --data ./photos'
expect_refusal 2 "unknown option '--verfy'" "$DDLRUN" launch 2 --verfy ./photos
refused "'./photos' is a directory, not a program" '-- --data ./photos   # if the bundled trainer' 2 -- ./photos
for dashes in '' '-- '; do
  # shellcheck disable=SC2086 # one word or none
  expect_refusal 2 "'-np' is an option of launch" "$DDLRUN" -np 2 -H localhost:2 ${dashes}python3 train.py
  has "no launch, '$dashes'" "$work/err" '  try: ddlrun launch -np 2 -H localhost:2 -- python3 train.py'
done
expect_refusal 2 "unknown command '--frobnicate'" "$DDLRUN" --frobnicate
# Each command of ddl-train's, although test is a program of the system too.
names=()
[[ ! -x $DDLRUN_BUILD_DIR/runtime/ddl-train ]] ||
  mapfile -t names < <("$DDLRUN_BUILD_DIR/runtime/ddl-train" __reference | sed -n 's/.*"name": "ddl-train \(.*\)",/\1/p')
for name in train "${names[@]}"; do
  expect_refusal 2 "'$name' is a command of ddl-train" "$DDLRUN" "$name" ckpt/best --data photos
  has "$name" "$work/err" "ddl-train $name ckpt/best --data photos"
done
# mpirun behind launch: its shape goes with launch, unless launch has one.
refused 'mpirun starts ranks itself' 'ddlrun launch -np 2 --hostfile hosts -- python3 train.py' \
  -- mpirun -np 2 -hostfile hosts -mca btl self python3 train.py
# A script that starts ranks itself is started, with a warning: it may be meant.
printf '#!/bin/bash\necho begins\nexec torchrun --standalone --nproc_per_node=4 train.py\n' > wrapper.sh
chmod +x wrapper.sh
for program in 'bash wrapper.sh' ./wrapper.sh; do
  # shellcheck disable=SC2086 # these are words
  expect 0 '' "$DDLRUN" launch --dry-run 2 -- $program
  has "$program" "$work/out" 'wrapper.sh line 3 runs torchrun, which starts ranks itself'
done
expect 0 'the text of bash -c runs mpirun' "$DDLRUN" launch --dry-run 2 -- bash -c 'cd . && mpirun -np 2 ./a'
refused 'mpirun starts ranks itself' 'ddlrun launch 2 -- python3 train.py' 2 -- mpirun -np 4 python3 train.py
finish
