#!/bin/bash
# SPDX-License-Identifier: MIT
# trainer_scaling.sh DDL_TRAIN: images/s of 1 and 2 ranks with one thread each, measured in turn; best and median of
# ROUNDS (default 5) and their ratio. 2.00 would be perfect scaling. DATA: a data directory (default: ddl-train's).
# A round's value is that of its median step: other programs on the cores stop single steps for milliseconds.
set -eu
train=${1:?usage: trainer_scaling.sh PATH/TO/ddl-train}
rounds=${ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
options=(--epochs 1 --threads 1 --quiet)
[ -z "${DATA:-}" ] || options+=(--data "$DATA")

for net in lenet5 mlp; do
  for ((round = 0; round < rounds; round++)); do
    for ranks in 1 2; do
      mpirun -n "$ranks" --bind-to core "$train" --net "$net" "${options[@]}" --metrics "$work/steps" \
        > /dev/null 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
      sed -n 's/.*"type":"step".*"images_s":\([0-9.e+]*\),.*/\1/p' "$work/steps" | sort -g |
        awk '{ v[NR] = $1 } END { printf "%.0f\n", v[int((NR + 1) / 2)] }' >> "$work/$net.$ranks"
    done
  done
done
best() { sort -n "$1" | tail -1; }
median() { sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
echo "net      images/s best / median: 1 rank          2 ranks          ratio of best / of medians"
for net in lenet5 mlp; do
  one=$work/$net.1 two=$work/$net.2
  printf '%-8s %31s %16s    %s\n' "$net" "$(best "$one") / $(median "$one")" "$(best "$two") / $(median "$two")" \
    "$(awk -v a="$(best "$one")" -v b="$(best "$two")" -v c="$(median "$one")" -v d="$(median "$two")" \
      'BEGIN { printf "%.2f / %.2f", b / a, d / c }')"
done
