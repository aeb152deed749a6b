#!/bin/bash
# SPDX-License-Identifier: MIT
# A centre's templates for both schedulers and its signatures, as a user's commands take them. bash and lint-script judge the
# filled scripts.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/user DDLRUN_SITE_DIR=$work/site
umask 022
mkdir -p "$work/job" "$work/user/ddlrun"
cp -r "$DDLRUN_SOURCE_DIR/examples/site" "$work/site"
rm "$work/site/config.yaml" # its profile is one of Slurm
cd "$work/job" || exit 1
mv "$work/site/signatures.yaml" "$work/signatures"

# fill TEXT SUBMIT-ARGUMENTS...: a script that bash reads and lint-script accepts, without a note; in $work/script
fill() {
  run "$DDLRUN" submit --dry-run "${@:2}"
  check "$1: status $status: $(cat "$work/err")" [ "$status" -eq 0 ]
  cp "$work/out" "$work/script"
  check "$1: bash" bash -n "$work/script"
}
clean() { # TEXT
  expect 0 '' "$DDLRUN" lint-script "$work/script"
  same "$1: lint-script" '' "$(grep -E ': (error|warning|note): ' "$work/out" "$work/err")"
}
pbs=(--pbs --template plain.pbs 4x2 --cores-per-node 40 --walltime 4h --queue normal)
fill 'a job of PBS' "${pbs[@]}" -- ./train
clean 'a job of PBS'
has_not 'the log can be followed' "$work/err" 'template: it'
has_not 'no placeholder is lost' "$work/err" 'has no placeholder'
has_not 'no array' "$work/script" '#PBS -J'
for line in '#PBS -l select=2:ncpus=40:mpiprocs=4:ompthreads=10' "cd $work/job || exit 1"; do has 'PBS' "$work/script" "$line"; done
fill 'an array of PBS' "${pbs[@]}" --array 0-9 -- ./train
clean 'an array of PBS'
has 'an array' "$work/script" '#PBS -J 0-9'
has 'the file that PBS itself writes' "$work/script" '/scheduler.^array_index^.log'
# bash opens the log and the file for the exit status of task 3.
jobs=$(sed -n 's/^exec >>\(.*\)\/output.*/\1/p' "$work/script")
mkdir -p "$jobs"
sed -i 's/.*launch 4x2.*/echo of task 3; exit 5/' "$work/script"
PBS_ARRAY_INDEX=3 run bash "$work/script"
same 'the status of a task' 5 "$status"
same 'the files of a task' 'exit_status.3 output.3.log' "$(cd "$jobs" && echo *)"
same 'the log of a task' 'of task 3' "$(cat "$jobs/output.3.log")"
same 'the status in the file' 5 "$(cat "$jobs/exit_status.3")"
fill 'a name of the user' "${pbs[@]}" --array 0-9 --output log.%a.txt -- ./train
has 'a name of the user in the shell' "$work/script" "exec >>$work/job/log.\"\${PBS_ARRAY_INDEX}\".txt 2>&1"

slurm=(--slurm 1x2 --cores-per-node 8 --walltime 1h --name t)
printf '%s\n' '#!/bin/bash' '#SBATCH -J {{name|sbatch}} -N {{nodes|int}} -t {{walltime|sbatch}}' '#SBATCH --array={{array|sbatch}}' \
  'exec >>{{output|sh}} 2>&1' 'end() { echo $? >{{exit_status_file|sh}}; }; trap end EXIT' 'module load {{modules|sh}}' \
  'export {{environment|sh}}' 'echo started' '# {{launch|sh}}' > lists.sh
fill 'empty lists' "${slurm[@]}" --template lists.sh -- ./train
has_not 'no array of Slurm' "$work/script" '--array'
mkdir -p "$(sed -n 's/^exec >>\(.*\)\/output.*/\1/p' "$work/script")"
# A bare `export` prints the environment, a bare `module` is an error here.
SECRET=of_this_shell run bash "$work/script"
same 'a job without modules and variables' started "$(cat "$(sed -n 's/^exec >>\(.*\) 2>&1/\1/p' "$work/script")")"
fill 'lists' "${slurm[@]}" --template lists.sh --array 0-3 --modules gcc --environment A=1 -- ./train
# shellcheck disable=SC2016 # of the script
for line in '#SBATCH --array=0-3' 'module load gcc' 'export A=1' 'output."${SLURM_ARRAY_TASK_ID}".log 2>&1'; do
  has 'lists of Slurm' "$work/script" "$line"
done

# A template of the other scheduler: convert knows no placeholders.
expect_refusal 2 'has #SBATCH lines only' "$DDLRUN" submit "${pbs[@]/plain.pbs/plain.sh}" -- ./train
has 'the example for PBS' "$work/err" 'try: --slurm; or a template with #PBS lines, as examples/site/templates/plain.pbs of ddlrun'
has_not 'no conversion of placeholders' "$work/err" convert
sed 's/{{[^}]*}}/1/g' "$work/site/templates/plain.sh" > filled.sh
expect_refusal 2 'or ddlrun convert --to pbs filled.sh' "$DDLRUN" submit --pbs --template filled.sh 1x1 --cores-per-node 8 --walltime 1h --dry-run -- ./train

