#!/bin/bash
# SPDX-License-Identifier: MIT
# Doctor against real faults: each is injected into one, half or all of 4 hosts, looked at by foreign means, and must
# then be found by the right check on exactly these hosts with a remedy; mended, the check must pass again.
#   faults.sh [NAME...]        LAB_SIZES="one half all" (or LAB_FULL=1)    LAB_PART=1/4: every fourth fault from the first
#   LAB_PROVE=1                only the foreign look, no doctor
# Without names and LAB_PART: two labs side by side, with half of the faults each.
if [ $# -eq 0 ] && [ -z "${LAB_PART-}" ]; then
  printed=$(mktemp)
  LAB_PART=2/2 "$0" > "$printed" 2>&1 &
  half=$! first=0 second=0
  trap 'kill -TERM "$half" 2> /dev/null; rm "$printed"' EXIT
  trap 'exit 143' TERM
  LAB_PART=1/2 "$0" || first=$?
  wait "$half" || second=$?
  cat "$printed"
  # A half that failed counts more than one that could not run.
  [ "$first" -ne 125 ] || first=$second
  [ "$first" -ne 0 ] || [ "$second" -eq 125 ] || first=$second
  exit "$first"
fi
# shellcheck source=tests/cluster/faults/table.sh
. "$(dirname "$(readlink -f "$0")")/faults/table.sh"
# shellcheck source=tests/cluster/faults/doctor.sh
. "$faults/doctor.sh"
read -ra sizes <<< "${LAB_SIZES:-one}"
[ -z "${LAB_FULL-}" ] || sizes=(one half all)
choose_faults "$@"
faults_up

shown_on() { # NAME: on which hosts the fault shows
  local looks=() i
  found=()
  for host in "${hosts[@]}"; do
    "shows_$1" "$host" > /dev/null &
    looks+=($!)
  done
  for i in "${!hosts[@]}"; do wait "${looks[i]}" && found+=("${hosts[i]}"); done
}
look() { # NAME WHEN EXPECTED: it shows on those, at the latest after 5 s: on a busy machine a link or sshd takes a moment
  local found until=$((SECONDS + 5))
  while shown_on "$1"; [ "${found[*]}" != "$3" ] && [ $SECONDS -lt $until ]; do sleep 0.2; done
  [ "${found[*]}" = "$3" ] || fail "$1 ($size), $2: shows on '${found[*]}', not on '$3'"
}

try_fault() { # NAME SIZE
  local name=$1 size=$2 broken before=$failures begun outcome=right hand=hand
  begun=$(now_ms)
  read -ra broken <<< "$(hosts_of_size "${fault_scope[$name]}" "$size")"
  "inject_$name" "${broken[@]}" || fail "$name ($size): inject"
  look "$name" injected "${broken[*]}"
  [ -n "${LAB_PROVE-}" ] || doctor_finds "$name" "$size" "${broken[@]}"
  if [ -z "${LAB_PROVE-}" ] && [ "${fault_scope[$name]}:$size" != odd:all ] && is_mended_by_doctor "$name"; then
    hand=doctor
    carry_out "$name" "$size"
  else
    "repair_$name" "${broken[@]}" || fail "$name ($size): repair"
  fi
  ! declare -F "settle_$name" > /dev/null || "settle_$name" "${broken[@]}"
  look "$name" mended ""
  [ -n "${LAB_PROVE-}" ] || doctor_passes "$name" "$size"
  [ "$hand" = hand ] || "repair_$name" "${broken[@]}" > /dev/null 2>&1
  undo "$name" "${broken[@]}"
  restore_job
  tried=$((tried + 1))
  [ "$failures" -eq "$before" ] || outcome=WRONG
  [ "$outcome" = WRONG ] || right=$((right + 1))
  printf '%-17s %-8s %-5s %-5s mended by %-6s %6d ms\n' "$name" "${fault_id[$name]}" "$size" "$outcome" "$hand" $(($(now_ms) - begun))
}

tried=0 right=0
[ -n "${LAB_PROVE-}" ] || doctor_is_quiet
for name in "${fault_names[@]}"; do
  if why=$(fault_cannot "$name"); then
    echo "left out: $name: $why"
    continue
  fi
  for size in $(sizes_of_scope "${fault_scope[$name]}" "${sizes[@]}"); do try_fault "$name" "$size"; done
done
echo "$right of $tried injections of ${#fault_names[@]} faults as expected"
finish
