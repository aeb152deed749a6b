#!/bin/bash
# SPDX-License-Identifier: MIT
# submit, before it hands a job in: what nodes, partitions, paths and programs do not permit. Stand-ins of the
# schedulers' commands answer.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config
cd "$work" || exit 1

# The cores of the nodes, which pbsnodes lists; a person is asked only where they differ.
mkdir listing
printf '#!/bin/sh\necho "pbsnodes $*" >> "%s/asked"\n[ "$*" = "-a -F json" ] && exec cat "%s/nodes.json"\n' "$work" "$work" > listing/pbsnodes
chmod +x listing/pbsnodes
list_nodes() { # NCPUS...
  local name=0 text=''
  for cores; do
    name=$((name + 1))
    text+="${text:+,}\"n$name\":{\"resources_available\":{\"ncpus\":$cores}}"
  done
  echo "{\"nodes\":{$text}}" > nodes.json
}
list_nodes 68 68
expect 0 'cores_per_node: 68, as all 2 nodes, by pbsnodes' env PATH="$work/listing:$PATH" "$DDLRUN" submit --pbs 4x2x1 --walltime 1h --dry-run -- ./train
grep -q '^#PBS -l select=2:ncpus=68:mpiprocs=4' out || fail "no select by pbsnodes: $(grep '^#PBS' out)"
same "one list of nodes for a submission" 'pbsnodes -a -F json' "$(cat asked)"
# Too few cores: the same ranks on more nodes, where there are as many.
list_nodes 2 2 2 2
expect_refusal 2 '4 ranks per node, there are 2 cores' env PATH="$work/listing:$PATH" "$DDLRUN" submit --pbs 4x2 --walltime 1h -- true
grep -qx '  try: 2x4x1   # the same 8 ranks on 4 nodes' err || fail "a smaller job is offered: $(cat err)"
expect_refusal 2 '' env PATH="$work/listing:$PATH" "$DDLRUN" submit --pbs 4x3 --walltime 1h -- true
grep -qx '  try: 2x3x1' err || fail "more nodes are offered than there are: $(cat err)"
list_nodes 68 40
expect_refusal 2 'cores_per_node is not set; the nodes differ: 1 with 68, 1 with 40, by pbsnodes' env PATH="$work/listing:$PATH" \
  "$DDLRUN" submit --pbs 4x2x1 --walltime 1h --dry-run -- ./train

# What only the wait in the queue would show: paths, the trainer's options, a launcher in each rank.
mkdir paths && cd paths || exit 1
printf '#!/bin/bash\necho 4711 >> "%s/handed_in"\necho 4711\n' "$work" > sbatch
printf '#!/bin/bash\n[ -z "$WAITS" ] || echo "4711|PENDING||$WAITS"\n' > squeue
chmod +x sbatch squeue
slurm=(env PATH="$PWD:$PATH" "$DDLRUN" submit --slurm --walltime 1h --detach)
refuses() { # TEXT WORDS...
  expect_refusal 3 "$1" "${slurm[@]}" "${@:2}"
  [ ! -e "$work/handed_in" ] || fail "handed in: ${*:2}"
  [ ! -e ddlrun-jobs ] || fail "a refused job left $(find ddlrun-jobs)"
}
refuses '/trian does not exist' 2x1 -- ./trian
touch caffe.yaml  # beside it, no program
refuses '/caffe does not exist' 2x1 -- ./caffe
has_not 'a job file for the program' "$work/err" caffe.yaml
rm caffe.yaml
touch plain.sh
refuses 'chmod +x' 2x1 -- ./plain.sh
refuses '/trian.py does not exist' 2x1 -- python3 trian.py
printf 'import os\nx = = 1\n' > wrong.py && chmod +x wrong.py
refuses 'cannot read the script: invalid syntax' 2x1 -- python3 wrong.py
grep -qx '  at:  wrong.py:2' "$work/err" || fail "no line: $(cat "$work/err")"
refuses 'wrong.py has no #! line' 2x1 -- ./wrong.py
expect 0 'cannot read the script: invalid syntax' "${slurm[@]}" --dry-run 2x1 -- python3 wrong.py
expect 0 'cannot read the script: invalid syntax' "${slurm[@]}" --dependencies afterok:7 --dry-run 2x1 -- python3 wrong.py
[ ! -e __pycache__ ] || fail "the check wrote a file"
# A dry run of another user's ddlrun.yaml starts no interpreter of his, also where PATH has the directory.
mkdir -p foreign/venv/bin
printf '#!/bin/sh\ntouch "%s/foreign/started"\n' "$PWD" > foreign/venv/bin/python3
chmod +x foreign/venv/bin/python3
touch foreign/venv/bin/activate foreign/train.py
(cd foreign && run "${slurm[@]}" --dry-run --venv venv 2x1 -- python3 train.py
  run "${slurm[@]}" --dry-run 2x1 -- ./venv/bin/python3 train.py
  PATH=$PWD/venv/bin:$PATH run "${slurm[@]}" --dry-run 2x1 -- python3 train.py)
