#!/bin/bash
# SPDX-License-Identifier: MIT
# check-rankfile as users run it: verdicts, streams, --fix, --json, refusals, size.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden
m24=(--sockets 2 --cores 4 --smt 2)

# What gen-rankfile writes is clean, and so are the published files.
"$DDLRUN" gen-rankfile 4x2x3 'n[1-6]' --sockets 2 --cores 10 >"$work/good.rf" || fail "gen-rankfile"
expect 0 '' "$DDLRUN" check-rankfile "$work/good.rf" --sockets 2 --cores 10 -n 24 --dims 4x2x3 --hosts 'n[1-6]'
[ ! -s "$work/out" ] || fail "findings on a clean file"
grep -q 'ok, 24 rank lines, every core is there' "$work/err" || fail "a clean file is not praised"
expect 0 '' "$DDLRUN" check-rankfile "$work/good.rf" --sockets 2 --cores 10 --mpi 5
for file in "$golden"/rankfiles/*.rf; do
  expect 0 '' "$DDLRUN" check-rankfile "$file" --sockets 2 --cores 10
done

# The last line says what was not checked: doctor asks the hosts.
unchecked="$work/good.rf: the form is right, 24 rank lines; hosts and cores were not checked: --topology node.xml, or ddlrun doctor --rankfile $work/good.rf"
expect 0 "$unchecked" "$DDLRUN" check-rankfile "$work/good.rf"
[ "$(tail -n 1 "$work/err")" = "ddlrun: $unchecked" ] || fail "last line: $(tail -n 1 "$work/err")"
expect 0 'form is right, 24 rank lines; cores were not checked' "$DDLRUN" check-rankfile "$work/good.rf" --hosts 'n[1-6]'
expect 0 'every core is there; hosts were not checked: --hosts LIST' "$DDLRUN" check-rankfile "$work/good.rf" --sockets 2 --cores 10
expect 0 'hosts and cores were not checked' "$DDLRUN" check-rankfile "$work/good.rf" --json

# A file that is no rankfile: 20 findings and a count.
expect 1 'this is no rankfile: no line of it is a rank line; ' "$DDLRUN" check-rankfile /bin/ls
[ "$(grep -c '^/bin/ls:.*\]$' "$work/out")" -eq 20 ] || fail "$(wc -l <"$work/out") lines about /bin/ls"
[ ! -s "$work/err" ] || fail "hosts of a file without rank lines: $(cat "$work/err")"

# One golden: every line of the report.
expect 1 '' "$DDLRUN" check-rankfile "$golden/check-rankfile/many.rf" "${m24[@]}" -n 12 --hosts a,b
sed "s#$golden/##" "$work/out" | diff "$golden/check-rankfile/many.txt" - || fail "the report differs from many.txt"
[ ! -s "$work/err" ] || fail "talk on stderr"

# A machine from an hwloc XML or a synthetic text; the file from stdin.
expect 1 'core-not-there' "$DDLRUN" check-rankfile "$work/good.rf" --synthetic 'pack:2 core:8 pu:1'
expect 1 'core-not-there' "$DDLRUN" check-rankfile "$work/good.rf" --topology "$DDLRUN_SOURCE_DIR/tests/differential/uneven.xml"
status=0
printf 'rank 0=a slot=1:0,1\n' | "$DDLRUN" check-rankfile - "${m24[@]}" >"$work/out" 2>"$work/err" || status=$?
[ "$status" -eq 1 ] || fail "status $status from stdin"
grep -q '^-:1:19: error: .*comma-in-package-list' "$work/out" || fail "stdin: $(cat "$work/out")"

# --fix: stdout is the file and nothing else, the talk is on stderr, twice is once.
sed 's/ \{3\}slot=/\xC2\xA0\xC2\xA0 slot=/; s/$/\r/' "$work/good.rf" >"$work/pasted.rf"
expect 0 'odd-blank' "$DDLRUN" check-rankfile "$work/pasted.rf" --sockets 2 --cores 10 --fix
cmp "$work/out" "$work/good.rf" || fail "--fix does not give back the original"
cp "$work/out" "$work/once.rf"
expect 0 '' "$DDLRUN" check-rankfile "$work/once.rf" --sockets 2 --cores 10 --fix
cmp "$work/out" "$work/once.rf" || fail "--fix is not idempotent"
printf 'rank 0=a slot=*\n' >"$work/star.rf"
expect 1 'was not fixed' "$DDLRUN" check-rankfile "$work/star.rf" "${m24[@]}" --fix
[ ! -s "$work/out" ] || fail "a file that was not fixed is printed"

# --json
expect 1 '"schema": "ddlrun.check-rankfile/1"' "$DDLRUN" check-rankfile "$work/star.rf" "${m24[@]}" --json
grep -q '"id": "star-alone"' "$work/out" || fail "no star-alone in the JSON"
"$DDLRUN" check-rankfile "$work/good.rf" --sockets 2 --cores 10 --json | grep -q '"findings": \[\]' || fail "no empty list"

# What gen-rankfile assumed is not trusted; usage; unreadable files.
printf '#topology = assumed 2x10, not probed\nrank 0=a slot=0:0\n' >"$work/assumed.rf"
expect 1 'assumed-topology' "$DDLRUN" check-rankfile "$work/assumed.rf" "${m24[@]}"
expect_refusal 2 'no rankfile given' "$DDLRUN" check-rankfile
expect_refusal 2 '-n must be a number' "$DDLRUN" check-rankfile "$work/good.rf" -n 0
expect_refusal 2 '--mpi must be 4 or 5' "$DDLRUN" check-rankfile "$work/good.rf" --mpi 3
expect_refusal 3 'No such file' "$DDLRUN" check-rankfile "$work/none.rf"
expect_refusal 3 'is larger than' "$DDLRUN" check-rankfile /dev/zero

# A million ranks; the header's host line alone is a megabyte long.
"$DDLRUN" gen-rankfile 8x1024x128 'n[000001-131072]' --sockets 2 --cores 64 >"$work/big.rf" || fail "big gen-rankfile"
begin=$SECONDS
expect 0 'many-ranks' "$DDLRUN" check-rankfile "$work/big.rf" --sockets 2 --cores 64 -n 1048576 --dims 8x1024x128
[ $((SECONDS - begin)) -le 20 ] || fail "a million ranks took $((SECONDS - begin)) s"
finish
