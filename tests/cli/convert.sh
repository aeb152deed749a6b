#!/bin/bash
# SPDX-License-Identifier: MIT
# convert as users run it: whole scripts, judged by bash, shellcheck and the reader of qsub's grammar; streams; refusals.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/job_scripts/convert
grammar=$DDLRUN_SOURCE_DIR/tests/differential/qsub_grammar.py

# judge FILE: the shell takes it; shellcheck has nothing but what the author's own lines bring.
judge() {
  bash -n "$1" || fail "$1: bash does not read it"
  command -v shellcheck >/dev/null || return 0
  shellcheck --exclude=SC1091,SC2164 "$1" >"$work/judged" || fail "$1: $(head -20 "$work/judged")"
}
# convert NAME TO [STATUS]: against NAME.TO.txt; DDLRUN_GOLDEN_WRITE=1 writes it anew
convert() {
  local status=0
  (cd "$golden" && "$DDLRUN" convert "$1" --to "$2") >"$work/new" 2>"$work/err" || status=$?
  [ "$status" -eq "${3-0}" ] || fail "$1: status $status: $(cat "$work/err")"
  [ -z "${DDLRUN_GOLDEN_WRITE-}" ] || cp "$work/new" "$golden/$1.$2.txt"
  diff "$golden/$1.$2.txt" "$work/new" || fail "$1: another script"
  grep -q 'on what changes; the output has them as comments' "$work/err" || fail "$1: nothing is said"
  judge "$work/new"
}
convert kisti_caffe.pbs slurm 1
grep -q '^  line 38: KMP_AFFINITY=.*"=1" after compact' "$work/err" || fail "the error that came along: $(cat "$work/err")"
grep -q '^kisti_caffe.pbs:4: no -l place=scatter: ' "$work/err" || fail "no line numbers: $(cat "$work/err")"
convert array_gpu.slurm pbs
grep -v '^#PBS -V' "$work/new" >"$work/judged.pbs"
python3 "$grammar" "$work/judged.pbs" >"$work/judged" || fail "qsub: $(head "$work/judged")"

# There and back: the request is the same.
"$DDLRUN" convert "$golden/kisti_caffe.pbs" --to slurm >"$work/there.sh" 2>/dev/null || [ $? -eq 1 ] || fail "there"
expect 1 'do not submit the new script unchanged' "$DDLRUN" convert "$work/there.sh" --to pbs
for line in '-N test' '-q normal' '-A caffe' '-l walltime=04:00:00' '-V' '-l select=4:ncpus=68:mpiprocs=1:ompthreads=60'; do
  grep -qxF -- "#PBS $line" "$work/out" || fail "back: no $line: $(grep '^#PBS' "$work/out")"
done
grep -v '^#PBS -V' "$work/out" >"$work/judged.pbs"
python3 "$grammar" "$work/judged.pbs" >"$work/judged" || fail "qsub: $(head "$work/judged")"
[ "$(grep -c 'ddlrun convert' "$work/out")" -eq 2 ] || fail "the first conversion's lines are still there"

# -o: as on stdout, whole or not at all, and never over the script, by whatever name.
"$DDLRUN" convert "$golden/array_gpu.slurm" --to pbs -o "$work/written.pbs" >"$work/out" 2>"$work/err" || fail "-o: $(cat "$work/err")"
[ ! -s "$work/out" ] || fail "-o: a script on stdout too"
cmp "$golden/array_gpu.slurm.pbs.txt" "$work/written.pbs" || fail "-o: another script"
has "-o" "$work/err" "ddlrun: wrote $work/written.pbs"
cp "$golden/array_gpu.slurm" "$work/own.slurm"
ln -s own.slurm "$work/link.slurm"
ln "$work/own.slurm" "$work/hard.slurm"
for name in own link hard; do
  expect_refusal 2 'the output would replace the script' "$DDLRUN" convert "$work/own.slurm" --to pbs -o "$work/$name.slurm"
done
cmp "$golden/array_gpu.slurm" "$work/own.slurm" || fail "-o: the script was replaced"
expect_refusal 3 '' "$DDLRUN" convert "$golden/array_gpu.slurm" --to slurm -o "$work/written.pbs"
cmp "$golden/array_gpu.slurm.pbs.txt" "$work/written.pbs" || fail "-o: an error left another file"
expect_refusal 3 '' "$DDLRUN" convert "$golden/array_gpu.slurm" --to pbs --output "$work/none/a.pbs"
"$DDLRUN" convert "$golden/array_gpu.slurm" --to ddlrun.yaml --output - 2>/dev/null | grep -qx 'dims: 4x2' || fail "-o -: not on stdout"

