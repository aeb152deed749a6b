#!/bin/bash
# SPDX-License-Identifier: MIT
# submit where no scheduler is: scripts on stdout (dry run), layers of settings, all mistakes at once, jobs on this
# machine from begin to end. What a real Slurm does with it: ../cluster/submit.sh.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$(readlink -f "$(dirname "$0")/../golden")
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
cd "$work" || exit 1
small=(--local --runner none --doctor off --walltime 5m)

# Nothing but the script on stdout, nothing on disk.
expect 0 'sbatch --parsable job.sh' "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run -- ./train --epochs 3
bash -n out || fail "bash does not read the script"
for line in '#SBATCH --nodes=2' '#SBATCH --ntasks-per-node=4' '#SBATCH --time=01:00:00'; do
  grep -qxF -- "$line" out || fail "no '$line'"
done
expect 0 'qsub job.sh' "$DDLRUN" submit --pbs 4x2x1 --cores-per-node 68 --walltime 1h --dry-run -- ./train
grep -q '^#PBS -l select=2:ncpus=68:mpiprocs=4' out || fail "no select: $(grep '^#PBS' out)"
if [ -e ddlrun-jobs ] || [ -e state ]; then fail "a dry run wrote something"; fi
# PBS brings its file at the end of the job; the script has made the directory by then.
has_not 'a directory that PBS does not need' err 'mkdir'
# Slurm opens its file before the script starts: submit prints the command that makes the directory.
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run -- ./train
mkdir_line=$(grep '^mkdir -p ' err) || fail "no mkdir to type: $(cat err)"
case "$(sed -n 's/^#SBATCH --output=//p' out)" in "${mkdir_line#mkdir -p }"/*) ;; *) fail "'$mkdir_line' is not for the log" ;; esac

# A script that is handed in by hand makes its directory, for its log and its exit status; `logs` finds the log there.
mkdir by_hand && cd by_hand || exit 1
"$DDLRUN" submit --pbs 1x1 --cores-per-node 1 --walltime 1h --doctor off --dry-run -- sh -c 'echo of the program' > solve.sh 2> /dev/null
by_hand=$(sed -n 's/^ddl_dir=//p' solve.sh)
[ ! -e "$by_hand" ] || fail "a dry run made $by_hand"
expect 0 '' env -u PBS_JOBID bash solve.sh
same 'the status of a script by hand' 0 "$(cat "$by_hand/exit_status")"
same 'mode of its directory' 700 "$(stat -c %a "$by_hand")"
for word in last "$by_hand" "ddlrun-jobs/${by_hand##*/}"; do
  expect 0 'of the program' "$DDLRUN" logs "$word"
  expect 0 'of the program' "$DDLRUN" logs -f "$word"
done
rm -r ddlrun-jobs
expect_refusal 3 'there is no run in this directory' "$DDLRUN" logs "ddlrun-jobs/${by_hand##*/}"
cd .. || exit 1

# How launch numbers the ranks in the job; 16 ranks of mpirun would fill a node first.
expect 0 'order: ddl: rank 1 is on node 2; --order packed fills node 1 first' \
  "$DDLRUN" submit --pbs --cores-per-node 8 4x4 --walltime 1h --dry-run -- ./train
expect 0 'order: packed: ranks 0 to 3 are on node 1' \
  "$DDLRUN" submit --pbs --cores-per-node 8 4x4 --order packed --walltime 1h --dry-run -- ./train
expect 0 'order: packed' "$DDLRUN" submit --slurm 4x4 --framework pytorch --walltime 1h --dry-run -- ./train
expect 0 '' "$DDLRUN" submit --slurm 4x1 --walltime 1h --dry-run -- ./train
has_not 'one node has one order' err 'order:'

# Without qsub here the paths in the script are of another machine.
without_qsub() { expect 0 "$1" env PATH=/nonexistent "$DDLRUN" submit --pbs 1x1 --cores-per-node 1 --walltime 1h --dry-run "${@:2}" -- /bin/true; }
without_qsub "note: no qsub here, and the script has of this host its ddlrun $(readlink -f "$DDLRUN") and its working directory $PWD;"
without_qsub '' --ddlrun /opt/ddlrun --workdir /tmp
has_not 'both paths are named' err 'note: no qsub'

