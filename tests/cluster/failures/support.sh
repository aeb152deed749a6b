# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Sourced by failures.sh: how a kind is declared, how its run is made, kept and mended afterwards.

# The lab's hosts: their own names, those of their second interfaces, their addresses.
user=ddl user_id=2000 h1=node1 h2=node2 h3=node3 f1=ib1 f2=ib2 a1=10.1.1.1 a2=10.1.1.2 i1=10.9.1.1 i2=10.9.1.2

# kind ID CAUSES HOST RANK WHAT [EVIDENCE]: break_ID makes the run. CAUSES: the signature of the injected fault; a second
# one is allowed where Open MPI's own words for that fault are another row's; "-": no row of the table has this fault, and
# the diagnosis must show EVIDENCE instead; "none": nothing is broken. HOST and RANK: what the log shows of the place, or -.
# Before break_ID, prepare_ID (if there is one) is called at the very start, for what takes long.
declare -A kind_causes kind_host kind_rank kind_what kind_evidence kind_needs kind_slow
kinds=()
needs=hosts
kind() {
  kinds+=("$1")
  kind_causes[$1]=$2
  kind_host[$1]=$3
  kind_rank[$1]=$4
  kind_what[$1]=$5
  kind_evidence[$1]=${6-}
  kind_needs[$1]=$needs
}
# in_mpi_5 ID CAUSES [HOST] [RANK] [EVIDENCE]: what the log of Open MPI 5 shows of that fault; no argument but ID: it cannot be
# made there. "none": Open MPI 5 runs the job.
declare -A kind_absent
mpi_major=$(mpirun --version 2> /dev/null | sed -n 's/.*(Open MPI) \([0-9]*\)\..*/\1/p')
in_mpi_5() {
  [ "$mpi_major" = 5 ] || return 0
  [ $# -gt 1 ] || { kind_absent[$1]=1; return 0; }
  kind_causes[$1]=$2
  kind_host[$1]=${3--}
  kind_rank[$1]=${4--}
  kind_evidence[$1]=${5-}
}
# For a break_ID after which Open MPI 5 says nothing at all: the user says whose status it is.
silent_in_mpi_5() { [ "$mpi_major" != 5 ] || from=mpirun; }
# slow ID: only with LAB_FULL=1
slow() { kind_slow[$1]=1; }

# undo COMMAND...: runs after the kind, whatever happened, the last one first.
undo() { undo_list+=("$(printf '%q ' "$@")"); }
mend() {
  local i
  for ((i = ${#undo_list[@]} - 1; i >= 0; i--)); do eval "${undo_list[i]}"; done
  undo_list=()
}

# broken COMMAND...: the run itself, as the lab's user on the first host; both streams in one log, as a user keeps them.
# The log is on descriptor 3, so that no shell around the command adds a word of its own ("Aborted") to it.
broken() { broken_on "$h1" "$@"; }
broken_on() {
  local host=$1
  shift
  status=0
  on "$host" sh -c 'seconds=$1; shift; timeout -k 2 "$seconds" "$@" >&3 2>&3 3>&-; exit $?' sh "${limit:-25}" "$@" \
    3>> "$log" > /dev/null 2>&1 < /dev/null || status=$?
}

# broken_until TEXT COMMAND...: up to five runs, the log is that of the last. srun sometimes loses lines of a task, and
# Open MPI 4.1 its own message, as when two ranks send it at once ("Data unpack would read past end of buffer"); mostly
# but not always it says which rank ended first.
broken_until() {
  local text=$1 tries=0
  shift
  until [ $((++tries)) -gt 5 ]; do
    : > "$log"
    broken "$@"
    ! grep -qF "$text" "$log" || break
  done
}

# home_file NAME [MODE]: stdin becomes a file in the shared home.
home_file() {
  cat > "$home/$1"
  chmod "${2:-644}" "$home/$1"
  chown "$user_id:$user_id" "$home/$1"
}
# local_file HOST NAME [MODE]: stdin becomes a file in that host's own /tmp/job.
local_file() {
  as_root "$1" sh -c 'mkdir -p /tmp/job && chmod 755 /tmp/job && cat > "/tmp/job/$1" && chmod "$2" "/tmp/job/$1"' sh "$2" "${3:-755}"
  undo as_root "$1" rm -f "/tmp/job/$2"
}
# shell_line_on HOST LINE: what that host's shells do first; the home is shared, so the host is asked.
shell_line_on() {
  printf 'if [ "$(hostname)" = %q ]; then\n%s\nfi\n' "$1" "$2" | home_file .bashrc
  undo home_file .bashrc
}
# rankfile LINE...: job.rf in the home
rankfile() { printf '%s\n' "$@" | home_file job.rf; }
# hosts LINE...: job.hosts in the home
hosts() { printf '%s\n' "$@" | home_file job.hosts; }
# local_copy HOST FILE NAME FROM TO: FILE with a text replaced by another of the same length, in that host's /tmp/job
local_copy() { LC_ALL=C sed "s/$4/$5/g" "$2" | local_file "$1" "$3"; }
# mpirun waits a second before it ends the other ranks; none of them has anything to save.
quick=(--mca mpi_yield_when_idle 1 --mca odls_base_sigkill_timeout 0)
mpirun=(mpirun "${quick[@]}")

# kill_when_running HOST NAME SIGNAL [SECONDS]: in the background, as soon as a process of that name is there (and the
# ranks have had time to meet); the host's own process table holds no other job's.
kill_when_running() {
  as_root "$1" sh -c 'for _ in $(seq 100); do p=$(pgrep -o -x "$1") && break; sleep 0.1; done; sleep "$3"; kill "-$2" "$p"' \
    sh "$2" "$3" "${4:-1.5}" > /dev/null 2>&1 &
  undo wait "$!"
}

# broken_up: three hosts, the programs in their home, Slurm where it is installed
broken_up() {
  local missing
  for missing in mpirun mpicxx.openmpi gcc python3; do
    command -v "$missing" > /dev/null || { echo "skipped: no $missing here"; exit 125; }
  done
  lab_up 3
  home=$lab_home
  mkdir -p "$home/bin"
  if ! mpicxx.openmpi -O1 -DOMPI_SKIP_MPICXX -o "$home/bin/worker" "$lab_tests/failures/worker.cpp" -lopen-pal ||
    ! gcc -O1 -fopenmp -o "$home/bin/threads" "$lab_tests/failures/threads.c"; then
    fail "the programs do not compile"
    finish
  fi
  have_slurm=
  if command -v slurmctld slurmd munged > /dev/null && slurm up 4 2 > "$work/slurm_up" 2>&1; then have_slurm=yes; fi
  trainer=${DDLRUN_BUILD_DIR:-}/runtime/ddl-train
  if [ -x "$trainer" ]; then
    install_trainer
    cp -r "$lab_tests/../data/fashion-mnist-subset" "$home/data"
  fi
  chown -R "$user_id:$user_id" "$home"
  [ -n "$have_slurm" ] || echo "no Slurm here: its kinds are left out"
  [ -x "$home/bin/ddl-train" ] || echo "no trainer in this build: its kinds are left out"
}
wanted() {
  [ -z "${kind_slow[$1]-}" ] || [ -n "${LAB_FULL-}" ] || return 1
  [ -z "${kind_absent[$1]-}" ] || { echo "$1: left out, Open MPI $mpi_major has no such failure"; return 1; }
  case ${kind_needs[$1]} in
    slurm) [ -n "$have_slurm" ] ;;
    trainer) [ -x "$home/bin/ddl-train" ] ;;
  esac
}

# run_kind ID: the log in $log, the status in $status. The lab's directory gets the name of a real one.
run_kind() {
  local begun
  begun=$(now_ms)
  mkdir -p "$logs/$1"
  log=$logs/$1/log
  : > "$log"
  status='?'
  from=
  undo_list=()
  "break_$1"
  mend
  if [ "$status" = 137 ] && [ $(($(now_ms) - begun)) -gt 25000 ]; then
    echo "$1: mpirun hung by itself, once more"
    : > "$log"
    "break_$1"
    mend
  fi
  sed -i -e "s#$LAB_DIR#/var/spool/cluster#g" "$log"
  echo "$status" > "$logs/$1/status"
  {
    echo "causes ${kind_causes[$1]}"
    echo "host ${kind_host[$1]}"
    echo "rank ${kind_rank[$1]}"
    [ -z "${kind_evidence[$1]}" ] || echo "evidence ${kind_evidence[$1]}"
    [ -z "$from" ] || echo "from $from"
    echo "broken ${kind_what[$1]}"
  } > "$logs/$1/expected"
  took=$(($(now_ms) - begun))
}
diagnose_kind() {
  # PRRTE 3.0.8 exits with 0 after the loss of a host, and srun where each rank is a job of its own.
  local known=(--status "$status")
  [ "$status" != 0 ] || [ "${kind_causes[$1]}" = none ] || known=()
  "$DDLRUN" diagnose --json "${known[@]}" ${from:+--from "$from"} "$log" > "$logs/$1/diagnosis" 2> "$logs/$1/talk"
  directories+=("$logs/$1")
  rows+=("$(printf '%-34s %5d ms  status %-4s expected %-8s' "$1" "$took" "$status" "${kind_causes[$1]}")")
}
# judge_all: one line a kind, and a failure for each that is wrong
judge_all() {
  local i verdicts shown=0 wrong=0
  mapfile -t verdicts < <("$lab_tests/failures/judge.py" "${directories[@]}")
  same "as many verdicts as runs" "${#rows[@]}" "${#verdicts[@]}"
  for ((i = 0; i < ${#rows[@]}; i++)); do
    echo "${rows[i]} ${verdicts[i]}"
    case ${verdicts[i]} in
      *named) ;;
      *shown) shown=$((shown + 1)) ;;
      *) wrong=$((wrong + 1)); fail "${rows[i]%% *}: ${verdicts[i]}" ;;
    esac
  done
  echo "${#rows[@]} runs: $((${#rows[@]} - shown - wrong)) causes named, $shown shown by their lines only, $wrong wrong"
  [ "${#rows[@]}" -gt 0 ] || fail "nothing was run"
}
# record_kind ID DIRECTORY: the run becomes DIRECTORY/ID.txt, which cli/diagnose_broken_runs.sh reads.
record_kind() {
  mkdir -p "$2"
  { echo "status $(cat "$logs/$1/status")"; cat "$logs/$1/expected"; echo "=== log"; cat "$logs/$1/log"; } > "$2/$1.txt"
}

# sshd_with HOST LINE: its sshd with this line instead of the one that begins with the same word
sshd_with() {
  cp -p "$LAB_DIR/$1/sshd_config" "$work/sshd_config.$1"
  undo lab sshd "$1"
  undo cp -p "$work/sshd_config.$1" "$LAB_DIR/$1/sshd_config"
  { echo "$2"; grep -v "^${2%% *} " "$work/sshd_config.$1"; } > "$LAB_DIR/$1/sshd_config"
  lab sshd "$1"
}
