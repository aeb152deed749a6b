# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by faults.sh: what doctor says about the job, and whether that is right.

run_doctor() { # LEVEL REPORT [WORD...]
  on "$head" env "${doctor_environment[@]}" "$tool" "${doctor_words[@]}" "--$1" --json "${@:3}" "${doctor_more[@]}" \
    "${program_words[@]}" > "$2" 2> "$2.err"
}
judge() { python3 "$faults/judge.py" "$@"; }
words_of() { # NAME: into the array words
  words=()
  ! declare -F "arguments_$1" > /dev/null || mapfile -t words < <("arguments_$1")
}

# Nothing of what is going to be injected may be found before.
doctor_is_quiet() {
  run_doctor quick "$work/quiet"
  local found
  found=$(judge clean "$work/quiet" | grep -vE "$lab_truths") || return 0
  fail "found on a healthy lab: $found"
}

doctor_finds() { # NAME SIZE HOST...
  local name=$1 size=$2 expected=${*:3} reported words
  case ${fault_scope[$name]}:$size in
    job:*) expected='' ;;
    odd:all) expected=none ;;
    named:*) expected="named ${expected//node/${fault_scope[$name]#named:}}" ;;
  esac
  ! declare -F "expected_$name" > /dev/null || expected=$("expected_$name" "${@:3}" | tr '\n' ' ')
  words_of "$name"
  run_doctor "${fault_level[$name]}" "$work/$name.$size" "${words[@]}"
  reported=$(judge found "$work/$name.$size" "${fault_id[$name]}" "${fault_verdicts[$name]}" "$expected") ||
    fail "$name ($size): $reported $(head -c 200 "$work/$name.$size.err")"
}

doctor_passes() { # NAME SIZE
  local name=$1 reported words
  words_of "$name"
  run_doctor "${fault_level[$name]}" "$work/$name.$2.mended" "${words[@]}"
  reported=$(judge clean "$work/$name.$2.mended" "${fault_id[$name]}") || fail "$name ($2), mended: $reported"
}

# Faults that doctor's own commands mend, typed as they are; the others' remedies need an editor, another shell
# environment, a package or a machine's boot, and are carried out by the fault's own repair.
mended_by_doctor=(rankfile_name unknown_alias loopback_name other_table long_line two_names unknown_host_key
  noisy very_noisy no_orted other_mpi forwarding sshd_off sshd_hangs small_shm small_stack slots overlap
  mtu filtered data_missing data_differ data_unreadable other_uid full_disk read_only not_executable drained)
is_mended_by_doctor() { [[ " ${mended_by_doctor[*]} " == *" $1 "* ]]; }
carry_out() { # NAME SIZE
  local place who targets command path=/run/lab:/home/ddl/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin target
  judge remedy "$work/$1.$2" "${fault_id[$1]}" > "$work/remedy"
  while IFS=$'\x1f' read -r place who targets command; do
    [ "$place" = hosts ] || targets=$head
    for target in $targets; do
      if [ "$who" = root ]; then
        as_root "$target" env PATH="$path" bash -c "$command"
      else
        on "$target" env PATH="$path" bash -c "$command"
      fi < /dev/null > "$work/carried" 2>&1 || echo "$1 ($2): on $target: $command: $(tail -n 1 "$work/carried")"
    done
  done < "$work/remedy"
}

# What is true of this machine and no false alarm: a memlock that root itself may not raise, say.
lab_truths='^$|CPU-09 warn .*processes not visible' # other tests on this machine
