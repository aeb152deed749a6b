#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch --multi-prog`: what is refused before anything starts, names of this machine, secrets. An OOM kill.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"

list() { printf '%s\n' "$@" > list.yaml; }
name=$("$DDLRUN" launch 1 --dry-run -- true 2> /dev/null | sed -n 's/^rank 0=\([^ ]*\) .*/\1/p')

# --- each name of this machine means it
for word in localhost 127.0.0.1 "$name" "$(hostname)"; do
  list "- {hosts: '$word', program: [echo, meant]}"
  launch here 1 --multi-prog list.yaml
  same "hosts: $word: status" 0 "$status"
  same "hosts: $word" meant "$(cat here.out)"
done
list "- {hosts: h9, program: 'true'}"
expect_refusal 3 "h9 is no host of this job" "$DDLRUN" launch 1 --multi-prog list.yaml
grep -q "^  try: hosts: $name   # the job has $name$" "$work/err" || fail "a foreign host: $(cat "$work/err")"

# --- mpi4py in the working directory of another user is no part of a program that lies elsewhere
mkdir -p foreign/mpi4py foreign/contextlib elsewhere
printf 'open("%s/started", "w")\n' "$work" | tee foreign/mpi4py/__init__.py > foreign/contextlib/__init__.py
printf 'from mpi4py import MPI\n' > elsewhere/train.py
for dry in --dry-run ''; do
  # shellcheck disable=SC2086
  (cd foreign && run "$DDLRUN" launch 1 $dry -- python3 "$work/elsewhere/train.py")
  check "launch $dry reads no mpi4py of the working directory" test ! -e "$work/started"
done

# --- a program that is not here is found before anything starts
list "- ranks: 0" "  program: [no_such_program_anywhere]"
expect_refusal 3 "the program 'no_such_program_anywhere' was not found" "$DDLRUN" launch 1 --multi-prog list.yaml
grep -q "^  at:  list.yaml, rank 0; PATH$" "$work/err" || fail "a missing program: $(cat "$work/err")"
list "- ranks: 0" "  program: ./not_here"
expect_refusal 3 "the program './not_here' was not found" "$DDLRUN" launch 1 --multi-prog list.yaml
check "no run directory was made" test -z "$(grep -l not_here -r "$XDG_STATE_HOME" 2> /dev/null)"
mkdir other
printf '#!/bin/sh\necho mine\n' > other/found_there
chmod +x other/found_there
list "- ranks: 0" "  program: found_there" "  set: {PATH: '$work/other:/bin:/usr/bin'}"
launch own_path 1 --multi-prog list.yaml
same "a PATH of its own" mine "$(cat own_path.out)"
# Of ranks elsewhere nothing is known here.
list "- {ranks: 0, program: only_there}"
launch far 1x1x1 h9 --sockets 1 --cores 1 --multi-prog list.yaml --dry-run
same "a program of another host: status" 0 "$status"

# --- what `set` gives stands in files: no secrets; by -x they reach the ranks, and are kept nowhere
list "- ranks: 0" "  program: [sh, -c, 'echo \$API_TOKEN \$MODE']" "  set: {API_TOKEN: s3cret}"
for launcher in openmpi ssh; do
  expect_refusal 3 "API_TOKEN looks like a secret" "$DDLRUN" launch 1 --launcher $launcher --multi-prog list.yaml
  has "a secret" "$work/err" "at:  list.yaml:3:20"
  has "a secret" "$work/err" "try: -x API_TOKEN instead"
done
sed -i 's/API_TOKEN: s3cret/MODE: train, TOKENIZERS_PARALLELISM: "false"/' list.yaml
for launcher in openmpi ssh; do
  API_TOKEN=s3cret launch secret 1 --launcher $launcher --multi-prog list.yaml -x API_TOKEN
  same "-x API_TOKEN, $launcher" "s3cret train" "$(cat secret.out)"
done
API_TOKEN=0ther expect 0 "0ther train" "$DDLRUN" replay last
expect 0 "th1rd train" "$DDLRUN" replay last -x API_TOKEN=th1rd
# shellcheck disable=SC2016 # expanded by the inner bash
for word in s3cret 0ther th1rd; do check "no value in any directory: $word" bash -c '! grep -rq "$1" "$2"' bash "$word" "$XDG_STATE_HOME"; done
# --- the kernel's OOM killer: the supervisor of the rank reads its counter
memory=/sys/fs/cgroup/memory
group=$memory/ddlrun-test-$$
if [[ -e $memory/cgroup.procs ]] && mkdir "$group" 2> /dev/null; then
  echo 200M > "$group/memory.limit_in_bytes"
  status=0
  (
    echo "$BASHPID" > "$group/cgroup.procs"
    exec "$DDLRUN" launch 1 -- /usr/bin/python3 -c 'a = []
while True: a.append(bytearray(b"x" * (8 << 20)))' > oom.out 2> oom.err
  ) || status=$?
  same "an OOM kill: status" 137 "$status"
  has "an OOM kill" oom.err "cause: the kernel's OOM killer ended a process in the cgroup of rank 0 [O37]"
  for _ in $(seq 50); do rmdir "$group" 2> /dev/null && break || sleep 0.1; done
  # shellcheck disable=SC2016 # expanded by the inner bash
  launch killed 1 -- bash -c 'kill -KILL $$'
  has_not "another kill" killed.err "OOM killer ended a process"
else
  echo "left out: an OOM kill needs root and a memory cgroup of version 1"
fi
finish
