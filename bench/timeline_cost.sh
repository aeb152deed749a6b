#!/bin/bash
# SPDX-License-Identifier: MIT
# timeline_cost.sh DDL_TRAIN: the step time with --timeline over that without, on 1 and 2 ranks with one thread each,
# measured in turn, ROUNDS (default 7) times; the median step of each run, best and median of the runs. Horovod's own
# timeline is told to cost up to 40 %.
set -eu
train=${1:?usage: timeline_cost.sh PATH/TO/ddl-train}
rounds=${ROUNDS:-7}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
options=(--threads 1 --quiet --steps "${STEPS:-600}" --epochs 1000)
[ -z "${DATA:-}" ] || options+=(--data "$DATA")

run() {  # run RANKS NET NAME OPTION...: adds the median step in ms to NAME
  local ranks=$1 net=$2 name=$3
  shift 3
  mpirun -n "$ranks" --bind-to core "$train" --net "$net" "${options[@]}" "$@" --metrics "$work/steps" \
    > /dev/null 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
  sed -n 's/.*"type":"step".*"step_ms":\([0-9.e+-]*\),.*/\1/p' "$work/steps" | sort -g |
    awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }' >> "$work/$name"
}
best() { sort -g "$1" | head -1; }
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
echo "net      ranks   step ms, best / median: without          with   cost of best / of medians"
for net in ${NETS:-lenet5 mlp}; do
  for ranks in 1 2; do
    for ((round = 0; round < rounds; round++)); do
      run "$ranks" "$net" "$net.$ranks.off"
      run "$ranks" "$net" "$net.$ranks.on" --timeline "$work/t.json"
    done
    off=$work/$net.$ranks.off on=$work/$net.$ranks.on
    printf '%-8s %5s %32s %13s   %s\n' "$net" "$ranks" "$(best "$off") / $(median "$off")" "$(best "$on") / $(median "$on")" \
      "$(awk -v a="$(best "$off")" -v b="$(best "$on")" -v c="$(median "$off")" -v d="$(median "$on")" \
        'BEGIN { printf "%+.2f %% / %+.2f %%", 100 * (b / a - 1), 100 * (d / c - 1) }')"
  done
done
