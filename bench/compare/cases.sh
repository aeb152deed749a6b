# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Sourced by compare.sh: one run of the job with its fault, and what it leaves behind.

# set_program CASE HOST2: $words, the command as typed. $wanted: hosts as Slurm's option, where the case names them.
set_program() {
  local name=work
  second=$2 wanted=()
  [ "$2" = node2 ] || wanted=("--nodelist=node1,$2")
  [ "$1" != missing ] || name=missing
  case $library in
    mpi) program=("./${name}_mpi") ;;
    *) program=(python3 "${name}_$library.py") ;;
  esac
  [ "$1" != start ] || program=(./stamp.sh)
  type_command
}

# run_typed FILE: types the command on each host where it has to be typed; output in FILE, $status of each.
run_typed() {
  local host jobs=() job code
  : > "$1"
  for host in $typed_on; do
    "$lab_tests/lab.sh" exec "$host" -u ddl -- python3 typed.py "$limit" "${words[@]}" >> "$1" 2>&1 < /dev/null &
    jobs+=($!)
  done
  status=
  for job in "${jobs[@]}"; do
    code=0
    wait "$job" || code=$?
    status+="${status:+, }$code"
  done
}

# list_files: files of the user in the home, /tmp and /dev/shm of the hosts, without those of the job itself.
list_files() {
  local host
  find "$lab_home" \( -path "$lab_home/places" -o -path "$lab_home/started" \) -prune -o -type f -printf 'home %P\n'
  for host in node1 node2; do
    as_root $host find /tmp /dev/shm /run -xdev -uid 2000 \( -type f -o -type p -o -type s \) -printf "$host %p\n"
  done
}

remember() {
  list_files | sort > "$work/files"
  keep_as_before
}
# repair: ends what is left, removes files that were not there; the hosts are as before.
repair() {
  local where file host pid
  on node1 scancel -u ddl
  wait_until 20 no_jobs || echo "a job of Slurm does not end"
  while read -r host pid _; do kill -KILL "$pid"; done < <(list_left) 2> /dev/null
  list_files | sort | comm -13 "$work/files" - | while read -r where file; do
    if [ "$where" = home ]; then rm -f "$lab_home/$file"; else as_root "$where" rm -f "$file"; fi
  done
}
none_left() { [ -z "$(list_left)" ]; }
no_jobs() { [ -z "$(on node1 squeue -h)" ]; }
list_left() { # the shell of process 1 of a host sleeps; slurmd and sshd start short children
  everything | sort -k2,2 | join -1 2 -2 1 -v 1 - "$work/before" | awk '{ print $2, $1, $3, $4, $5, $6, $7 }' | grep -vE ' (sleep|slurmd|sshd|slurmctld) '
}

break_full_tmp() { as_root node2 sh -c 'mount -t tmpfs -o size=64k,mode=1777 tmpfs /tmp; cat /dev/zero > /tmp/full' 2> /dev/null; }
mend_full_tmp() { as_root node2 umount -l /tmp; }

all_started() { [ "$(cat "$lab_home"/places/? 2> /dev/null | wc -l)" -eq 4 ]; }
kill_rank() { # rank 3, 5 s after all ranks have begun
  local host pid
  wait_until 60 all_started || return
  sleep 5
  read -r host pid < "$lab_home/places/3"
  as_root "$host" kill -KILL "$pid"
  echo "$host" > "$directory/host"
}

# run_case CASE DIRECTORY
run_case() {
  local plan="3 -1" begun killer='' other=node2
  directory=$2
  rm -rf "$directory"
  mkdir -p "$directory"
  rm -f "$lab_home"/places/*
  case $1 in
    killed) plan="60 -1" ;;
    hang) plan="10 3" ;;
    wrong_host) other=nodeX ;;
  esac
  echo "$plan" > "$lab_home/plan"
  echo node2 > "$directory/host"
  [ "$1" != wrong_host ] || echo nodeX > "$directory/host"
  remember
  [ "$1" != full_tmp ] || break_full_tmp
  set_program "$1" "$other"
  echo "${words[*]}" > "$directory/typed"
  if [ "$1" = killed ]; then kill_rank & killer=$!; fi
  begun=$EPOCHREALTIME
  run_typed "$directory/output"
  awk -v begun="$begun" -v now="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", now - begun }' > "$directory/seconds"
  echo "$status" > "$directory/status"
  echo "$limit" > "$directory/limit"
  [ -z "$killer" ] || { kill "$killer" 2> /dev/null; wait "$killer"; } 2> /dev/null
  cat "$lab_home"/places/* > "$directory/places" 2> /dev/null
  [ ! -s "$lab_home/places/3" ] || [ "$1" != hang ] || cut -d' ' -f1 "$lab_home/places/3" > "$directory/host"
  wait_until 10 none_left # Slurm and submitit end their last processes after the command
  list_left > "$directory/processes"
  on node1 squeue -h >> "$directory/processes"
  list_files | sort | comm -13 "$work/files" - > "$directory/files"
  collect_logs >> "$directory/logs"
  [ "$1" != full_tmp ] || mend_full_tmp
  repair
}
# What the launcher wrote into files rather than on the screen: a user would have to look there.
collect_logs() {
  awk '$1 == "home" { print $2 }' "$directory/files" | grep -E '\.(out|err|log)$|/log$' | while read -r file; do
    echo "== $file"
    head -c 20000 "$lab_home/$file"
  done
}