# From stdin, and a script without anything to say.
"$DDLRUN" convert - --to slurm <"$golden/kisti_caffe.pbs" >"$work/out" 2>/dev/null || [ $? -eq 1 ] || fail "stdin"
grep -q '^#SBATCH --nodes=4$' "$work/out" || fail "stdin: no nodes"

# Torque's array and directory; words that are no option end with status 1, so that "&& sbatch" does not go on.
printf '#!/bin/bash\n#PBS -l nodes=1:ppn=2\n#PBS -t 0-9%%2\n#PBS -d /home/me/run\n./a\n' >"$work/torque.pbs"
expect 0 '#SBATCH --array=0-9%2' "$DDLRUN" convert "$work/torque.pbs" --to slurm
grep -qx '#SBATCH --chdir=/home/me/run' "$work/out" || fail "Torque: no directory"
grep -q OMP_NUM_THREADS "$work/out" && fail "Torque: threads that it never set"
judge "$work/out"
printf '#!/bin/bash\n#PBS -N a b\ncd /\n' >"$work/stray.pbs"
expect 1 'b: not an option' "$DDLRUN" convert "$work/stray.pbs" --to slurm

# With the centre known nothing is guessed; errors that came along are counted.
printf '#!/bin/bash\n#SBATCH -A lab -N 1 -t 1:00:00\nexport A,1\n' >"$work/left.sh"
expect 1 'the new script still has 1 error: ddlrun lint-script - --site kisti-nurion' \
  "$DDLRUN" convert "$work/left.sh" --to pbs --site kisti-nurion
grep -q 'some centres' "$work/err" && fail "guesses beside --site"
grep -q 'kisti-nurion carries the application as -A' "$work/err" || fail "no word of the application"
{ cat "$work/left.sh"; echo '# Written by ddlrun submit; the next line ends it.'; } >"$work/own.sh"
expect_refusal 3 'ddlrun submit --pbs --job DIR/ddlrun.yaml --dry-run' "$DDLRUN" convert "$work/own.sh" --to pbs

expect_refusal 2 'no script given' "$DDLRUN" convert
expect_refusal 2 '--to is missing' "$DDLRUN" convert "$golden/kisti_caffe.pbs"
expect_refusal 2 '--to must be slurm, pbs or ddlrun.yaml' "$DDLRUN" convert "$golden/kisti_caffe.pbs" --to lsf
expect_refusal 3 '--to slurm; for another centre with PBS: --to ddlrun.yaml, then ddlrun submit --site NAME' "$DDLRUN" convert "$golden/kisti_caffe.pbs" --to pbs
printf '#!/bin/sh\ntrue\n' >"$work/none.sh"
expect_refusal 3 'this file has no #PBS and no #SBATCH' "$DDLRUN" convert "$work/none.sh" --to slurm
expect_refusal 3 'No such file' "$DDLRUN" convert "$work/nowhere.sh" --to slurm
# A job file: against NAME.yaml, and submit takes it as it is.
job_file() { # NAME STATUS [OPTION...]
  local status=0
  (cd "$golden" && "$DDLRUN" convert "$1" --to ddlrun.yaml "${@:3}") >"$work/new" 2>"$work/err" || status=$?
  [ "$status" -eq "$2" ] || fail "$1: status $status: $(cat "$work/err")"
  [ -z "${DDLRUN_GOLDEN_WRITE-}" ] || cp "$work/new" "$golden/$1.yaml"
  diff "$golden/$1.yaml" "$work/new" || fail "$1: another job file"
  "$DDLRUN" submit --job "$work/new" --dry-run >"$work/script" 2>"$work/err" || fail "$1: submit refuses it: $(cat "$work/err")"
}
job_file kisti_caffe.pbs 1 --site kisti-nurion
grep -qx '#PBS -l select=4:ncpus=68:mpiprocs=1:ompthreads=60' "$work/script" || fail "another shape: $(grep select "$work/script")"
grep -qx '#PBS -A caffe' "$work/script" || fail "no application"
job_file array_gpu.slurm 0
for line in --nodes=2 --ntasks-per-node=4 --cpus-per-task=8 --gpus-per-node=4 --time=24:00:00 --array=0-7%2; do
  grep -qxF -- "#SBATCH $line" "$work/script" || fail "no $line: $(grep '^#SBATCH' "$work/script")"
done
grep -q '^#SBATCH --exclusive' "$work/script" && fail "the job asks for whole nodes, the script did not"
# No launcher: one process; what no key expresses ends with status 1; a loop before the program stays as it is.
printf '#!/bin/bash\n#SBATCH -N 1 -n 1 -t 1:00:00 --begin=16:00\nfor i in 1 2; do\n  echo $i\ndone\npython train.py\n' >"$work/one.sh"
expect 0 '--begin=16:00: no key: kept in directives' "$DDLRUN" convert "$work/one.sh" --to ddlrun.yaml
for line in 'runner: none' 'program: [python, train.py]' '  - "for i in 1 2; do"'; do
  grep -qxF -- "$line" "$work/out" || fail "no line '$line': $(cat "$work/out")"