[ ! -e foreign/started ] || fail "a dry run started the Python of ddlrun.yaml"
rm -r foreign
rm wrong.py
refuses '/trian.sh does not exist' 2x1 -- bash -e trian.sh
refuses '/venv/bin/activate does not exist' --venv venv 2x1 -- python3
refuses '/nowhere does not exist' --workdir "$PWD/nowhere" 2x1 -- true
[ ! -e nowhere ] || fail "submit made the working directory"
refuses "/logs does not exist" --output logs/%j.txt 2x1 -- true
printf 'setup: ["mkdir -p logs"]\n' > late.yaml
refuses "/logs does not exist" --job late.yaml --output logs/%j.txt 2x1 -- true
rm late.yaml
# Slurm would accept a job above the limits of its partition, and never start it.
printf '#!/bin/bash\necho "normal* 30:00 1-infinite"\n' > sinfo
chmod +x sinfo
refuses 'the walltime is above the limit of partition normal, 30:00' 2x1 -- true
has 'a limit: what to type' "$work/err" 'try: --walltime 30m, or another --queue'
expect 0 'warning: the walltime is above the limit of partition normal, 30:00' "${slurm[@]}" --dry-run 2x1 -- true
grep -qx '#SBATCH --ntasks-per-node=2' ../out || fail "a dry run above the limit prints no script: $(cat ../out)"
expect 0 'unless QOS big permits it' "${slurm[@]}" --qos big 2x1 -- true
rm -r ddlrun-jobs "$work/handed_in"
# Nor does Slurm start more ranks than the cores of every node; with --oversubscribe they share them.
printf '#!/bin/bash\necho "$*" >> "%s/asked"\n' "$work" > sinfo
printf 'case $* in *%%P*) echo "normal* 2:00:00 1-infinite" ;; *) echo "n1 1 2 2 (null)"; echo "n2 1 2 2 (null)" ;; esac\n' >> sinfo
refuses '4 ranks a node need 4 CPUs, and no node has more than 2: the job would wait forever' 4x1 -- true
has 'too few cores: where' "$work/err" 'at:  CPUs of the nodes, by sinfo'
has 'too few cores: what to type' "$work/err" 'try: 2x2   # the same 4 ranks on 2 nodes'
expect 0 'warning: 4 ranks a node need 4 CPUs' "${slurm[@]}" --dry-run 4x1 -- true
refuses '2 GPUs a node are requested, and no node has more than 0' 2x1 --gpus per-rank -- true
expect 0 'oversubscribe: 4 ranks share 2 CPUs of a node, by sinfo' "${slurm[@]}" --oversubscribe 4x2 --dry-run -- true
for line in '--ntasks-per-node=1' '--cpus-per-task=2'; do
  grep -qx "#SBATCH $line" ../out || fail "ranks that share cores: no $line: $(grep '^#SBATCH' ../out)"
done
expect 0 '' "${slurm[@]}" --oversubscribe --exclusive no --cores-per-node 1 2x2 --dry-run -- true
grep -qx '#SBATCH --cpus-per-task=1' ../out && grep -qx '#SBATCH --ntasks-per-node=1' ../out ||
  fail "ranks that share the cores of cores_per_node: $(grep '^#SBATCH' ../out)"
expect 0 '' "${slurm[@]}" --oversubscribe 2x2 --dry-run -- true
grep -qx '#SBATCH --ntasks-per-node=2' ../out || fail "ranks that need not share: $(grep '^#SBATCH' ../out)"
for options in '' '--oversubscribe' '--exclusive no' '--oversubscribe --exclusive no'; do
  : > "$work/asked"
  # shellcheck disable=SC2086 # these are words
  expect 0 '' "${slurm[@]}" $options 2x1 --dry-run -- true
  same "one list of nodes, one of partitions: $options" "$(printf '%s\n' '-h -N -o %N %X %Y %c %G -p normal' '-h -o %P %l %s')" \
    "$(sort "$work/asked")"