# An option of ddlrun that the program gets: one line ahead of the submission, which goes on.
expect 0 "--dry-run behind '--' goes to the program" "$DDLRUN" submit "${small[@]}" 1x1 -- echo --dry-run
grep -qx -- --dry-run out || fail "the program has no --dry-run: $(cat out)"
rm -rf ddlrun-jobs state
expect 0 "--dry-run behind '--' goes to the program" "$DDLRUN" launch 1 -- echo --dry-run
expect 0 '' "$DDLRUN" launch 1 --dry-run -- echo --dry-run
has_not 'a dry run without a warning' err 'goes to the program'

# Lists of Slurm, and GPUs of nodes without a number.
expect 0 '' "$DDLRUN" submit --slurm --queue gpu,gpu_long --array 0,2,5-9:2%2 1x1 --walltime 1h --dry-run -- ./train
has 'partitions' out '#SBATCH --partition=gpu,gpu_long'
has 'a list of tasks' out '#SBATCH --array=0,2,5-9:2%2'
expect 2 "a list of partitions is Slurm's" "$DDLRUN" submit --pbs --queue gpu,gpu_long --cores-per-node 8 1x1 --walltime 1h --dry-run -- ./train
expect 2 'neither says how many ranks each node has' "$DDLRUN" submit --slurm --nodes 2 --gpus per-rank --walltime 1h --dry-run -- ./train
has 'what to type' err 'try: --dims 4x2   # 4 ranks with a GPU each on each node; or --gpus 4'
# doctor in the job knows what launch passes to all ranks: that is no leftover of the first host.
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run -- ./train
# shellcheck disable=SC2016
doctor_line='"$ddl_binary" doctor --quick --dims 4x2x1 --exclusive --warn GPU "${ddl_exports[@]}" -- '
has "doctor gets the exports" out "$doctor_line"
check "the exports come before doctor" test "$(grep -n '^ddl_exports=' out | cut -d: -f1)" -lt "$(grep -nF "$doctor_line" out | cut -d: -f1)"
# The thread variables that launch sets in the job; with another runner they are lines of the script.
threads_of() { # VARIABLES [OPTION...]
  "$DDLRUN" submit --pbs 4x2x1 --walltime 1h --dry-run "${@:2}" -- ./train > out 2> err || fail "submit ${*:2}: $(cat err)"
  grep -qF "ddlrun: launch sets for each rank: $1" err || fail "no thread variables $1: $(cat err)"
}
threads_of 'OMP_NUM_THREADS=17 OMP_PLACES=cores OMP_PROC_BIND=close MKL_NUM_THREADS=17 (' --cores-per-node 68
threads_of 'OMP_NUM_THREADS=17 KMP_AFFINITY=granularity=fine,compact,1,0 KMP_BLOCKTIME=1' --cores-per-node 68 --affinity libomp
threads_of 'OMP_NUM_THREADS=17 MKL_NUM_THREADS=17 KMP_AFFINITY=scatter' --cores-per-node 68 --environment KMP_AFFINITY=scatter
threads_of 'OMP_NUM_THREADS, KMP_AFFINITY and KMP_HW_SUBSET' --cores-per-node 68 --framework intel-caffe
threads_of 'OMP_NUM_THREADS=17' --cores-per-node 68 --affinity off
OMP_NUM_THREADS=3 threads_of 'OMP_NUM_THREADS=17' --cores-per-node 68
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --runner srun --cores-per-node 68 --walltime 1h --dry-run -- ./train
grep -qx 'export OMP_NUM_THREADS=17' out && ! grep -q 'launch sets' err || fail "runner srun: $(cat err)"
# The rule of launch: no places for PyTorch, whose data loaders would inherit them.
printf 'import torch.distributed\n' > torch.py
for typed in '' '--affinity libgomp'; do
  # shellcheck disable=SC2086 # these are words
  expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --runner srun --cores-per-node 68 --walltime 1h --dry-run $typed -- python3 torch.py
  grep -qx 'export OMP_NUM_THREADS=17' out || fail "no OMP_NUM_THREADS with '$typed'"
  case $typed in
    '') if grep -E '^export (OMP_P|MKL|KMP)' out || ! grep -q 'affinity: off, as `launch` chooses' err; then fail "PyTorch: $(cat err)"; fi ;;
    *) grep -qx 'export OMP_PLACES=cores' out || fail "no places although they are named" ;;
  esac