done
# The launcher's own numbers: taken where the directives have none, reported where they differ.
head='#!/bin/bash\n#SBATCH -N 2 -t 1:00:00\n'
for row in 'srun -n 8 -c 2 --gres=gpu:4 ./a|4x2|threads: 2' 'horovodrun -np 4 -H a:2,b:2 python t.py|2x2|program: [python, t.py]' \
  'mpirun -np 6 ./a|3x2|program: [./a]'; do
  IFS='|' read -r line dims key <<<"$row"
  printf '%b%s\n' "$head" "$line" >"$work/step.sh"
  expect 0 'not in the directives: taken from this line' "$DDLRUN" convert "$work/step.sh" --to ddlrun.yaml
  grep -qx "dims: $dims" "$work/out" && grep -qxF "$key" "$work/out" || fail "$line: $(cat "$work/out")"
done
# Its tuning reaches the ranks as variables; what no key has is named.
printf '%bhorovodrun -np 4 --fusion-threshold-mb 64 --cycle-time-ms=3.5 --autotune --no-stall-check --timeline-filename $D/t --ssh-port 22 python t.py\n' \
  "$head" >"$work/tuned.sh"
expect 0 'horovodrun: --ssh-port 22: left out' "$DDLRUN" convert "$work/tuned.sh" --to ddlrun.yaml
# shellcheck disable=SC2016
has "convert: a value of the shell is named" "$work/err" 'horovodrun: --timeline-filename $D/t: left out'
for variable in HOROVOD_FUSION_THRESHOLD=67108864 HOROVOD_CYCLE_TIME=3.5 HOROVOD_AUTOTUNE=1 HOROVOD_STALL_CHECK_DISABLE=1; do
  grep -q "^environment: .*$variable" "$work/out" || fail "no $variable: $(cat "$work/out")"
done
printf '%bmpirun -np 4 --bind-to core -x A=1 --mca btl tcp,self ./a\n' "$head" >"$work/mca.sh"
expect 0 'mpirun: --mca btl tcp,self: left out' "$DDLRUN" convert "$work/mca.sh" --to ddlrun.yaml
! grep -q 'bind-to' "$work/err" || fail "what ddlrun does itself is named: $(cat "$work/err")"
printf '%b#SBATCH --ntasks-per-node=4\nsrun -n 2 ./a\n' "$head" >"$work/fewer.sh"
expect 1 'srun: 2 ranks: the job has 8 places' "$DDLRUN" convert "$work/fewer.sh" --to ddlrun.yaml
printf '#!/bin/bash\n#PBS -l select=2:ncpus=4:mpiprocs=4\nmpirun ./a\n./collect.sh\n' >"$work/after.pbs"
expect 1 './collect.sh: runs after the program' "$DDLRUN" convert "$work/after.pbs" --to ddlrun.yaml

# hydra's one word, and options whose values are no program; one that no table has.
printf '%bmpirun -np 16 -genv I_MPI_PIN_DOMAIN=omp -env B=2 -outfile-pattern out.%%r -s all ./caffe train --solver=s.prototxt\n' "$head" >"$work/genv.sh"
run "$DDLRUN" convert "$work/genv.sh" --to ddlrun.yaml
for line in 'environment: [I_MPI_PIN_DOMAIN=omp, B=2]' 'program: [./caffe, train, "--solver=s.prototxt"]'; do
  tr -d '"' <"$work/out" | grep -qxF -- "${line//\"/}" || fail "no line '$line': $(cat "$work/out")"
done
printf '%bmpirun -np 4 -no-such ./caffe\n' "$head" >"$work/unknown.sh"
expect 1 'option -no-such is not known: check program' "$DDLRUN" convert "$work/unknown.sh" --to ddlrun.yaml