done
expect 0 '' "${slurm[@]}" --oversubscribe 4x1 -- true
expect 0 'and there are 2 nodes: the job would wait forever, unless there are more nodes than sinfo lists' "${slurm[@]}" 1x3 -- true
rm -r sinfo ddlrun-jobs "$work/handed_in"
refuses '/no.sif does not exist' --container no.sif 2x1 -- true
refuses 'torchrun starts ranks itself' 2x1 -- torchrun plain.sh
refuses 'mpirun starts ranks itself' 1x1 -- mpirun -np 4 ./plain.sh
has 'mpirun as the only rank' "$work/err" '  try: ddlrun submit --slurm --walltime 1h --detach 4x1 -- ./plain.sh'
# The line to type has the options as typed, and no launcher; also for a directory that only the cluster has.
refuses 'srun starts ranks itself' --gpus per-rank 4x2 -- srun torchrun --nproc_per_node=4 plain.sh
has 'srun torchrun: what to type' "$work/err" '  try: ddlrun submit --slurm --gpus per-rank --walltime 1h --detach 4x2x1 -- python3 plain.sh'
refuses 'srun starts ranks itself' 4x2 h1,h2 -- srun torchrun --nproc_per_node=4 plain.sh
has 'the hosts in the line to type' "$work/err" '  try: ddlrun submit --slurm --walltime 1h --hosts h1,h2 --detach 4x2x1 -- python3 plain.sh'
expect_refusal 3 'srun starts ranks itself' "${slurm[@]}" --dry-run --workdir /only/there 4x2 -- srun python3 train.py
expect 0 '/only/there/train.py is not readable here: its framework is not known' \
  "${slurm[@]}" --dry-run --workdir /only/there 4x2 -- python3 train.py
has 'a directory of the cluster: ddlrun' "$work/err" '--ddlrun PATH'
expect 0 '' "${slurm[@]}" --dry-run --workdir /only/there --framework pytorch --ddlrun /opt/ddlrun 4x2 -- python3 train.py
has_not 'a framework that is named' "$work/err" 'is not readable here'
has_not 'paths that are named' "$work/err" '--ddlrun PATH'
expect 0 'the working directory /only/there does not exist' "$DDLRUN" submit --local --dry-run --workdir /only/there 1x1 -- ./a
has_not 'a job on this host has no cluster' "$work/err" 'of the cluster'
expect_refusal 2 '--epochs' "${slurm[@]}" 2x1 -- --epochs none
# The trainer by its name, which the job's PATH need not have: beside ddlrun, and its options are examined.
trainer=$(dirname "$(readlink -f "$DDLRUN")")/ddl-train
if [ -x "$trainer" ]; then
  expect_refusal 2 '--epochs' "${slurm[@]}" 2x1 -- ddl-train --epochs none
  expect 0 "program: $trainer, beside the job's ddlrun" "${slurm[@]}" --dry-run 2x1 -- ddl-train --epochs 1
  ! grep -q 'not in PATH' ../err || fail "a program beside ddlrun is reported: $(cat ../err)"
  grep -qxF "ddl_program=($trainer --epochs 1)" ../out || fail "the job has another program: $(grep ddl_program ../out)"
fi
expect 0 'the program trian is not in PATH here' "${slurm[@]}" 2x1 -- trian
# The first directory of PATH counts too.
mkdir first && printf '#!/bin/sh\n' >first/in_first && chmod +x first/in_first
expect 0 '' env PATH="$PWD/first:$PWD:$PATH" "$DDLRUN" submit --slurm --walltime 1h --dry-run 2x1 -- in_first
! grep -q 'not in PATH' ../err || fail "the first directory of PATH is passed over: $(cat ../err)"
rm -r ddlrun-jobs "$work/handed_in"
expect 0 'made.sh does not exist; it must exist when the job starts' "${slurm[@]}" --dependencies afterok:7 --dry-run 2x1 -- ./made.sh
expect 0 'trian does not exist; try: ls' "${slurm[@]}" --dry-run 2x1 -- ./trian
# A job's name is that of its program; a job that can never run is reported at once, also with --detach.
expect 4 'ddlrun cancel 4711; then' env WAITS=PartitionTimeLimit "${slurm[@]}" 2x1 -- bash plain.sh
[ "$(sed -n 's/^#SBATCH --job-name=//p' ddlrun-jobs/*/job.sh)" = plain ] || fail "another name: $(ls ddlrun-jobs)"
expect 0 '' env WAITS=Resources "${slurm[@]}" 2x1 -- true
# A job that Slurm refuses leaves no files.
rm -r ddlrun-jobs
printf '#!/bin/bash\necho "sbatch: error: invalid partition specified: x" >&2\nexit 1\n' > sbatch
expect_refusal 4 'invalid partition' "${slurm[@]}" 2x1 -- true
[ ! -e ddlrun-jobs ] || fail "a refused job left $(find ddlrun-jobs)"
cd "$work" || exit 1
finish