done
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --runner none --cores-per-node 68 --walltime 1h --dry-run --workdir / -- python3 "${work#/}/torch.py"
grep -q 'affinity: off' err || fail "a script below --workdir is not read: $(cat err)"
: > image.sif # the script of a job in a container counts as well
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --container image.sif --cores-per-node 68 --walltime 1h --dry-run -- python3 torch.py
grep -qx 'ddlrun: launch sets for each rank: OMP_NUM_THREADS=17' err || fail "PyTorch in a container: $(cat err)"
rm image.sif
# What doctor in the job knows of the launcher and of GPUs; variables by name.
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --runner srun --threads 2 --walltime 1h --dry-run -- ./train
grep -q 'doctor --quick --dims 4x2x1 --via srun --exclusive --warn GPU -- ' out || fail "doctor needs ssh: $(grep doctor out)"
grep -q -- '--doctor warn goes on' out || fail "no way round doctor"
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --gpus per-rank --exclusive no --threads 2 --walltime 1h --dry-run -- ./train
grep -q 'doctor --quick --dims 4x2x1 --gpus 4 "\${ddl_exports\[@\]}" -- ' out || fail "doctor does not know the GPUs: $(grep doctor out)"
expect 0 '' "$DDLRUN" submit --slurm 1x1x1 --environment A=1,B=2 --environment C --walltime 1h --dry-run -- ./train
grep -qxF 'ddl_passed=(A B C)' out || fail "not three variables: $(grep ddl_passed out)"

# Options for launch and doctor in the job, checked as those check them.
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run --verify strict --rank-output files --stall-timeout 300 \
  --on-stall end --max-restarts 2 --doctor-skip LIM-01,NET --doctor-warn CPU -- ./train
grep -qF ' launch 4x2x1 --strict --rank-output files --stall-timeout 300 --on-stall end --max-restarts 2 --run-dir' out ||
  fail "options for launch: $(grep ' launch ' out)"
grep -qF "doctor --quick --dims 4x2x1 --skip 'LIM-01,NET' --warn CPU --exclusive --warn GPU " out || fail "options for doctor: $(grep doctor out)"
expect 0 '' "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run --launcher ssh --interface 10.0.0.0/24 --mem-bind bind --visible-gpus one -- ./train
grep -qF ' launch 4x2x1 --launcher ssh --interface 10.0.0.0/24 --mem-bind bind --visible-gpus one --run-dir' out ||
  fail "the launcher's options: $(grep ' launch ' out)"
grep -qF 'doctor --quick --dims 4x2x1 --interface 10.0.0.0/24 ' out || fail "doctor does not know the network: $(grep doctor out)"
expect_refusal 2 "interface: 'foo/bar' is no network and no interface" "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run \
  --interface foo/bar -- ./train
expect 0 '' "$DDLRUN" submit --slurm 2x1 --walltime 1h --dry-run --interface ib0 -- ./train
! grep -q 'doctor .*--interface' out || fail "a network of one host: $(grep doctor out)"
expect_refusal 2 "launcher: 'sru' is not one of auto, openmpi, mpich, intelmpi, srun, ssh" "$DDLRUN" submit --slurm 4x2x1 --walltime 1h \
  --dry-run --launcher sru -- ./train
expect_refusal 2 "mem_bind: 'foo' is not one of bind, local, preferred" "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run \
  --mem-bind foo -- ./train
# A yes|no option without a value, as launch has it; DIMS behind it stay DIMS, and a number is a value of --requeue.
hour=(submit --slurm --walltime 1h --dry-run)
for words in '--verify 4x2x1' '--verify 8' '4x2x1 --verify' '--verify yes 4x2x1'; do
  # shellcheck disable=SC2086 # these are words
  expect 0 '' "$DDLRUN" "${hour[@]}" $words -- ./train
  grep -qE ' launch (4x2x1|8x1x1) --verify ' out || fail "$words: $(grep ' launch ' out err)"
done
expect 0 '' "$DDLRUN" "${hour[@]}" --oversubscribe 4x2 --verify=no --requeue --exclusive --purge-modules --modules a -- ./train
grep -q ' launch 4x2x1 --no-verify --oversubscribe --run-dir' out && grep -q ' doctor .* --exclusive --oversubscribe ' out && grep -qx '#SBATCH --requeue' out && grep -qx '#SBATCH --exclusive' out &&
  grep -qx 'module purge' out || fail "yes by its option alone: $(cat out)"