# An error of the old script comes along, and the lines are named; a directive that is not read is no silent loss.
printf '#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=4 -t 1:00:00\nsrun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_endpoint=n1:29500 /w/t.py\n' >"$work/torch.sh"
expect 1 'do not submit the new script unchanged, for what stood in torch.sh: line 3' "$DDLRUN" convert "$work/torch.sh" --to pbs
has 'the error of the old script' "$work/err" 'line 3: srun starts torchrun 4 times on each host'
# Errors that the conversion removes are none of the new script.
printf '#!/bin/bash\n#PBS -N t\n#PBS -r n -J 0-3\n#PBS -l walltime=1:00:00\n/w/a\n' >"$work/array.pbs"
expect 1 '[array-not-rerunable]' "$DDLRUN" lint-script "$work/array.pbs"
expect 0 '' "$DDLRUN" convert "$work/array.pbs" --to slurm
printf '#!/bin/bash\n#SBATCH -N 1 -n 1 -t 1:00:00 --signal=B:USR1@60\n/w/a\n' >"$work/untrapped.sh"
expect 1 '[signal-untrapped]' "$DDLRUN" lint-script "$work/untrapped.sh"
expect 0 '' "$DDLRUN" convert "$work/untrapped.sh" --to pbs
printf '#!/bin/bash\n#SBATCH -N 1 -n 1 -t 1:00:00\ncd /\n#SBATCH --mem=4G\npython t.py\n' >"$work/unread.sh"
expect 0 'unread.sh:4: #SBATCH --mem=4G: not read by the scheduler' "$DDLRUN" convert "$work/unread.sh" --to ddlrun.yaml

# A job that puts itself back before its time limit; the shell waits for the program and passes its status on.
cat >"$work/requeue.sh" <<'END'
#!/bin/bash
#SBATCH -N 1 --ntasks-per-node=2 -t 10
#SBATCH --signal=B:USR1@60
trap "scontrol requeue $SLURM_JOB_ID" USR1
srun ./a &
PID=$!
wait $PID
exit $?
END
expect 0 'line 4: trap "scontrol requeue $SLURM_JOB_ID" USR1: left out: `signal` and `requeue` do the same' \
  "$DDLRUN" convert "$work/requeue.sh" --to ddlrun.yaml
has "the signal of a requeue" "$work/out" 'signal: TERM@60'
has "the requeue of a trap" "$work/out" 'requeue: yes'
has_not "a trap that a key replaces" "$work/out" 'setup:'
has_not "a shell that waits" "$work/err" 'runs after the program'

# Without a launcher: the program is what the shell waits for, not the waiting.
own() { # STATUS PROGRAM LINE...: the lines of a script, and the key program of its job file
  printf '%s\n' '#!/bin/bash' '#SBATCH -N 1 -n 1 -t 1:00:00' "${@:3}" >"$work/own_program.sh"
  expect "$1" '' "$DDLRUN" convert "$work/own_program.sh" --to ddlrun.yaml
  same "the program of ${*:3}" "$2" "$(sed -n 's/^program: //p' "$work/out")"
}
# shellcheck disable=SC2016 # as the scripts have it
{
  own 0 '[python3, a.py]' 'python3 a.py &' wait
  has_not "nothing before the program" "$work/out" 'setup:'
  own 0 '[python3, a.py]' 'python3 a.py &' 'child=$!' 'wait "$child"'
  own 0 '[python3, a.py]' "python3 a.py & child=\$!; trap 'kill \$child' TERM; wait \"\$child\""
  own 0 '[python3, a.py]' 'python3 a.py & child=$!' 'while kill -0 $child 2>/dev/null; do wait $child; done' 'exit $?'
  own 0 '[python3, a.py]' date 'python3 a.py' date
  own 0 '[hostname]' hostname
  own 1 '[bash, "-c", "./solver case_$i.dat"]' 'for i in $(seq 1 64); do ./solver case_$i.dat > out_$i & done; wait'
  has "a loop that waits" "$work/err" 'a loop around the program: left out with its lines'
  own 1 '[bash, "-c", "./solver case_$i.dat"]' 'for i in $(seq 1 64); do' '  ./solver case_$i.dat &' done wait
  own 1 '[bash, "-c", "./a &\x0a./b &\x0await"]' './a &' './b &' wait
  has "side by side" "$work/err" '2 commands run in the background, on the first host alone'
  own 1 '[./a]' 'srun ./a' 'cp -r out /home/me'
  has "after the program" "$work/err" "trap 'cp -r out /home/me' EXIT, in setup, runs it at the end of the job"
  own 0 '[./a]' 'A=1 srun ./a'
  has "a variable before the program" "$work/out" 'environment: [A=1]'
  # A variable of one rank is none of the job.
  own 1 '[./a]' 'R=$SLURM_PROCID' 'export RANK_ID=$R' 'srun ./a'
  has "a rank's number for all" "$work/err" 'the batch shell expands $SLURM_PROCID, one value for all ranks'
  has_not "a rank's number for all" "$work/out" 'environment:'
  own 0 '[./a]' 'module load gcc/12' 'srun ./a'
  has "modules of the login" "$work/out" 'purge_modules: no'
  own 0 '[./a]' 'module purge' 'module load gcc/12' 'srun ./a'
  has_not "a purge" "$work/out" 'purge_modules'
}
# The numbers of the ranks are those of each rank.
# shellcheck disable=SC2016 # as the script has it
printf '%s\n' '#!/bin/bash' '#SBATCH -N 1 -n 2 -t 0:10:00' \
  'srun bash -c '"'"'R=$SLURM_PROCID; echo "rank $R, ${SLURM_LOCALID} here, of $SLURM_NTASKS"'"'" >"$work/numbers.sh"
