#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun launch --launcher ssh`: ranks without any MPI. This machine is one host; others are made by a stand-in for ssh
# that runs the remote command here and keeps what it was called with.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state
unset OMP_NUM_THREADS CUDA_DEVICE_ORDER
cd "$work" || exit 2
mkdir bin
cat > bin/mpirun << 'PROGRAM'
#!/bin/sh
echo "mpirun was called" >> "$(dirname "$0")/../mpirun.called"
exit 1
PROGRAM
cat > bin/ssh << 'PROGRAM'
#!/bin/bash
here=$(dirname "$0")
for host; do command=$host && host=$previous && previous=$command; done
printf '%s\n' "$@" >> "$here/../ssh.$host"
case $host in
  dead) echo "ssh: connect to host dead port 22: Connection refused" >&2; exit 255 ;;
  busy) [ "$(grep -c '^--$' "$here/../ssh.$host")" -gt 2 ] ||
    { echo "kex_exchange_identification: Connection closed by remote host" >&2; exit 255; } ;;
  bare) echo "sh: 1: exec: ddlrun: not found" >&2; exit 127 ;;
  other) echo "ddlrun-start ready 0123"; exec sleep 20 ;;
  noisy) echo "Welcome to noisy" ;;
esac
exec sh -c "$command"
PROGRAM
chmod 755 bin/*
PATH=$work/bin:$PATH

launch() { # NAME ARGUMENTS...
  local name=$1
  shift
  status=0
  "$DDLRUN" launch --launcher ssh "$@" > "$name.out" 2> "$name.err" < /dev/null || status=$?
}
# Processes that sleep for so many seconds; the number names our own.
left() {
  grep -lzxe "[${1:0:1}]${1:1}" /proc/[0-9]*/cmdline 2> /dev/null | while read -r file; do
    [[ $({ tr '\0' ' ' < "$file"; } 2> /dev/null) == "sleep "* ]] && echo "$file"
  done | wc -l
}
wait_for() { # SECONDS-NAME COUNT
  for _ in $(seq 1 200); do
    [[ $(left "$1") -eq $2 ]] && return 0
    sleep 0.05
  done
  echo "$(left "$1") sleepers, not $2"
  return 1
}
new_name() { echo $((200000 + RANDOM * 20 + RANDOM % 20)); }
two=(1x2x1 'h[1-2]' --sockets 1 --cores 1)

# --- two ranks, their places, their names for themselves
ranks=2
"$DDLRUN" launch --launcher ssh 2 --dry-run -- true > /dev/null 2>&1 || ranks=1
# shellcheck disable=SC2016
who='echo "$DDLRUN_RANK $DDLRUN_SIZE $DDLRUN_LOCAL_RANK $DDLRUN_LOCAL_SIZE $DDLRUN_NODE_RANK $DDLRUN_NODE_COUNT"'
launch own $ranks --verify --strict -- sh -c "$who"
same "own: status" 0 "$status"
same "own: identity" "$(for ((i = 0; i < ranks; i++)); do echo "$i $ranks $i $ranks 0 1"; done)" "$(sort own.out)"
same "own: places" "$ranks" "$(grep -c '"verdict":"ok"' "$(directory_of own)/run.json")"
# The cores that the ranks really have, by the kernel's own words, are those of the plan.
# shellcheck disable=SC2016
launch cores $ranks -- sh -c 'echo "$DDLRUN_RANK $(sed -n "s/Cpus_allowed_list:\t//p" /proc/self/status)"'
planned() { sed -n 's/^rank \([0-9]*\)=.*/\1/p' "$(directory_of cores)/rankfile" | wc -l; }
same "cores: a line a rank" "$(planned)" "$(wc -l < cores.out)"
[ "$ranks" -eq 1 ] || same "cores: no two ranks have the same" 2 "$(cut -d' ' -f2 cores.out | sort -u | wc -l)"
launch hosts "${two[@]}" -- sh -c "$who"
same "two hosts: identity" $'0 2 0 1 0 2\n1 2 0 1 1 2' "$(sort hosts.out)"
# Without MPI nothing else gives a program its rank: as torchrun, for any program.
# shellcheck disable=SC2016
torch='echo "$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR:${MASTER_PORT:+port}"'
launch torch "${two[@]}" -- sh -c "$torch"
same "torch's variables" $'0 2 0 1 0 h1:port\n1 2 0 1 1 h1:port' "$(sort torch.out)"
launch plain "${two[@]}" --framework none -- sh -c "$torch"
same "--framework none: no variables" $'     :\n     :' "$(cat plain.out)"
MASTER_ADDR=own launch own_address "${two[@]}" -- sh -c "$torch"
same "an own MASTER_ADDR stays" $'0 2 0 1 0 own:port\n1 2 0 1 1 own:port' "$(sort own_address.out)"
launch typed "${two[@]}" -x RANK=3 -- sh -c "$torch"
same "-x RANK=3: status" 2 "$status"
has "-x RANK=3" typed.err "-x RANK: --launcher ssh sets RANK for each rank"
check "no mpirun" test ! -e mpirun.called
launch dry "${two[@]}" --dry-run -- sh -c "$who"
same "dry run: status" 0 "$status"
check "dry run: bash reads it" bash -n dry.out
same "dry run: the script does the same" "$(sort hosts.out)" "$(bash dry.out 2> /dev/null | sort)"