expect 0 '' "$DDLRUN" "${hour[@]}" --requeue 2 4x2 -- ./train
grep -q -- '-ge 2 \]' out || fail "--requeue 2: $(cat out)"
expect 2 "verify 'node1': it is one of yes, no, strict" "$DDLRUN" "${hour[@]}" 4x2 --verify node1 -- ./train
printf 'dims: 1x2\nprogram: [true]\nrank_output: file\nstall_timeout: 5m\non_stall: stop\nmax_restarts: -1\ndoctor_skip: LIM-1\n' > passed.yaml
expect_refusal 3 "rank_output: 'file' is not one of files, prefix, screen" "$DDLRUN" submit --local --job passed.yaml
for line in 'at:  passed.yaml:3:14' 'try: rank_output: files' "stall_timeout must be a number from 0 to 86400, not '5m'" \
  'try: stall_timeout: 60   # seconds' "on_stall must be warn or end, not 'stop'" 'try: on_stall: end' \
  "max_restarts must be a number from 0 to 1000, not '-1'" "doctor_skip: there is no check 'LIM-1'" 'try: LIM-0'; do
  grep -qF -- "$line" err || fail "no '$line': $(cat err)"
done
expect_refusal 2 "on_stall must be warn or end, not 'stop'" "$DDLRUN" submit --local 1x1 --on-stall stop -- true
grep -q 'try: --on-stall end$' err || fail "not as typed: $(cat err)"

# A flag over a variable over ddlrun.yaml over the configuration; each alone, then all.
time_of() { "$DDLRUN" submit --slurm --dry-run "$@" 2> err | sed -n 's/^#SBATCH --time=//p'; }
layer() { [ "$2" = "$3" ] || fail "$1: time $3, not $2: $(head -3 err)"; }
mkdir -p config/ddlrun
printf 'dims: 1x1x1\nwalltime: 4h\nprogram: [true]\n' > config/ddlrun/config.yaml
layer configuration 04:00:00 "$(time_of)"
printf 'walltime: 3h\n' > ddlrun.yaml
layer ddlrun.yaml 03:00:00 "$(time_of)"
printf 'walltime: 5h\n' > other.yaml
layer --job 05:00:00 "$(time_of --job other.yaml)"
layer DDLRUN_WALLTIME 02:00:00 "$(DDLRUN_WALLTIME=2h time_of)"
layer flag 01:00:00 "$(DDLRUN_WALLTIME=2h time_of --walltime 1h)"
rm -r config ddlrun.yaml

# All mistakes at once, each with its place; status 3.
printf 'walltime: 90\ndims: 2x\nqueu: long\nprogram: [true]\n' > bad.yaml
expect_refusal 3 'bad.yaml:1:11' "$DDLRUN" submit --slurm --job bad.yaml
[ "$(grep -c '^ddlrun: error: ' err)" -ge 3 ] || fail "not all mistakes: $(cat err)"
grep -q 'queue' err || fail "no suggestion for 'queu'"
expect_refusal 3 'cannot read' "$DDLRUN" submit --slurm --job none.yaml
touch job.sh
expect_refusal 2 'job.sh is a file, not DIMS' "$DDLRUN" submit job.sh
has "submit job.sh" "$work/err" '  try: ddlrun convert job.sh --to ddlrun.yaml > ddlrun.yaml, then ddlrun submit'
expect_refusal 2 'bad.yaml is a file, not DIMS' "$DDLRUN" submit bad.yaml
has "submit bad.yaml" "$work/err" '  try: ddlrun submit --job bad.yaml'
grep '^  at:' err | sort -c -t : -k 3n || fail "not in the order of the file: $(cat err)"
# Only the command line is wrong: 2; a file too: 3.
expect_refusal 2 'walltime' "$DDLRUN" submit --slurm 1x1x1 --walltime 90 -- true
expect_refusal 2 'there is no program' "$DDLRUN" submit --slurm 1x1x1 --walltime 1h
grep -q 'ddl-train' err || fail "the bundled trainer is not offered: $(cat err)"
expect_refusal 2 'there is no program' "$DDLRUN" submit --slurm 2x2 job.sh --walltime 1h
grep 'ddlrun: error' err | grep -vq 'no program' && fail "a program is taken for a host: $(cat err)"
expect_refusal 2 'shape is missing' "$DDLRUN" submit --slurm --walltime 1h -- true
expect_refusal 3 'bad.yaml:1:11' "$DDLRUN" submit --slurm --job bad.yaml --memory 5 1x1x1 -- true
expect_refusal 2 '--cores-per-node' "$DDLRUN" submit --slurm 4x2x1 --runner srun --walltime 1h --dry-run -- true
expect_refusal 2 "--environment 'A=...'" "$DDLRUN" submit --slurm 1x1x1 --environment A=x,Y --walltime 1h --dry-run -- ./t
expect_refusal 2 'try: -- ./t' "$DDLRUN" submit --slurm 4x2x1 --walltime 1h --dry-run ./t
expect_refusal 2 'try: --walltime' "$DDLRUN" submit --slurm 1x1x1 --wallclock 4h -- true
expect_refusal 2 'more than one scheduler' "$DDLRUN" submit --slurm --pbs 1x1x1 -- true
expect_refusal 2 'given twice' "$DDLRUN" submit --slurm 1x1x1 --dims 1x1x1 -- true
expect_refusal 2 '--waltime' "$DDLRUN" submit --slurm 1x1x1 --waltime 1h -- true
expect_refusal 3 'neither sbatch nor qsub' env PATH=/nowhere "$DDLRUN" submit 1x1x1 --walltime 1h -- true