expect 0 '$SLURM_PROCID, $SLURM_LOCALID, $SLURM_NTASKS: replaced by $DDLRUN_RANK' "$DDLRUN" convert "$work/numbers.sh" --to ddlrun.yaml
has_not "numbers of the ranks" "$work/out" 'environment:'
mkdir "$work/numbers"
cp "$work/out" "$work/numbers/ddlrun.yaml"
(cd "$work/numbers" && XDG_STATE_HOME=$work/state "$DDLRUN" submit --local --doctor off --oversubscribe) >"$work/out" 2>"$work/err" ||
  fail "the job of numbered ranks: $(cat "$work/err" "$work/out")"
for rank in 0 1; do
  grep -qx "rank $rank, $rank here, of 2" "$work/out" || fail "numbers of the ranks: $(cat "$work/out" "$work/err")"
done
# What no key has: a directive of the same scheduler is kept, each with its line.
printf '%s\n' '#!/bin/bash' '#SBATCH -N 1 -n 1 -t 1:00:00 --licenses=fs1' '#SBATCH --exclude=gpu013 --hint=nomultithread --switches=1' \
  '#SBATCH --mem=128 --export=NONE --mail-type=END' 'srun ./a' >"$work/kept.sh"
expect 0 'kept.sh:3: --exclude=gpu013: no key: kept in directives' "$DDLRUN" convert "$work/kept.sh" --to ddlrun.yaml
has "kept directives" "$work/out" 'directives: ["--licenses=fs1", "--hint=nomultithread", "--switches=1", "--exclude=gpu013", "--mail-type=END"]'
has "another environment" "$work/err" 'kept.sh:4: --export=NONE: left out: the job has the environment of the shell'
has "little memory" "$work/err" 'kept.sh:4: --mem=128: means 128 MiB'
has_not "kept directives" "$work/err" 'PBS'
expect 1 'kept.sh:3: --exclude=gpu013: no key: hosts:' "$DDLRUN" convert "$work/kept.sh" --to ddlrun.yaml --site generic-pbs
has "another scheduler" "$work/err" 'kept.sh:2: --licenses=fs1: no counterpart in pbs'
has_not "another scheduler" "$work/out" 'directives:'

# The order of the ranks and the threads: what was, and what ddlrun does in its place.
cat >"$work/hello.pbs" <<'END'
#!/bin/bash
#PBS -l select=2:ncpus=4:mpiprocs=4:ompthreads=1 -l walltime=0:10:00
export OMP_NUM_THREADS=1
export KMP_AFFINITY=granularity=fine,compact
mpirun -np 8 -hostfile $PBS_NODEFILE ./hello
END
expect 0 'KMP_AFFINITY=granularity=fine,compact: left out: ddlrun places the threads' "$DDLRUN" convert "$work/hello.pbs" --to ddlrun.yaml
for words in 'to keep yours: environment: ["KMP_AFFINITY=..."]' 'OMP_NUM_THREADS=1: ddlrun sets it for each rank: threads: 1' \
  'no -l place=scatter: PBS may have put several chunks on one host' 'ranks 0-3 were on the first host: order: packed keeps that'; do
  has "header" "$work/out" "$words"
done
grep -qx 'order: packed' "$work/out" || fail "another order: $(cat "$work/out")"
sed 's/mpirun/& --map-by node/; s/^#PBS .*/& -l place=scatter/' "$work/hello.pbs" >"$work/cyclic.pbs"
expect 0 '' "$DDLRUN" convert "$work/cyclic.pbs" --to ddlrun.yaml
has_not "round robin" "$work/out" 'order:'
has_not "scattered" "$work/out" 'no -l place=scatter'
# A comma is part of a value, not a second variable.
sed 's/^export KMP.*/export NCCL_IB_HCA=mlx5_0,mlx5_1/' "$work/hello.pbs" >"$work/comma.pbs"
expect 0 '' "$DDLRUN" convert "$work/comma.pbs" --to ddlrun.yaml
has "a comma" "$work/out" 'environment: ["NCCL_IB_HCA=mlx5_0,mlx5_1"]'
"$DDLRUN" submit --job - --dry-run <"$work/out" >"$work/script" 2>"$work/err" || fail "a comma: $(cat "$work/err")"
# Without a launcher ddlrun places no threads: the variable goes along.
sed 's/^mpirun.*/.\/hello/' "$work/hello.pbs" >"$work/alone.pbs"
run "$DDLRUN" convert "$work/alone.pbs" --to ddlrun.yaml
has "no launcher" "$work/out" 'environment: ["KMP_AFFINITY=granularity=fine,compact"]'