# --- output: whole lines, all of them, never mixed
cat > lines.py << 'PROGRAM'
import os, sys
rank = os.environ["DDLRUN_RANK"]
out = os.fdopen(1, "wb", 1000 + 37 * int(rank))  # writes end within lines
for i in range(10000):
    out.write(b"rank %s line %05d %s\n" % (rank.encode(), i, b"x" * (i % 97)))
out.flush()
PROGRAM
launch lines "${two[@]}" -- python3 lines.py
same "lines: status" 0 "$status"
for rank in 0 1; do
  DDLRUN_RANK=$rank python3 lines.py > expected
  check "lines of rank $rank" cmp -s expected <(grep "^rank $rank line" lines.out)
done
same "lines: no others" 20000 "$(wc -l < lines.out)"
# shellcheck disable=SC2016
launch errors "${two[@]}" -- sh -c 'seq -f "rank $DDLRUN_RANK line %05g" 10000 >&2'
for rank in 0 1; do
  same "stderr of rank $rank" "$(seq -f "rank $rank line %05g" 10000 | md5sum)" "$(grep "^rank $rank line" errors.err | md5sum)"
done
same "stderr: no others" 20000 "$(grep -c 'rank.*line' errors.err)"
launch rest 1 -- printf 'no newline'
same "a last line without newline" "no newline" "$(cat rest.out)"
head -c 3000000 /dev/urandom > random
# shellcheck disable=SC2016
"$DDLRUN" launch --launcher ssh "${two[@]}" -- sh -c '[ $DDLRUN_RANK = 0 ] && exec cat; cat | wc -c >&2' \
  < random > copy.out 2> copy.err
check "stdin of rank 0, byte for byte" cmp -s random copy.out
has "stdin of the others is empty" copy.err 0

# --- ends
for code in 0 1 2 7 126 127 255; do
  launch code "${two[@]}" -- sh -c "[ \$DDLRUN_RANK = 0 ] || exit $code"
  same "exit $code" "$code" "$status"
done
for signal in KILL SEGV TERM; do
  # shellcheck disable=SC2016
  launch signal "${two[@]}" -- sh -c '[ $DDLRUN_RANK = 0 ] || kill -'$signal' $$'
  same "signal $signal" $((128 + $(kill -l $signal))) "$status"