# A program without its dashes is no list of hosts.
expect_refusal 2 'try: -- python train.py' "$DDLRUN" submit --slurm 4x2x1 python train.py
expect_refusal 2 'try: -- python   #' "$DDLRUN" submit --slurm 4x2x1 --walltime 1h python
expect_refusal 2 'try: join hosts with commas: h1,h2' "$DDLRUN" submit --slurm 4x2x1 h1 h2 -- true

# No walltime: the site's limit; srun's MPI; variables by prefix; a working directory with a blank.
expect 0 'time limit is that of the default partition' "$DDLRUN" submit --slurm 1x1x1 --dry-run -- ./t
expect 0 'time limit is that of queue long' "$DDLRUN" submit --pbs --cores-per-node 8 --queue long 1x1x1 --dry-run -- ./t
srun_job=(submit --slurm --runner srun --threads 1 --walltime 1h 1x1x1 --dry-run)
expect 0 '' "$DDLRUN" "${srun_job[@]}" -- ./t
grep -q 'srun .* --mpi=pmix ' out || fail "srun's MPI: $(grep srun out)"
expect 0 '' "$DDLRUN" "${srun_job[@]}" --srun-mpi pmi2 -- ./t
grep -q 'srun .* --mpi=pmi2 ' out || fail "srun's MPI: $(grep srun out)"
echo 'srun_mpi: ""' > mpi.yaml
expect 0 '' "$DDLRUN" "${srun_job[@]}" --job mpi.yaml -- ./t
grep -q -- '--mpi' out && fail "srun's MPI is not left out"
expect_refusal 2 'environment' "$DDLRUN" submit --slurm 1x1x1 --environment '*' --walltime 1h --dry-run -- ./t
cat > standin << 'STANDIN'
#!/bin/bash
[ "$1" = launch ] && printf '%s\n' "$*"
STANDIN
chmod +x standin
expect 0 '' env -i PATH="$PATH" HOME="$work" ABC_A=1 ABC_TOKEN=2 ABC_API_KEY=3 ABC_PKEY=4 ABC_MAX_TOKENS=6 abc_secret=7 ABC_Auth=8 OTHER=5 \
  "$DDLRUN" submit --local --doctor off --ddlrun "$PWD/standin" --environment 'OTHER,ABC_*,NONE_*' --walltime 5m 1x1x1 -- true
grep -q -- '-x OTHER -x ABC_A -x ABC_MAX_TOKENS -x ABC_PKEY -- true$' out || fail "variables by prefix: $(cat out)"
# PBS takes no patterns: what a wildcard means here is named. A log that grows, and no word in Slurm's for loop.
expect 0 '' env -i PATH="$PATH" HOME="$work" D=3 NCCL_X=1 NCCL_TOKEN=2 NCCL_PASS=4 \
  "$DDLRUN" submit --pbs --cores-per-node 8 --environment 'D,NCCL_*' --walltime 5m --dry-run 1x1x1 -- true
grep -qx '#PBS -v D,NCCL_X' out || fail "variables by prefix: $(grep '^#PBS -v' out)"
grep -q '^exec >>"$ddl_log" 2>&1' out || fail "the log of PBS does not grow"
echo 'directives: ["-k oe"]' > k.yaml
expect_refusal 3 'output' "$DDLRUN" submit --pbs --cores-per-node 8 --job k.yaml --walltime 5m --dry-run 1x1x1 -- true
# qstat -f shows the values of -v to every user (qstat(1B) of OpenPBS: Variable_List): a secret gets a warning, once.
expect 0 'warning: qstat -f shows the value of HF_TOKEN to every user' env HF_TOKEN=hf_x "$DDLRUN" submit --pbs --cores-per-node 8 \
  --environment HF_TOKEN --environment DATA_ROOT --walltime 5m --dry-run 1x1x1 -- true