# What the script computes is computed in the job, and reaches the ranks as mpirun -x took it there.
cat >"$work/computed.pbs" <<'END'
#!/bin/bash
#PBS -l select=1:ncpus=2:mpiprocs=2 -l walltime=0:10:00 -l place=scatter
LRS=(0.1 0.03)
LR=${LRS[1]}
export RUNDIR=$(echo run)_$LR
export MASTER_ADDR=$(head -n 1 $PBS_NODEFILE)
export MASTER_PORT=29500
mpirun -np 2 -x MASTER_ADDR -x MASTER_PORT -x RUNDIR -x PLAIN=1 -x "BOTH=$LR-$RUNDIR" ./show $LR
END
expect 0 'MASTER_PORT=29500: ddlrun sets it for each rank (framework: pytorch)' "$DDLRUN" convert "$work/computed.pbs" --to ddlrun.yaml
has "computed values" "$work/out" 'environment: [RUNDIR, PLAIN=1, BOTH, LR]'
has "rendezvous" "$work/out" 'framework: pytorch'
has_not "rendezvous" "$work/out" 'export MASTER'
mkdir "$work/computed"
cp "$work/out" "$work/computed/ddlrun.yaml"
# shellcheck disable=SC2016 # for the rank
printf '#!/bin/sh\necho "rank $RANK of $WORLD_SIZE: $1 $RUNDIR $PLAIN $BOTH ${MASTER_ADDR:+set} $((MASTER_PORT > 0))"\n' >"$work/computed/show"
chmod +x "$work/computed/show"
(cd "$work/computed" && XDG_STATE_HOME=$work/state "$DDLRUN" submit --local --doctor off --oversubscribe) >"$work/out" 2>"$work/err" ||
  fail "the job of computed values: $(cat "$work/err" "$work/out")"
for rank in 0 1; do
  grep -qx "rank $rank of 2: 0.03 run_0.03 1 0.03-run_0.03 set 1" "$work/out" || fail "computed values: $(cat "$work/out" "$work/err")"
done
# A variable that the script sets, and that stands on the program's line too, is one variable.
# shellcheck disable=SC2016 # as the script has it
printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=1 -t 0:10:00' 'export NCCL_DEBUG=INFO' 'export LR=0.1' \
  'srun torchrun --nnodes=2 --nproc_per_node=2 --rdzv_endpoint=$MASTER_ADDR:29500 ddp.py --lr $LR --at $MASTER_ADDR' >"$work/once.sh"
expect 0 'a shell on each rank replaces it there' "$DDLRUN" convert "$work/once.sh" --to ddlrun.yaml
has "a variable set and used" "$work/out" 'environment: [NCCL_DEBUG=INFO, LR=0.1]'
# A loop or a condition around the program: named, with what a job file has instead; no half of it is setup.
cat >"$work/loop.pbs" <<'END'
#!/bin/bash
#PBS -l select=1:ncpus=2:mpiprocs=2 -l walltime=0:10:00
for i in a b; do echo $i; done
for lr in 0.1 "a b"; do
  mkdir run_$lr
  mpirun -np 2 ./a $lr 2>&1 | tee log.$lr
  ./collect
done
./after
END
expect 1 "line 4: for lr in 0.1 \"a b\"; do: a loop around the program" "$DDLRUN" convert "$work/loop.pbs" --to ddlrun.yaml
# shellcheck disable=SC2016 # as convert prints it
has "a loop" "$work/out" 'array: 0-1 starts a task for each value, with setup: VALUES=(0.1 '"'a b'"'); lr=${VALUES[$DDLRUN_ARRAY_INDEX]}'
has "a loop" "$work/out" './after: runs after the program'
has "a loop" "$work/err" 'edit the new file before you submit it, for what stood in loop.pbs: line 4, line 9 (status 1)'
has "a pipe in a loop" "$work/out" "line 6: | tee log.\$lr: the output goes to the job's log; output: FILE puts that there"
has_not "half a loop" "$work/out" 'mkdir'
has_not "half a loop" "$work/out" './collect'
has "a whole loop" "$work/out" '  - "for i in a b; do echo $i; done"'
# What stands around the program in its line, and not the line.
around() { # LINE: the notes on it, without those on the launcher
  printf '#!/bin/bash\n#PBS -l select=1:ncpus=2:mpiprocs=2\n%s\n' "$1" >"$work/around.pbs"
  "$DDLRUN" convert "$work/around.pbs" --to ddlrun.yaml 2>/dev/null | sed -n '/mpirun:/d; s/^#   line 3: //p'
  return "${PIPESTATUS[0]}"
}
long="bash -c \"$(printf 'echo %0220d' 0)\""
same "a pipe to tee" "| tee log.txt: the output goes to the job's log; output: log.txt puts that there" \
  "$(around "mpirun -np 2 $long | tee log.txt" || echo "status $?")"
