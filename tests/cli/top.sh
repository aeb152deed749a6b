#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun top`: a rank that spins, one that sleeps and one that is stopped, as lines and on terminals; hostile output;
# the end of the run; runs without a state.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"

# shellcheck disable=SC2016
program='r=$OMPI_COMM_WORLD_RANK; printf "step 1\nrank $r \033]0;evil\007 \033[2J\n"
  if [ $r = 1 ]; then until [ -e '$work'/end ]; do :; done; else until [ -e '$work'/end ]; do sleep 1; done; fi
  [ $r != 2 ] || exit 7'
"$DDLRUN" launch --oversubscribe --tee 3 -- sh -c "$program" > run.out 2> run.err < /dev/null &
launched=$!
# picture PATTERN: prints pictures until one has such a line; a busy machine may give the spinning rank less for a while
picture() {
  for _ in $(seq 240); do
    "$DDLRUN" top --once last > picture 2> picture.err && grep -qE -- "$1" picture && return 0
    sleep 0.25
  done
  fail "no line fits '$1': $(cat picture picture.err)"
}
picture '^ +0 .* waiting .* 0:0[3-9] '
picture '^ +1 +[^ ]+ +[0-9-]+ +running +([5-9]|[1-9][0-9]+) '
has "the head" picture ': running, '
has "the launcher" picture '   openmpi'
has "the states" picture 'ranks: 3 on 1 host: 2 waiting, 1 running'
has "the slowest" picture "slowest: rank 1 on $(hostname) works while 2 of 3 ranks wait"
has "the last line of output" picture 'rank 2 \x1b]0;evil\x07 \x1b[2J'
if LC_ALL=C grep -q '[[:cntrl:]]' picture; then fail "control characters: $(cat -v picture)"; fi
run "$DDLRUN" top --sort cpu
same "--sort cpu" 1 "$(awk '/^ +[0-9]+ /{print $1; exit}' out)"
same "all ranks without --once, as stdout is no terminal" 3 "$(grep -cE '^ +[0-9]+ ' out)"

# A stopped rank comes first of all where not all fit.
pid=$(grep -lzxe 'OMPI_COMM_WORLD_RANK=0' /proc/[0-9]*/environ 2> /dev/null | while read -r file; do
  process=${file%/environ}
  [[ $({ tr '\0' ' ' < "$process/cmdline"; } 2> /dev/null) == 'sh -c r='* ]] && echo "${process#/proc/}"
done | head -1)
kill -STOP "$pid"
picture '^ +0 .* stopped '
has "the stopped one" picture "slowest: rank 0 on $(hostname) is stopped"
run "$DDLRUN" top --sort telling
same "--sort telling" 0 "$(awk '/^ +[0-9]+ /{print $1; exit}' out)"
kill -CONT "$pid"
picture '^ +0 .* waiting '

python3 "$DDLRUN_SOURCE_DIR/tests/cli/top_screen.py" "$DDLRUN" last 3 || fail "top on a terminal"

# Lines again and again, until the end, whose status stays.
"$DDLRUN" top --interval 1 last > lines &
lines=$!
sleep 2.5
touch end
wait "$launched"
same "the status of launch" 7 $?
wait "$lines"
same "the status of top" 0 $?
[[ $(grep -c '^run ' lines) -ge 3 ]] || fail "--interval: $(cat lines)"
grep -qE '^ +2 .* status 7 ' lines || fail "the last picture of --interval: $(tail -8 lines)"
run "$DDLRUN" top
same "the end" 0 "$status"
has "the end" out ': status 7, '
grep -qE '^ +2 .* status 7 ' out || fail "rank 2 at the end: $(cat out)"
grep -qE '^ +1 .* ok ' out || fail "rank 1 at the end: $(cat out)"
has_not "the end has no slowest rank" out slowest
check "a report has the use of cores" "$DDLRUN" report last -o page.html
has "the report" page.html '<h2>Use of cores and memory</h2>'

# What has no state, and wrong words.
launch bare --no-monitor 1 -- true
expect_refusal 3 'launch keeps no state of the ranks of this run' "$DDLRUN" top
expect_refusal 3 'no run has an ID that begins with this' "$DDLRUN" top 2999
expect_refusal 2 "'speed' is not one of" "$DDLRUN" top --sort speed
expect_refusal 2 "--interval must be a number of seconds" "$DDLRUN" top --interval 0
expect_refusal 2 'conflict' "$DDLRUN" top --once --interval 3
# A disk without room costs the job nothing.
mkdir full
mkdir full/usage.json.new
launch full --run-dir full 1 -- true
same "no room: status" 0 "$status"
has "no room" full.err 'the state of the ranks is not kept for ddlrun top'
same "no room: once" 1 "$(grep -c 'is not kept' full.err)"
printf '{"schema": "ddlrun.usage/1"' > "$(directory_of run)/usage.json"
expect_refusal 3 'the state of the ranks is damaged' "$DDLRUN" top "$(directory_of run)"
finish