grep -q '^  try: umask 077;.* > ~/.secrets/HF_TOKEN   #' err || fail "no remedy: $(cat err)"
if grep -q hf_x out err; then fail "the secret's value is shown"; fi
echo 'directives: ["-v A=1,DB_PASSWORD"]' > secret.yaml
expect 0 'shows the values of HF_TOKEN, DB_PASSWORD to' env HF_TOKEN=hf_x "$DDLRUN" submit --torque --cores-per-node 8 --environment HF_TOKEN \
  --job secret.yaml --walltime 5m --dry-run 1x1x1 -- true
for words in '--pbs --environment DATA_ROOT' '--slurm --environment HF_TOKEN'; do
  # shellcheck disable=SC2086
  expect 0 '' "$DDLRUN" submit $words --cores-per-node 8 --walltime 5m --dry-run 1x1x1 -- true
  if grep -q 'qstat -f shows' err; then fail "a secret is said to be shown: $words: $(cat err)"; fi
done

# Settings in the environment: a misspelt name is an error; variables that a job sets for its program are no settings.
expect_refusal 3 'export DDLRUN_WALLTIME=4h' env DDLRUN_WALTIME=4h "$DDLRUN" submit --slurm --dry-run 1x1x1 -- true
expect 0 '--data /nonexist' env DDLRUN_DATA=/nonexist "$DDLRUN" submit --slurm --walltime 5m --dry-run 1x1x1 -- true
grep -q /nonexist out && fail "the data of another job: $(grep nonexist out)"
expect 0 '' env DDLRUN_JOB_ID=7 DDLRUN_DATA=/nonexist "$DDLRUN" submit --slurm --walltime 5m --dry-run 1x1x1 -- true
grep -q nonexist err && fail "inside a job nothing is to be reported"
# Tasks with one log; one core a rank on a shared node; nothing in YAML; a template of another scheduler.
expect_refusal 2 'try: --output log.%a.txt' "$DDLRUN" submit --slurm --array 0-1 --output log.txt --walltime 5m --dry-run 1x1x1 -- true
expect 0 '' "$DDLRUN" submit --slurm --array 0-1 --output log.%j.txt --walltime 5m --dry-run 1x1x1 -- true
expect_refusal 2 'one core' "$DDLRUN" submit --slurm --exclusive no --gpus 4 --walltime 5m --dry-run 4x1x1 -- true
printf 'dims: 1x1x1\nwalltime: 5m\nprogram: [ls, ~]\n' > null.yaml
expect_refusal 3 'null.yaml:3:15' "$DDLRUN" submit --slurm --job null.yaml --dry-run
printf '#!/bin/bash\n#SBATCH -N {{nodes|int}} -t {{walltime|sbatch}}\n{{program|sh}}\n' > slurm.sh
expect_refusal 2 'has #SBATCH lines only' "$DDLRUN" submit --pbs --cores-per-node 8 --template slurm.sh --walltime 5m --dry-run 1x1x1 -- true
mkdir 'a b'
for scheduler in slurm pbs torque local; do
  expect 0 '' env -C 'a b' "$DDLRUN" submit --$scheduler --cores-per-node 8 --runner none --walltime 1h --dry-run 1x1x1 -- ./t
  grep -q "^cd -- '.*/a b' " out || fail "$scheduler: $(grep cd out)"
  grep -q '^#.* \(-o \|--output=\).*/a b' out && fail "$scheduler: a blank in a directive: $(grep '^#' out)"
done