only=': only the started program is carried over, not what stands around it'
same "another pipe" "| grep loss | tee log.txt$only
status 1" "$(around "mpirun -np 2 $long | grep loss | tee log.txt" || echo "status $?")"
same "commands around it" "cd run &&$only
&& ./after$only
status 1" "$(around "cd run && mpirun -np 2 $long && ./after" || echo "status $?")"
same "nothing around it" "" "$(around "mpirun -np 2 $long;")"
for opening in 'while read x; do' 'until ./a; do' 'if true; then' 'case $x in a)' 'for i; do mkdir $i;'; do
  printf '#!/bin/bash\n#PBS -l select=1:ncpus=2:mpiprocs=2\ndate\n%s\n  mpirun ./a\n%s\n' "$opening" "$([[ $opening == *do* ]] && echo done || { [[ $opening == if* ]] && echo fi || echo esac; })" >"$work/half.pbs"
  expect 1 'around the program: left out with its lines' "$DDLRUN" convert "$work/half.pbs" --to ddlrun.yaml
  same "half of '$opening'" $'setup:\n  - "date"\nprogram: [./a]' "$(sed -n '/^setup/,/^program/p' "$work/out")"
done

# torchrun, once on each node: its processes are the ranks, and the variables by which its agents meet are left out.
cat >"$work/torch.sh" <<'EOF'
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=16
#SBATCH --time=01:00:00
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
srun python -m torch.distributed.run --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$MASTER_ADDR:29500 train.py --epochs 3
EOF
# shellcheck disable=SC2016 # as the script has it
expect 0 'MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1): ddlrun sets it for each rank' \
  "$DDLRUN" convert "$work/torch.sh" --to ddlrun.yaml
for words in 'dims: 4x2' 'cores_per_node: 16' 'program: [python, train.py, "--epochs", 3]' 'framework: pytorch'; do
  grep -qxF "$words" "$work/out" || fail "torchrun: no $words: $(cat "$work/out")"
done
! grep -q '^threads: ' "$work/out" || fail "the cores of the one task are taken for each rank: $(cat "$work/out")"
sed 's/srun python -m torch.distributed.run/srun torchrun/' "$work/torch.sh" >"$work/torchrun.sh"
expect 0 '' "$DDLRUN" convert "$work/torchrun.sh" --to ddlrun.yaml
grep -qxF 'program: [python3, train.py, "--epochs", 3]' "$work/out" || fail "torchrun: $(grep program "$work/out")"
# A name with a command in it stays a name in the shell of each rank.
# shellcheck disable=SC2016
sed "s|srun python -m|srun '/opt/a\$(id)/python3' -m|; s|--epochs 3|\"\$EPOCHS\"|" "$work/torch.sh" >"$work/quoted.sh"
run "$DDLRUN" convert "$work/quoted.sh" --to ddlrun.yaml
# shellcheck disable=SC2016
grep -qF "'/opt/a\$(id)/python3' train.py" "$work/out" || fail "a literal became a command: $(grep program "$work/out")"
reports() { # SED-SCRIPT TEXT
  sed "$1" "$work/torchrun.sh" >"$work/changed.sh"
  expect 1 "$2" "$DDLRUN" convert "$work/changed.sh" --to ddlrun.yaml
}
reports 's/per-node=1/per-node=2/' 'srun starts it 4 times in a job of 2 hosts'
reports 's/^srun /srun -N 1 -n 1 /' 'srun starts it 1 time in a job of 2 hosts'
reports 's/^srun //' 'without srun it starts on the first of 2 hosts only'
# shellcheck disable=SC2016 # as the script has it
reports 's/nproc_per_node=4/nproc_per_node=$GPUS/' '$GPUS processes of each host: not known here'
reports 's/nnodes=2/nnodes=1:4/' '--nnodes 1:4: the job has 2 hosts'
reports 's/train.py/--max-restarts 3 train.py/' '--max-restarts 3 has no counterpart'
reports "s/srun torchrun.*/srun bash -c 'torchrun train.py'/" 'torchrun: inside another command'
# torchrun without --nnodes trained on each host for itself; the new job is one training.
for words in '' '--standalone ' '--nnodes=1 '; do
  printf '#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1 --time=1:00:00\nsrun torchrun %s--nproc_per_node=2 train.py\n' "$words" >"$work/apart.sh"
  expect 0 'this line ran 2 separate trainings; ddlrun runs one on 2 hosts' "$DDLRUN" convert "$work/apart.sh" --to ddlrun.yaml
  has "torchrun $words" "$work/out" 'dims: 2x2'
  has "torchrun $words" "$work/out" 'cores_per_node: 2' # of one task's one core
  has "torchrun $words" "$work/err" 'too few for 2 processes of torchrun'