done
# shellcheck disable=SC2016
launch abort "${two[@]}" -- sh -c '[ $DDLRUN_RANK = 0 ] && exec sleep 5; echo "bad table" >&2; kill -ABRT $$'
has "a signal is the cause" abort.err "cause: a rank aborted (SIGABRT) [E30]"
has "a signal: its place" abort.err "at: rank 1 on "
has "a signal: the rank's lines" abort.err "bad table"
for word in HOST JOB mpirun srun; do has_not "a signal: remedies" abort.err "$word"; done
# shellcheck disable=SC2016
launch unknown "${two[@]}" -- sh -c '[ $DDLRUN_RANK = 0 ] && exec sleep 5; echo "12 columns, 13 wanted" >&2; exit 4'
has "no known cause: the last lines" unknown.err "the last 1 line of rank 1 on stderr:"
has "no known cause: the last lines" unknown.err "  | 12 columns, 13 wanted"
# shellcheck disable=SC2016
launch killed "${two[@]}" -- sh -c 'kill -KILL $PPID'
has_not "a supervisor that is killed" killed.err "was lost"
name=$(new_name)
launch first "${two[@]}" -- sh -c "[ \$DDLRUN_RANK = 1 ] && exit 9; trap '' TERM; sleep $name; sleep $name"
same "one fails, the other is deaf: status" 9 "$status"
has "the first failure" first.err "failed first: it exited with status 9"
check "one fails: nothing is left" wait_for "$name" 0
launch missing "${two[@]}" -- ./no-such-program
same "no such program" 127 "$status"
has "no such program: the headline" missing.err "ddlrun: error: the program './no-such-program' does not exist on "
has "no such program: the first failure" missing.err \
  "failed first: it exited with status 127: the program or its interpreter does not exist there"
has_not "no such program" missing.err "was lost"
"$DDLRUN" history > history.out 2> /dev/null
has "no such program: in the history" history.out ": the program or its interpreter does not exist there"
printf '#!/no/such/interpreter\n' > script
chmod 755 script
launch interpreter "${two[@]}" -- ./script
has "no such interpreter" interpreter.err "cannot start './script': its interpreter does not exist on "
printf '#!/bin/sh\r\nexit 0\r\n' > crlf.sh
chmod 755 crlf.sh
launch crlf "${two[@]}" -- ./crlf.sh
has "line ends of Windows" crlf.err "cannot start './crlf.sh': its first line ends with a carriage return"
has "line ends of Windows" crlf.err "sed -i 's/\\r\$//' ./crlf.sh"
# shellcheck disable=SC2016
launch left "${two[@]}" --rank-output files -- /usr/bin/python3 -c 'import os, sys, time
if os.environ["DDLRUN_RANK"] == "1": sys.exit(0)
time.sleep(1)
raise RuntimeError("[pair.cc:598] Connection closed by peer [10.83.1.4]:52368")'
has "a rank that leaves early" left.err "ended with status 0 before the others: their errors are consequences"
has "a rank that leaves early" left.err "failed first: it left while the other ranks waited for it"
run "$DDLRUN" diagnose last
has "diagnose last: as launch found it" "$work/out" "ended with status 0 before the others"
# In a file: Python 3.13 shows the failing line of a program after -c too, older ones do not.
cat > cited.py << 'PROGRAM'
import os, sys, time
if os.environ["DDLRUN_RANK"] == "0": time.sleep(20)
print("epoch 1", file=sys.stderr)
raise ValueError("odd")
PROGRAM
launch cited "${two[@]}" --rank-output files -- /usr/bin/python3 cited.py
has "--rank-output files: the place in the file" cited.err "  out/rank-0001.err:5: ValueError: odd"
has_not "--rank-output files: nothing is above" cited.err "above"
launch silent "${two[@]}" --tee -- sh -c '[ $DDLRUN_RANK = 0 ] && exec sleep 5; exit 7'
run "$DDLRUN" diagnose last
has "diagnose last: the rank that failed first" "$work/out" "cause: unknown: rank 1 on h2 exited with status 7"
run "$DDLRUN" diagnose --json last
has "diagnose --json last: the rank that failed first" "$work/out" '"rank": 1'
launch unwatched "${two[@]}" --no-monitor -- sh -c 'exit 4'
same "--no-monitor: status" 4 "$status"
has "--no-monitor: the head reports" unwatched.err "failed first: it exited with status 4"

