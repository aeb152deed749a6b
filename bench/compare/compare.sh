#!/bin/bash
# SPDX-License-Identifier: MIT
# compare.sh RESULTS [LAUNCHER...]: the same job of 4 ranks, and its faults, under each launcher of launchers/ on 2 virtual
# hosts; judge.py RESULTS prints the table. RESULTS/LAUNCHER/CASE/ gets what was typed, printed, left behind, and times.
# Needs root, DDLRUN=the binary, and PyPI. LIMIT (110): seconds after which a command gets ctrl-C. CASES, ROUNDS (5): fewer of them.
set -u
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$1" && results=$(readlink -f "$1") || exit 2
shift
# shellcheck source=tests/cluster/lab_test.sh disable=SC2154
. "$here/../../tests/cluster/lab_test.sh"
# shellcheck source=tests/cluster/lib/leftovers.sh
. "$lab_tests/lib/leftovers.sh"
# shellcheck source=bench/compare/cases.sh
. "$here/cases.sh"
limit=${LIMIT:-110} rounds=${ROUNDS:-5}
read -ra cases <<< "${CASES-good missing wrong_host killed full_tmp hang}"
launchers=("$@")
[ ${#launchers[@]} -gt 0 ] || launchers=(mpirun torchrun horovodrun horovodrun_mpi ddlrun ddlrun_ssh srun salloc_mpirun
  srun_torchrun hpc_launcher submitit reframe ddlrun_submit)

peers=$lab_tests/../peers
torch=$("$peers/build_horovod.sh") || { echo "$torch"; exit 125; }
pypi=$("$peers/install.sh" launchers) || { echo "$pypi"; exit 125; }
echo "$torch"/lib/python3*/site-packages > "$(echo "$pypi"/lib/python3*/site-packages)/torch.pth" # one environment, as a user has
export LAB_SLURM_KILLWAIT=2
LAB_PATIENCE=600
lab_up 2
slurm up 2 > "$work/slurm" || { cat "$work/slurm"; exit 1; }
know_hosts node1 node2
cp "$here"/*.py "$here/stamp.sh" "$lab_home"
mpicc -o "$lab_home/work_mpi" "$here/work_mpi.c" || exit 1
mkdir "$lab_home"/{started,places}
echo "export PATH=/home/ddl/bin:$pypi/bin:$torch/bin:\$PATH" > "$lab_home/.bashrc" # also for commands by ssh, as on a cluster
printf 'export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1\n' >> "$lab_home/.bashrc"
chown -R 2000:2000 "$lab_home"

# choose LAUNCHER: its title, place, library and functions.
choose() {
  typed_on=node1 file_of_launcher=
  version() { :; }
  # shellcheck source=/dev/null
  . "$here/launchers/$1.sh"
  [ -z "$file_of_launcher" ] || write_file > "$lab_home/$file_of_launcher"
}

# start_times: the seconds until the first rank runs, of all launchers in turn; mpirun is in every round.
start_times() {
  local name round begun first
  mkdir -p "${launchers[@]/#/$results/}"
  for ((round = 0; round <= rounds; round++)); do
    for name in mpirun "${launchers[@]/#mpirun/}"; do
      [ -n "$name" ] || continue
      choose "$name"
      rm -f "$lab_home"/started/*
      set_program start node2
      begun=$EPOCHREALTIME
      run_typed "$results/$name.start"
      [ "$(cat "$lab_home"/started/* 2> /dev/null | wc -l)" -eq 4 ] || { echo "$name: no start of 4 ranks: $(tail -n 5 "$results/$name.start")"; continue; }
      first=$(sort "$lab_home"/started/* | head -n 1)
      [ "$round" -eq 0 ] || # the first round reads the files from disk
        awk -v first="$first" -v begun="$begun" 'BEGIN { printf "%.3f\n", first - begun }' >> "$results/$name.seconds"
      repair
    done
  done
}

rm -f "$results"/*.{start,seconds}
remember
[ "$rounds" -eq 0 ] || start_times
for name in "${launchers[@]}"; do
  choose "$name"
  mkdir -p "$results/$name"
  # shellcheck disable=SC2154
  { echo "title=$title"; echo "place=$place"; echo "library=$library"; echo "version=$(version)"; echo "typed_on=$typed_on"; } > "$results/$name/about"
  [ -z "$file_of_launcher" ] || cp "$lab_home/$file_of_launcher" "$results/$name/"
  for case in "${cases[@]}"; do
    run_case "$case" "$results/$name/$case"
    echo "$name $case: status $(cat "$results/$name/$case/status") in $(cat "$results/$name/$case/seconds") s"
  done
done
