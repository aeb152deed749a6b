#!/bin/bash
# SPDX-License-Identifier: MIT
# Doctor against real faults: each is injected into one, half or all of 4 hosts, looked at by foreign means, and must
# then be found by the right check on exactly these hosts with a remedy; mended, the check must pass again.
#   faults.sh [NAME...]        LAB_SIZES="one half all" (or LAB_FULL=1)    LAB_PART=1/4: every fourth fault from the first
#   LAB_PROVE=1                only the foreign look, no doctor
# shellcheck source=tests/cluster/faults/table.sh
. "$(dirname "$(readlink -f "$0")")/faults/table.sh"
# shellcheck source=tests/cluster/faults/doctor.sh
. "$faults/doctor.sh"
read -ra sizes <<< "${LAB_SIZES:-one}"
[ -z "${LAB_FULL-}" ] || sizes=(one half all)
choose_faults "$@"
faults_up

look() { # NAME WHEN EXPECTED: on which hosts the fault shows
  local looks=() found=() i
  for host in "${hosts[@]}"; do
    "shows_$1" "$host" > /dev/null &
    looks+=($!)
  done
  for i in "${!hosts[@]}"; do wait "${looks[i]}" && found+=("${hosts[i]}"); done
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
