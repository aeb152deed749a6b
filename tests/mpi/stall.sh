#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that stops is reported with its step and last activity, and reported again when it continues.
. "$(dirname "$0")/ranks.sh"

cat > "$work/rank" << 'RANK'
#!/bin/sh
: > "$1/${OMPI_COMM_WORLD_RANK:-0}.$$"
shift
exec "$@"
RANK
chmod +x "$work/rank"
mkdir "$work/pids"
ranks 3 "$work/rank" "$work/pids" "$train" --data "$subset" --epochs 100000 --quiet --stall-timeout 1 \
  --checkpoint "$work/kept" > "$work/out" 2> "$work/err" < /dev/null &
job=$!
trap 'kill -CONT "$victim" 2> /dev/null; kill "$job" 2> /dev/null; rm -r "$work"' EXIT
for _ in $(seq 200); do
  [ ! -e "$work/kept/latest" ] || break
  sleep 0.1
done
victim=$(find "$work/pids" -name '1.*' -printf '%f\n' | cut -d. -f2)
[ -n "$victim" ] || { fail 'rank 1 did not start'; finish; }

kill -STOP "$victim"
sleep 3.5
grep -q 'warning: rank 1 (.*) has not reached step [0-9]* (.*) for [12] s' "$work/err" ||
  fail "no message names the rank that is stopped: $(head -3 "$work/err")"
grep -q "at:  last seen: .* of step [0-9]*; .*process $victim is stopped" "$work/err" || fail "not what it is at: $(head -3 "$work/err")"
grep -q "try: kill -CONT $victim" "$work/err" || fail 'not how to send it on'
kill -CONT "$victim"
sleep 1
grep -q 'note: rank 1 (.*) has reached step [0-9]* (.*) after [2-9] s' "$work/err" || fail "not that it is back: $(tail -3 "$work/err")"
# Once after 1 s and once after 2 s, by one rank.
[ "$(grep -c 'warning: ' "$work/err")" -le 2 ] || fail "reported too often: $(grep -c 'warning: ' "$work/err")"

kill -USR1 "$(find "$work/pids" -name '0.*' -printf '%f\n' | cut -d. -f2)"
wait "$job"
status=$?
[ "$status" -eq 75 ] || fail "status $status, not 75, after it went on"
finish
