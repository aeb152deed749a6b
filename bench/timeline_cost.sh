#!/bin/bash
# SPDX-License-Identifier: MIT
# timeline_cost.sh DDL_TRAIN: the step time with --timeline over that without, on 1 and 2 ranks with one thread each.
# Measured in turn, ROUNDS (default 9) times, beside a control: without once more, which shows the noise. A run's value is
# its best tenth of steps; the medians of the runs are compared. Horovod's own timeline is said to cost up to 40 %.
set -eu
train=${1:?usage: timeline_cost.sh PATH/TO/ddl-train}
rounds=${ROUNDS:-9}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
options=(--threads 1 --quiet --max-steps "${STEPS:-600}" --epochs 1000)
[ -z "${DATA:-}" ] || options+=(--data "$DATA")

run() {  # run RANKS NET NAME OPTION...: adds the step in ms to NAME
  local ranks=$1 net=$2 name=$3
  shift 3
  mpirun -n "$ranks" --bind-to core "$train" --net "$net" "${options[@]}" "$@" --metrics "$work/steps" \
    > /dev/null 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
  sed -n 's/.*"type":"step".*"step_ms":\([0-9.e+-]*\),.*/\1/p' "$work/steps" | sort -g |
    awk '{ v[NR] = $1 } END { print v[int((NR + 9) / 10)] }' >> "$work/$name"
}
median() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
over() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%+.2f %%", 100 * (b / a - 1) }'; }
echo "net      ranks   step ms: without     with   cost      control"
for net in ${NETS:-lenet5 mlp}; do
  for ranks in 1 2; do
    for ((round = 0; round < rounds; round++)); do
      for ((turn = 0; turn < 3; turn++)); do  # none is always the first
        case $(((round + turn) % 3)) in
          0) run "$ranks" "$net" "$net.$ranks.off" ;;
          1) run "$ranks" "$net" "$net.$ranks.on" --timeline "$work/t.json" ;;
          2) run "$ranks" "$net" "$net.$ranks.control" ;;
        esac
      done
    done
    off=$(median "$work/$net.$ranks.off") on=$(median "$work/$net.$ranks.on") control=$(median "$work/$net.$ranks.control")
    printf '%-8s %5s %17s %8s   %s   %s\n' "$net" "$ranks" "$off" "$on" "$(over "$off" "$on")" "$(over "$off" "$control")"
  done
done
