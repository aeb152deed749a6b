#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh TARGET|all SECONDS [BUILD]: runs a target of libFuzzer, or each in turn, for so long. BUILD is the directory of
# the preset fuzz. The inputs that libFuzzer keeps stay in BUILD/corpus/TARGET, and what ends a target goes to
# BUILD/finds/. At the end one line for each target: seeds, executions, executions a second, edges, finds.
set -u
usage() { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
here=$(dirname "$(readlink -f "$0")")
build=${3:-$here/../build/fuzz}
seconds=$2
[ -x "$build/fuzz/fuzz_rankfile" ] || { echo "run.sh: build first: cmake --preset fuzz && cmake --build --preset fuzz" >&2; exit 2; }
if [ "$1" = all ]; then
  mapfile -t targets < <(basename -s .cpp -a "$here"/targets/*.cpp)
else
  targets=("$1")
fi
if [ ! -d "$build/seeds" ]; then
  "$here/seeds.sh" "$build/seeds"
  [ ! -x "$build/fuzz/fuzz_seeds" ] || "$build/fuzz/fuzz_seeds" "$build/seeds"
fi
# A reader may ask for more memory than there is, and then refuses.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_odr_violation=0
bad=0
for target in "${targets[@]}"; do
  program=$build/fuzz/fuzz_$target
  [ -x "$program" ] || { echo "run.sh: no target $target" >&2; exit 2; }
  mkdir -p "$build/corpus/$target" "$build/finds" "$build/seeds/$target" "$build/logs"
  directories=("$build/corpus/$target" "$build/seeds/$target")
  [ ! -d "$here/corpus/$target" ] || directories+=("$here/corpus/$target")
  log=$build/logs/$target.txt
  nice -n 10 "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -max_len=100000 -print_final_stats=1 \
    -verbosity=1 -artifact_prefix="$build/finds/$target-" "${directories[@]}" > "$log" 2>&1
  status=$?
  [ $status -eq 0 ] || bad=1
  awk -v target="$target" -v status=$status '
    / files found in / { seeds += $2 }
    / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
    /number_of_executed_units/ { runs = $2 }
    /average_exec_per_sec/ { rate = $2 }
    /Test unit written to/ { find = $NF }
    END { printf "%-18s seeds %5d  runs %9d  /s %6d  edges %6d  %s\n", target, seeds, runs, rate, edges,
          status == 0 ? "no find" : "find: " find }' "$log"
done
exit $bad