# A script of the user's own with placeholders: filled, and nothing that the job says is lost.
cat > mine.sh << 'TEMPLATE'
#!/bin/bash
#SBATCH --job-name={{name|sbatch}} --nodes={{nodes|int}} --ntasks-per-node={{ranks_per_node|int}}
#SBATCH --time={{walltime|sbatch}} --output={{output|sbatch}} --open-mode=append
end() { echo $? >{{exit_status_file|sh}}; }; trap end EXIT
{{program|sh}}
TEMPLATE
mkdir conf
# shellcheck disable=SC2016 # a word, not an expansion
printf 'name: own\ntemplate: ../mine.sh\ndims: 4x2x1\nwalltime: 1h\nprogram: [./a, "it'"'"'s $(x)"]\n' > conf/job.yaml
expect 0 'sbatch --parsable job.sh' "$DDLRUN" submit --slurm --job conf/job.yaml --dry-run
sed "s|$work/ddlrun-jobs/own-[0-9-]*|DIRECTORY|g" out > filled
diff "$golden/scripts/template.sh" filled || fail "the filled template is not as it was"
expect_refusal 2 'queue (long) would be lost' "$DDLRUN" submit --slurm --job conf/job.yaml --queue long --gpus 4 --dry-run
grep -qF 'try: #SBATCH --partition={{queue|sbatch}}' err || fail "no placeholder to add: $(cat err)"
grep -qF 'gpus (4) would be lost' err || fail "not all that is lost: $(cat err)"
expect_refusal 3 'program' "$DDLRUN" submit --slurm --template mine.sh 4x2x1 --walltime 1h --dry-run
printf '#!/bin/bash\n#SBATCH -t {{waltime|sbatch}}\n{{dims}} {{program|sh}}\n' > bad.sh
expect_refusal 3 'bad.sh:2:12' "$DDLRUN" submit --slurm --template bad.sh 1x1x1 --dry-run -- ./t
grep -qF 'bad.sh:3:1' err || fail "not all mistakes of the template: $(cat err)"
expect_refusal 3 'cannot read' "$DDLRUN" submit --slurm --template none.sh 1x1x1 --dry-run -- ./t
# The directory of a job that was handed in by hand has no id: the commands that take it are named.
mkdir -p ddlrun-jobs/by-hand
id_hint='ddlrun status ID, with the id that ddlrun submit, sbatch or qsub printed'
for command in wait cancel status; do
  expect_refusal 3 "  try: $id_hint" "$DDLRUN" "$command" ddlrun-jobs/by-hand
done
touch ddlrun-jobs/by-hand/output.log
for command in wait cancel status; do
  expect_refusal 3 "  try: ddlrun logs ddlrun-jobs/by-hand; ddlrun diagnose ddlrun-jobs/by-hand; $id_hint" \
    "$DDLRUN" "$command" ddlrun-jobs/by-hand
done
rm -r ddlrun-jobs/by-hand
# The page lists all of them, and no other: a name like none is answered with all names.
printf '#!/bin/bash\n{{zzqqyyxx|sh}}\n{{program|sh}}\n' > bad.sh
expect_refusal 3 "a job has no 'zzqqyyxx'" "$DDLRUN" submit --slurm --template bad.sh 1x1x1 --dry-run -- ./t
sed -n 's/^  try: one of //p' err | tr -d ' ' | tr ',' '\n' | sort > placeholders
check "the names of all placeholders" [ -s placeholders ]
sed -n '/^| placeholders /,/^$/p' "$DDLRUN_SOURCE_DIR/docs/profiles_and_templates.md" | cut -d'|' -f2 | grep -o '`[a-z_]*`' |
  tr -d '`' | sort > listed
diff placeholders listed || fail "docs/profiles_and_templates.md lists other placeholders"
printf '#!/bin/bash\n# {{dims|sh}} {{name|sh}}\n{{program|sh}}\n' > silent.sh
expect 0 'the log cannot be followed: #SBATCH --output={{output|sbatch}}' "$DDLRUN" submit --slurm --template silent.sh 1x1x1 --dry-run -- ./t
grep -q 'does not write its exit status down' err || fail "the exit status is not reported: $(cat err)"
expect_refusal 3 'only the script can report its exit status' "$DDLRUN" submit --local --template silent.sh 1x1x1 -- true
printf '#!/bin/bash\n# {{dims|sh}}\nend() { echo $? >{{exit_status_file|sh}}; }; trap end EXIT\n{{program|sh}}\n' > local.sh
# One statement about the rank that failed first, by launch and in the summary.
said() { "$DDLRUN" submit --local --doctor off 1x1x1 -- sh -c 'exit 4' 2>&1 | grep -o 'rank .* failed first: [^;]*'; }
[ "$(said | sort -u | wc -l)" -eq 1 ] || fail "two statements: $(said)"
expect 7 'failed with exit status 7' "$DDLRUN" submit --local --template local.sh 1x1x1 -- sh -c 'echo own words; exit 7'
grep -q 'own words' out || fail "the template's log is not followed: $(cat out)"
rm -r ddlrun-jobs

# Here, from begin to end: id and log on stdout, the job's status.
ends() { # STATUS PROGRAM...
  run "$DDLRUN" submit "${small[@]}" 1x1x1 -- "${@:2}"
  [ "$status" -eq "$1" ] || fail "status $status, not $1: ${*:2}: $(tail -3 err)"
}
ends 0 sh -c 'echo one; echo two'
# Bash 5.2.15 on a busy machine may print that it lost a child that has ended.
[ "$(tail -n +2 out | grep -v 'wait_for: No record of process' | xargs)" = "one two" ] || fail "the log on stdout is $(cat out)"
directory=$(find ddlrun-jobs -mindepth 1 -maxdepth 1)
[ "$(cat "$directory/exit_status")" = 0 ] || fail "no exit status in $directory"
[ "$(stat -c %a "$directory")" = 700 ] || fail "others may read $directory"
ends 3 sh -c 'exit 3'
ends 127 sh -c 'exec ./no-such-program'
ends 139 sh -c 'kill -SEGV $$'
grep -q SEGV err || fail "the signal is not named: $(cat err)"
ends 1 sh -c 'echo "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"; exit 1'
grep -q "cause in the job's log" err || fail "no diagnosis: $(cat err)"