# What holds for all jobs and has no placeholder.
printf 'scheduler: slurm\ndefaults: {memory: 8G}\npreamble: ["ulimit -c 0"]\n' > soft.yaml
printf 'scheduler: slurm\ndefaults: {memory: 8G, queue: gpu}\n' > hard.yaml
expect 0 'ddlrun: template: it has no placeholder for settings of all jobs, which are left out: memory (8G)' \
  "$DDLRUN" submit --site ./soft.yaml 1x2 --walltime 1h --template lists.sh --dry-run -- ./train
has "the site's own lines" "$work/err" "template: the site's own lines (preamble, directives) are not in it"
expect 0 'ddlrun: warning: template: it has no placeholder for settings of all jobs, which are left out: memory (8G), queue (gpu)' \
  "$DDLRUN" submit --site ./hard.yaml 1x2 --walltime 1h --template lists.sh --dry-run -- ./train

# OMP_NUM_THREADS by two ways: what was typed is named.
expect_refusal 2 '--environment OMP_NUM_THREADS=8 contradicts the 15 threads that a rank has, as submit chose' \
  "$DDLRUN" submit --pbs 4x2 --cores-per-node 60 --walltime 1h --environment OMP_NUM_THREADS=8 --dry-run -- ./train
has 'the option instead' "$work/err" 'try: --threads 8   # instead of OMP_NUM_THREADS'
OMP_NUM_THREADS=8 expect_refusal 2 'OMP_NUM_THREADS=8 contradicts the 15 threads that a rank has, by --threads' \
  "$DDLRUN" submit --pbs 4x2 --cores-per-node 60 --threads 15 --walltime 1h --environment OMP_NUM_THREADS --dry-run -- ./train
expect 0 'OMP_NUM_THREADS=8' "$DDLRUN" submit --pbs 4x2 --cores-per-node 60 --walltime 1h --threads 8 --environment OMP_NUM_THREADS=8 --dry-run -- ./train

# The centre's signatures: of diagnose, of launch and of a job that submit follows.
program='echo "write: scratch quota of n17 exceeded" >&2; exit 4'
ours='the scratch quota is used up on n17 [SITE1]'
printf 'job: scratch quota of n17 exceeded\n' > own.log
expect 1 '' "$DDLRUN" diagnose own.log
has_not 'before the file is there' "$work/out" SITE1
mv "$work/signatures" "$work/site/signatures.yaml"
expect 1 "$ours" "$DDLRUN" diagnose own.log
expect 4 "$ours" "$DDLRUN" launch 1 -- sh -c "$program"
local=(--local --doctor off --walltime 5m)
expect 4 "$ours" "$DDLRUN" submit "${local[@]}" 1x1 -- sh -c "$program"
expect 4 'the scratch quota is used up on n17' "$DDLRUN" submit "${local[@]}" --runner none 1x1 -- sh -c "$program"
expect 0 "ddlrun: signatures: $work/site/signatures.yaml" "$DDLRUN" diagnose --list
has 'the list' "$work/out" SITE1
expect 0 "ddlrun: signatures: $work/site/signatures.yaml" "$DDLRUN" config show --origin
# The user's own comes first.
sed 's/used up/full/' "$work/site/signatures.yaml" > "$work/user/ddlrun/signatures.yaml"
expect 1 'the scratch quota is full on n17 [SITE1]' "$DDLRUN" diagnose own.log
# A damaged file is left out with its line; one that another user can change, too.
sed -i 's/class: P/class: X/' "$work/user/ddlrun/signatures.yaml"
expect 1 "$work/user/ddlrun/signatures.yaml:6:10" "$DDLRUN" diagnose own.log
has 'the other file counts' "$work/out" "$ours"
# The correct ones of that file still count; a regular expression is named.
printf '%s\n' '- id: OWN9' '  class: P' '  title: own words' '  cause: c' "  match: '^prolog .* ended'" '  try: t' >> "$work/user/ddlrun/signatures.yaml"
printf '^prolog .* ended\n' > prolog.log
expect 1 '[OWN9]' "$DDLRUN" diagnose prolog.log
has 'the form to use' "$work/err" "match: 'prolog {*} ended'"
expect 4 'warning: signatures: class' "$DDLRUN" launch 1 -- sh -c "$program"
expect 0 '' "$DDLRUN" launch 1 -- true
rm "$work/user/ddlrun/signatures.yaml"
chmod o+w "$work/site/signatures.yaml"
expect 1 'signatures.yaml is not read: every user can write to' "$DDLRUN" diagnose own.log
has_not 'a file of everybody' "$work/out" SITE1
finish