# --- signals, and the end of the head
cat > counter.sh << 'PROGRAM'
trap 'echo USR1 >> usr1.$DDLRUN_RANK' USR1
trap 'echo TERM >> term.$DDLRUN_RANK; exit 75' TERM
touch ready.$DDLRUN_RANK  # after this line a signal must hit nothing but a sleep
while [ $((turns += 1)) -le 200 ]; do sleep 0.1; done
PROGRAM
start_counter() { # [group [PROGRAM]]
  rm -f ready.* usr1.* term.*
  [ "${1-}" != group ] || set -m
  "$DDLRUN" launch --launcher ssh "${two[@]}" -- bash "${2-counter.sh}" > count.out 2> count.err < /dev/null &
  job=$!
  set +m
  for _ in $(seq 1 200); do [ -e ready.0 ] && [ -e ready.1 ] && return; sleep 0.05; done
  fail "the counters do not start: $(tail -3 count.err)"
}
start_counter
kill -USR1 $job
sleep 0.5
kill -TERM $job
wait $job
same "TERM: the ranks' own status" 75 $?
for rank in 0 1; do
  same "rank $rank: USR1 once" USR1 "$(cat usr1.$rank)"
  same "rank $rank: TERM once" TERM "$(cat term.$rank)"
done
start_counter group
kill -TERM -- -$job
wait $job
same "TERM to the whole group: the ranks still have their time" 75 $?
for rank in 0 1; do same "rank $rank of the group: TERM once" TERM "$(cat term.$rank)"; done
start_counter
kill -INT $job # by a shell's & it is ignored in the ranks
wait $job
same "INT: the ranks get TERM, as under the other launchers" 75 $?
for rank in 0 1; do same "rank $rank: TERM for INT" TERM "$(cat term.$rank)"; done
# The launcher ends ranks by TERM, whatever signal it got: a shell wants to know its own.
echo 'touch ready.$DDLRUN_RANK; exec sleep 20' > sleeper.sh
start_counter group sleeper.sh
kill -INT -- -$job
wait $job
same "ctrl-C: status" 130 $?
# first_below PID WORDS: of it and what it started, who begins so: others have a ddlrun as well.
first_below() {
  local child
  if [[ $({ tr '\0' ' ' < "/proc/$1/cmdline"; } 2> /dev/null) == "$2"* ]]; then
    echo "$1"
    return
  fi
  for child in $(pgrep -P "$1"); do
    first_below "$child" "$2" && return
  done
  return 1
}
family="setsid sleep NAME & sleep NAME & trap '' TERM; sleep NAME; sleep NAME"
for victim in launch ssh-launch ssh-daemon; do
  name=$(new_name)
  "$DDLRUN" launch --launcher ssh "${two[@]}" -- sh -c "${family//NAME/$name}" > kill.out 2> kill.err < /dev/null &
  job=$!
  check "kill $victim: it starts" wait_for "$name" 6
  killed=$(first_below "$job" "$DDLRUN $victim ") || fail "kill $victim: there is none below $job"
  kill -KILL "${killed:-$job}"
  wait $job 2> /dev/null
  ended=$?
  check "kill $victim: nothing is left" wait_for "$name" 0
  [ $victim != ssh-daemon ] || same "a lost host: status" 5 $ended
  [ $victim != ssh-daemon ] || has "a lost host is named" kill.err "host h"
done