done
printf '#!/bin/bash\n#PBS -l select=2:ncpus=4:mpiprocs=1 -l walltime=1:00:00\nmpirun -n 2 torchrun --nproc_per_node=2 train.py\n' >"$work/apart.pbs"
expect 0 'no --nnodes: this line ran 2 separate trainings' "$DDLRUN" convert "$work/apart.pbs" --to ddlrun.yaml
# submit accepts each file that convert writes, for each site, from another directory; else nothing is written.
mkdir -p "$work/sites"
printf 'scheduler: pbs\nrequired: [queue, account]\nwalltime_most: 30m\n' >"$work/sites/strict.yaml"
printf 'scheduler: slurm\nqueue_walltimes: {gpu: 2h}\n' >"$work/sites/open.yaml"
printf '#!/bin/bash\n#SBATCH -N 1 -n 2 -t 90:00:00 -p gpu -q long -o %%x.$HOME.out\nfor i in 1 2; do\n  ./a "$SLURM_JOB_ID"\ndone\n' >"$work/odd.sh"
written=0
for script in "$golden"/*.pbs "$golden"/*.slurm "$golden"/*.pbs.txt "$golden"/*.slurm.txt "$work"/*.sh "$work"/*.pbs; do
  grep -qE '^#(PBS|SBATCH) ' "$script" || continue
  for site in '' sites/strict.yaml sites/open.yaml generic-slurm generic-pbs generic-torque gpu-servers kisti-neuron kisti-nurion; do
    status=0
    (cd "$work" && "$DDLRUN" convert "$script" --to ddlrun.yaml ${site:+--site "$site"}) >"$work/new" 2>"$work/err" || status=$?
    if [ "$status" -gt 1 ]; then
      [ ! -s "$work/new" ] || fail "$script, site '$site': status $status and a file"
      continue
    fi
    written=$((written + 1))
    (cd / && "$DDLRUN" submit --job "$work/new" --dry-run) >"$work/script" 2>"$work/err" ||
      # A key that the site requires and the script lacks is all that may be missing.
      ! grep '^ddlrun: error: ' "$work/err" | grep -qv ' requires [a-z_]* for every job$' ||
      fail "$script, site '$site': submit rejects it: $(cat "$work/err")"
  done
done
[ "$written" -ge 100 ] || fail "only $written job files"
(cd "$work" && expect 1 'site: strict requires queue for every job, and submit asks for it' \
  "$DDLRUN" convert step.sh --to ddlrun.yaml --site sites/strict.yaml)
has "a site that wants more" "$work/out" "site: $work/sites/strict.yaml"
# One value that the site does not give is left out, and not the site.
sed 's/walltime=04:00:00/walltime=60:00:00/' "$golden/kisti_caffe.pbs" >"$work/long.pbs"
expect 1 'walltime: 60:00:00: left out' "$DDLRUN" convert "$work/long.pbs" --to ddlrun.yaml --site kisti-nurion
has "a site with one bad value" "$work/out" 'site: kisti-nurion'
has "a site with one bad value" "$work/err" 'kisti-nurion requires walltime for every job, and submit asks for it; add walltime: 4h'
cp "$work/out" "$work/long.yaml"
expect 3 'requires walltime for every job' "$DDLRUN" submit --job "$work/long.yaml" --dry-run
expect 1 "qos: long: left out: qos is Slurm's" "$DDLRUN" convert "$work/odd.sh" --to ddlrun.yaml --site generic-pbs
grep -qF '$SLURM_JOB_ID: not set under the scheduler of the site: pbs' "$work/err" || fail "no word of its variables: $(cat "$work/err")"
printf '#!/bin/bash\n#SBATCH -N 1\n' >"$work/empty.sh"
expect_refusal 3 'no job file from this script: there is no program' "$DDLRUN" convert "$work/empty.sh" --to ddlrun.yaml
expect_refusal 2 '--to must be slurm, pbs or ddlrun.yaml' "$DDLRUN" convert "$work/after.pbs" --to lsf
finish
