#!/bin/bash
# SPDX-License-Identifier: MIT
# trainer_nets.sh DDL_TRAIN [OTHER_DDL_TRAIN]: images/s of one rank with one thread, net by net; with another build in
# turn, if one is given, and the ratio. A value is that of the step in the best tenth, over ROUNDS (default 5): on busy
# cores most steps are interrupted. NETS (default "lenet5 caffe ddl"), STEPS (default 60), BATCH (64), DATA as ddl-train's.
set -eu
train=${1:?usage: trainer_nets.sh PATH/TO/ddl-train [PATH/TO/OTHER]}
other=${2:-}
rounds=${ROUNDS:-5}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
options=(--threads 1 --quiet --max-steps "${STEPS:-60}" --epochs 99 --batch-size "${BATCH:-64}" --lr 0.001)
[ -z "${DATA:-}" ] || options+=(--data "$DATA")

measure() {  # binary net file
  "$1" --net "$2" "${options[@]}" --metrics "$work/steps" > /dev/null 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
  sed -n 's/.*"type":"step".*"images_s":\([0-9.e+]*\),.*/\1/p' "$work/steps" >> "$3"
}
best() { sort -g "$1" | awk '{ v[NR] = $1 } END { print v[int(NR * 0.9)] }'; }
for net in ${NETS:-lenet5 caffe ddl}; do
  for ((round = 0; round < rounds; round++)); do
    measure "$train" "$net" "$work/$net.a"
    [ -z "$other" ] || measure "$other" "$net" "$work/$net.b"
  done
  a=$(best "$work/$net.a")
  if [ -z "$other" ]; then
    printf '%-12s %8.0f images/s\n' "$net" "$a"
  else
    b=$(best "$work/$net.b")
    printf '%-12s %8.0f images/s   other %8.0f   ratio %s\n' "$net" "$a" "$b" \
      "$(awk -v a="$a" -v b="$b" 'BEGIN { printf "%.2f", a / b }')"
  fi
done