# --- variables: any bytes, and no one else sees them
# shellcheck disable=SC2016
export PLAIN='"quotes" and $(touch PWNED)' LINES2=$'two\nlines\n' UNICODE=$'gr\xc3\xbc\xc3\x9f' BYTES=$'\x01\xff\xfe\x7f' EMPTY=
secret=s3cret-$RANDOM$RANDOM
name=$(new_name)
# shellcheck disable=SC2016
show='printf "%s|" "$PLAIN" "$LINES2" "$UNICODE" "$BYTES" "$EMPTY" "$HIDDEN" > values.$DDLRUN_RANK; sleep '$name
HIDDEN=$secret "$DDLRUN" launch --launcher ssh "${two[@]}" -x PLAIN -x LINES2 -x UNICODE -x BYTES -x EMPTY -x HIDDEN \
  -- sh -c "$show" > /dev/null 2> values.err < /dev/null &
job=$!
check "values: it starts" wait_for "$name" 2
for file in /proc/[0-9]*/cmdline; do
  [[ $({ tr '\0' ' ' < "$file"; } 2> /dev/null) != *"$secret"* ]] || fail "the secret stands in $file"
done
kill -TERM $job
wait $job
printf '%s|' "$PLAIN" "$LINES2" "$UNICODE" "$BYTES" "" "$secret" > values
for rank in 0 1; do check "values of rank $rank" cmp -s values values.$rank; done
! grep -rqF "$secret" "$XDG_STATE_HOME" ssh.* values.err || fail "the secret was written"
check "nothing was run by a value" test ! -e PWNED

# --- hosts that cannot: named, and nothing is started
refused() { # HOST STATUS TEXT
  rm -f started
  launch refuse 1x2x1 "h1,$1" --sockets 1 --cores 1 -- touch started
  same "$1: status" "$2" "$status"
  has "$1" refuse.err "$3"
  has "$1" refuse.err "ddlrun: nothing was started"
  grep -q "^  try: ." refuse.err || fail "$1: no 'try:'"
  check "$1: no rank ran" test ! -e started
}
refused dead 5 "dead cannot be reached: ssh: connect to host dead port 22: Connection refused"
refused bare 3 "bare has no ddlrun that can start ranks"
refused other 3 "other has another build of ddlrun"
launch busy 1x2x1 h1,busy --sockets 1 --cores 1 -- sh -c "$who"
same "a busy sshd is tried again: status" 0 "$status"
launch noisy 1x2x1 h1,noisy --sockets 1 --cores 1 -- sh -c "$who"
same "a noisy shell: status" 0 "$status"
same "a noisy shell: stdout" "$(sort hosts.out)" "$(sort noisy.out)"

# --- what --launcher ssh has no use for; remedies in words that it takes
launch mpirun 1 --mpirun mpirun -- touch ran
same "mpirun by its usual name: status" 0 "$status"
launch mpirun 1 --mpirun ./mpirun -- touch ran.too
same "--mpirun: status" 2 "$status"
has "--mpirun" mpirun.err "--mpirun ./mpirun is not run: --launcher ssh starts the ranks itself"
check "--mpirun: nothing was started" test ! -e ran.too
launch mca 1 --mca btl tcp -- touch ran.too
same "--mca: status" 2 "$status"
launch traceback 1 -- python3 -c 'raise KeyError(3)'
same "a Python exception: status" 1 "$status"
has "a Python exception" traceback.err "[E24]"
has "a Python exception: its rank" traceback.err "at: rank 0 on "
has_not "a Python exception" traceback.err "mpirun"

# --- a port that is in use: refused where that is known before, else named
cat > listen.py << 'PROGRAM'
import os, socket, sys
if len(sys.argv) > 1:
    first = socket.socket()
    first.bind(("", int(os.environ["MASTER_PORT"])))
    first.listen()
    print(os.environ["MASTER_PORT"], flush=True)
