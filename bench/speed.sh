#!/bin/bash
# SPDX-License-Identifier: MIT
# speed.sh BUILD_DIR: a million ranks beside a bare fmt loop that writes the same bytes, and start-up beside `true`.
# Ratios from the same run; the best and the median of ROUNDS (default 15) of each, taken in turn.
set -eu
bin=${1:?usage: speed.sh BUILD_DIR}
rounds=${ROUNDS:-15}
ddlrun=$bin/bin/ddlrun
bare=$bin/bench/bare_rankfile
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

million=("$ddlrun" gen-rankfile 8x1024x128 'n[000001-131072]' --sockets 2 --cores 64)
"$bare" > "$work/bare"
"${million[@]}" | grep -av '^#' | sed 1d > "$work/ours"
cmp "$work/bare" "$work/ours" && echo "same bytes: $(wc -c < "$work/bare") without the header"

# measure NAME COMMAND...: appends "milliseconds kilobytes" to $work/NAME
measure() {
  local name=$1
  shift
  /usr/bin/env time -f '%e %M' -a -o "$work/$name.time" "$@" > /dev/null
}
fine() {  # many starts in one measurement: one alone is too short for the clock
  local name=$1 i start end
  shift
  start=$(date +%s%N)
  for ((i = 0; i < 20; i++)); do "$@" > /dev/null 2>&1; done
  end=$(date +%s%N)
  echo "$(((end - start) / 20000))" >> "$work/$name.us"
}
for ((round = 0; round < rounds; round++)); do
  measure bare "$bare"
  measure ours "${million[@]}"
  fine true /bin/true
  fine help "$ddlrun" --help
  fine topo "$ddlrun" topo
  fine gen "$ddlrun" gen-rankfile 2x2 h1,h2 --sockets 2 --cores 8
done 2>/dev/null
best_median() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%s / %s", v[1], v[int((NR + 1) / 2)] }'; }
echo "1,048,576 ranks to /dev/null, seconds best / median, peak kB:"
for name in bare ours; do
  echo "  $name: $(best_median "$work/$name.time"), $(sort -n -k2 "$work/$name.time" | tail -1 | cut -d' ' -f2) kB"
done
echo "start-up, microseconds best / median:"
for name in true help topo gen; do echo "  $name: $(best_median "$work/$name.us")"; done