# Words arrive as they are, and are no commands.
# shellcheck disable=SC2016
odd=('a b' "it's" '$(touch PWNED)' '`touch PWNED`' '; touch PWNED' '' '-n' $'two\nlines' '*')
ends 0 printf '<%s>' "${odd[@]}"
# On a busy machine bash 5.2 sometimes warns in the script's log about a child that it has already waited for.
[ "$(tail -n +2 out | sed 's|/[^ ]*/job.sh: line [0-9]*: wait_for: No record of process [0-9]*$||')" = "$(printf '<%s>' "${odd[@]}")" ] || fail "words: $(cat out)"
[ ! -e PWNED ] || fail "a word was executed"

# The settings as used give the same script again.
"$DDLRUN" submit --local --dry-run --job "$(find "$PWD/ddlrun-jobs" -name ddlrun.yaml | sort | tail -n 1)" > again 2> err ||
  fail "the kept settings are refused: $(cat err)"
grep -q "it'" again || fail "the kept settings lost the program"

# A script for another machine, from here: its directories and its MPI may be missing here.
mkdir other && cd other || exit 1
expect 0 'warning: kisti-nurion starts jobs only below /scratch' \
  "$DDLRUN" submit --site kisti-nurion --application caffe --walltime 1h 1x2 --dry-run -- ./train
has "the settings of a profile" "$work/err" \
  'ddlrun: from profile kisti-nurion (kisti-nurion.yaml): cores_per_node, exclusive, hardware_threads_per_core, queue'
grep -q '^#PBS -A caffe' ../out || fail "no script: $(cat out)"
grep -q -- '--warn GPU' ../out || fail "GPUs that were not requested end the job"
expect_refusal 2 '--walltime is given 2 times: 12h, 24h' \
  "$DDLRUN" submit --slurm 1x1 --walltime 12h --walltime 24h --dry-run -- /bin/true
expect 0 '' "$DDLRUN" submit --slurm --gpus per-rank --walltime 1h 1x2 --dry-run -- ./train
grep -q -- '--warn GPU' ../out && fail "faults of requested GPUs are only warnings"
expect 0 'Intel MPI was not found here' env PATH="$(dirname "$(command -v env)"):/nowhere" \
  "$DDLRUN" launch --launcher intelmpi 2 --dry-run -- true
grep -q 'mpiexec.hydra' ../out || fail "no command for Intel MPI: $(cat out)"
# --local runs any job file here.
printf 'site: kisti-nurion\ndims: 1\nworkdir: /\ndoctor: off\nprogram: echo hi\n' > site.yaml
expect 0 'site kisti-nurion (site.yaml:1:7) does not apply: --local' \
  "$DDLRUN" submit --job site.yaml --local --workdir "$PWD" --runner none
grep -qx hi ../out || fail "the job did not run: $(cat out)"

# A job file to edit: all keys, taken as it is; none is overwritten.
"$DDLRUN" submit --help > help
grep -q 'stop: a fault ends the job (stop)' help || fail "the default of --doctor is not in the help"
expect 0 'wrote ddlrun.yaml' "$DDLRUN" submit --init 2x2 --walltime 30m --queue long -- python3 train.py --epochs 3
expect_refusal 3 'ddlrun.yaml exists' "$DDLRUN" submit --init
expect 0 '' "$DDLRUN" submit --slurm --dry-run
for line in --nodes=2 --ntasks-per-node=2 --time=00:30:00 --partition=long --job-name=train; do
  grep -qxF -- "#SBATCH $line" ../out || fail "no $line: $(grep '^#SBATCH' out)"
done
sed -n 's/^  --\([a-z-]*\) .*/\1/p' help | tr - _ | while read -r key; do
  case $key in help | job | slurm | pbs | torque | local | detach | dry_run | init) continue ;; esac
  grep -qE "^(# )?$key: " ddlrun.yaml || echo "$key"
done > missing
[ ! -s missing ] || fail "keys that --init leaves out: $(xargs < missing)"
cd "$work" || exit 1
finish