port = socket.socket()
port.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
port.bind(("", int(os.environ.get("MASTER_PORT", 0))))
port.listen()
if "MASTER_PORT" not in os.environ:
    print(port.getsockname()[1], flush=True)
    sys.stdin.read()
PROGRAM
coproc holder { python3 listen.py; }
read -r port <&"${holder[0]}"
launch port 1 --framework pytorch --master-port "$port" -- python3 listen.py
same "--master-port in use: status" 3 "$status"
has "--master-port in use" port.err "port $port of --master-port cannot be listened on: Address already in use"
has "--master-port in use" port.err "  try: leave out --master-port: launch takes a free port; or: ss -ltnp | grep :$port "
MASTER_PORT=$port launch port 1 -- python3 listen.py
same "MASTER_PORT in use: status" 3 "$status"
has "MASTER_PORT in use" port.err "port $port of MASTER_PORT in the environment cannot be listened on: Address already in use"
has "MASTER_PORT in use" port.err "  try: unset MASTER_PORT: launch takes a free port; or: ss -ltnp | grep :$port "
launch port 1 -x MASTER_PORT="$port" -- python3 listen.py
has "-x MASTER_PORT in use" port.err "  try: leave out -x MASTER_PORT: launch takes a free port; or: "
launch port 1 --framework none -x MASTER_PORT="$port" -- true
same "MASTER_PORT of a program of one's own" 0 "$status"
MASTER_PORT=$port launch port 1 --master-port 29517 -- sh -c 'echo "$MASTER_PORT"'
same "--master-port beside MASTER_PORT" 29517 "$(cat port.out)"
has "--master-port beside MASTER_PORT" port.err "MASTER_PORT=$port of the environment gives way to --master-port 29517"
launch port 1 --master-port 29517 -x MASTER_PORT="$port" -- true
same "--master-port against -x MASTER_PORT" 2 "$status"
launch port 1 --framework pytorch -- python3 listen.py twice
same "a port that the program finds in use: its status" 1 "$status"
has "a port that the program finds in use" port.err "ss -ltnp | grep $(cat port.out)   # on $(hostname)"
has_not "a port that the program finds in use" port.err "was lost"
exec {holder[1]}>&-

# --- groups: servers end with the workers, and each rank has its own words
cat > start.json << DOCUMENT
{"schema": "ddlrun.start/1", "exported": ["PATH"], "grace_ms": 1000,
 "program": {"words": ["sh", "-c", "echo \$RANK/\$WORLD_SIZE \$MASTER_ADDR \$1; exec sleep 0.2", "sh"]},
 "rank_map": {"schema": "ddlrun.ranks/1", "workdir": "$work", "hosts": "h[1-2]", "kind_of_host": [0, 0], "ranks": ["0,2", "1"],
  "kinds": [[{}, {}]], "groups": [
   {"first": 0, "ranks": 2, "name": "worker", "arguments": ["--task={group_rank}"],
    "set": {"RANK": "{rank}", "WORLD_SIZE": "{group_size}", "MASTER_ADDR": "{host}"}},
   {"first": 2, "ranks": 1, "name": "ps", "program": ["sleep", "600"], "serves": true, "set": {}}]}}
DOCUMENT
status=0
timeout 20 "$DDLRUN" ssh-launch start.json > groups.out 2> groups.err < /dev/null || status=$?
same "servers: status" 0 "$status"
same "servers: the workers' words" $'0/2 h1 --task=0\n1/2 h2 --task=1' "$(sort groups.out)"
same "servers: nothing is reported" "" "$(cat groups.err)"
sed "s|\"workdir\": \"$work\"|\"workdir\": \"/no/such/directory\"|" start.json > lost.json
expect_refusal 3 "h1: the working directory is not on this host" "$DDLRUN" ssh-launch lost.json
expect_refusal 3 "the start document is not readable" "$DDLRUN" ssh-launch lines.py
expect_refusal 3 "no-such.json" "$DDLRUN" ssh-launch no-such.json
finish
