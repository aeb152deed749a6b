#!/bin/bash
# SPDX-License-Identifier: MIT
# The job files under examples/: `submit --dry-run` accepts each without a warning, the script has the directives that its
# comments promise, and `lint-script` finds no error in it. The Python programs of the jobs compile.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
cp -r "$DDLRUN_SOURCE_DIR/examples" "$work/examples"

# dry_run DIRECTORY WORDS...: the script in $work/job.sh
dry_run() {
  cd "$work/examples/$1" || exit 1
  expect 0 'dry run, nothing is written' "$DDLRUN" submit "${@:2}" --dry-run
  has_not "$1: ${*:2}" "$work/err" warning
  bash -n "$work/out" || fail "$1: no script"
  cp "$work/out" "$work/job.sh"
  cp "$work/err" "$work/notes"
  expect 0 '' "$DDLRUN" lint-script "$work/job.sh"
}
script_has() { has "${PWD##*/}" "$work/job.sh" "$1"; }

# A comment of the file has the line, behind a colon or as an option.
dry_run jobs --job pbs.yaml
grep -o 'select=.*' pbs.yaml > "$work/promised"
same 'the comment on dims' "$(cat "$work/promised")" "$(sed -n 's/^#PBS -l \(select=.*\)/\1/p' "$work/job.sh")"
script_has '#PBS -q normal'
script_has 'module load openmpi'
script_has 'launch 2x4x1 --threads 20 --verify --rank-output files'

dry_run jobs --job slurm_array.yaml
script_has '#SBATCH --array=0-5%2'
script_has '#SBATCH --cpus-per-task=8'
script_has '--framework pytorch'
# Each task of the array has a rate.
mkdir "$work/bin"
printf '#!/bin/sh\necho "${*##* }"\n' > "$work/bin/python3"
chmod 755 "$work/bin/python3"
for index in 0 1 2 3 4 5; do PATH=$work/bin:$PATH DDLRUN_ARRAY_INDEX=$index ./sweep.sh; done > "$work/rates"
same 'different rates' 6 "$(grep -E '^0\.[0-9]+$' "$work/rates" | sort -u | wc -l)"

for scheduler in slurm pbs; do
  dry_run horovod --$scheduler --queue gpu
  script_has 'launch 4x2x1 --threads 8 --max-restarts 2'
  script_has 'HOROVOD_FUSION_THRESHOLD'
  dry_run tensorflow --$scheduler --queue gpu
  script_has 'TF_USE_LEGACY_KERAS'
  has 'the framework is found' "$work/notes" TF_NUM_INTRAOP_THREADS=8
done

# The options that the job files give to the programs are options of theirs.
for directory in horovod tensorflow jobs; do
  cd "$work/examples/$directory" || exit 1
  for file in *.yaml; do
    program=$(sed -n 's/^program: \[\(python3\|bash\), \([^],]*\).*/\2/p' "$file")
    [ -f "$program" ] || fail "$directory/$file: no program '$program'"
    sed -n 's/^program: //p' "$file" | grep -o -- '--[a-z-]*' | while read -r option; do
      grep -qF "add_argument(\"$option\"" "$program" || echo "$option"
    done > "$work/unknown"
    [ ! -s "$work/unknown" ] || fail "$directory/$file: $program does not know $(tr '\n' ' ' < "$work/unknown")"
  done
done
if command -v python3 > /dev/null; then
  for file in "$work"/examples/*/*.py; do
    PYTHONPYCACHEPREFIX=$work/cache python3 -m py_compile "$file" || fail "$file does not compile"
  done
fi
finish
