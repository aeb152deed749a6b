#!/bin/bash
# SPDX-License-Identifier: MIT
# gen-rankfile as users run it: the published files, sources of topology, refusals, streams.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/rankfiles

# Byte for byte below the first line.
published() {
  local file=$1
  shift
  expect 0 '' "$DDLRUN" gen-rankfile "$@"
  cmp <(tail -n +2 "$golden/$file") <(tail -n +2 "$work/out") || fail "$file differs"
  [ ! -s "$work/err" ] || fail "talk on stderr for $file"
}
published 4x2x3_2x10.rf 4x2x3 sys-89074,sys-89075,sys-89076,sys-89077,sys-89078,sys-89079 --sockets 2 --cores 10
published 4x2x3_2x10.rf 4x2x3 'sys-[89074-89079]' --synthetic 'pack:2 core:10 pu:8'
published 4x2x1_2x10.rf 4x2x1 sys-89074,sys-89075 --sockets 2 --cores 10
published 4x2x1_2x10.rf 4x2 sys-89074,sys-89075 --sockets 2 --cores 10

# Rank by rank, the hand-made ones.
by_hand() {
  local file=$1
  shift
  expect 0 '' "$DDLRUN" gen-rankfile "$@"
  cmp <(sort "$golden/$file") <(grep '^rank' "$work/out" | tr -s ' ' | sort) || fail "$file differs"
}
by_hand 4x2x1_2x8_by_hand.txt 4x2x1 ib1,ib2 --sockets 2 --cores 8
by_hand 4x1x1_2x8_by_hand.txt 4x1x1 minksy --sockets 2 --cores 8

# Two runs write the same bytes; a time only when asked.
"$DDLRUN" gen-rankfile 4x2 a,b --sockets 2 --cores 8 > "$work/one"
"$DDLRUN" gen-rankfile 4x2 a,b --sockets 2 --cores 8 > "$work/two"
cmp "$work/one" "$work/two" || fail "two runs differ"
expect 0 '' "$DDLRUN" gen-rankfile 4x2 a,b --sockets 2 --cores 8 --stamp
head -1 "$work/out" | grep -qE '^#20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8} by ddlrun' || fail "no stamp"

# Hosts in every form.
printf 'a slots=4\nb slots=4\n' > "$work/hosts"
printf 'a\na\nb\nb\n' > "$work/pbs"
for hosts in "@$work/hosts" "@$work/pbs" a,b; do
  "$DDLRUN" gen-rankfile 4x2 "$hosts" --sockets 2 --cores 8 | cmp - "$work/one" || fail "hosts $hosts"
done
"$DDLRUN" gen-rankfile 4x2 --hostfile "$work/hosts" --sockets 2 --cores 8 | cmp - "$work/one" || fail "--hostfile"

# This machine is read when every host is this one; no host means this one.
expect 0 "$(hostname)" "$DDLRUN" gen-rankfile 1 "$(hostname)"
expect 0 "$(hostname)" "$DDLRUN" gen-rankfile 1

# No one answers: rank_gen's 2x10, said on stderr and in the header; an error with --strict.
expect 0 'ASSUMED' "$DDLRUN" gen-rankfile 4x2 no-such-host-a,no-such-host-b
grep -q '^#topology = assumed 2x10, not probed$' "$work/out" || fail "no word of the assumption in the header"
expect_refusal 5 'none of 2 hosts' "$DDLRUN" gen-rankfile 4x2 no-such-host-a,no-such-host-b --strict

# Other forms, explanation on stderr, JSON that is JSON.
expect 0 'because' "$DDLRUN" gen-rankfile 4x2 a,b --sockets 2 --cores 8 --explain
grep -q because "$work/out" && fail "the explanation is in the product"
expect 0 '"ddlrun.plan/1"' "$DDLRUN" gen-rankfile 4x2 a,b --sockets 2 --cores 8 --json
expect 0 'mask_cpu:0xf,0xf0' "$DDLRUN" gen-rankfile 4x2 a,b --sockets 2 --cores 8 --format slurm

# The numbers of hardware threads differ by kind of machine: formats that name them say what they assume. Knights
# Landing, 68 cores of 4 threads: core i is processor i, i + 68, i + 136, i + 204 ("Best Practice Guide", PRACE 2017).
knl=(--sockets 1 --cores 68 --smt 4 --order packed --cores-per-rank 15)
"$DDLRUN" gen-rankfile 4 h1 "${knl[@]}" --format intel > "$work/knl.out" 2> "$work/knl.err"
indexes=$(grep -o "pack:1 core:68 pu:4([^)]*)" "$work/knl.err")
check "a note on the numbers: $(cat "$work/knl.err")" test -n "$indexes"
"$DDLRUN" gen-rankfile 4 h1 --synthetic "$indexes" --order packed --cores-per-rank 15 --format intel > "$work/knl.out" 2> "$work/knl.err"
same "no note where they are given" "" "$(cat "$work/knl.err")"
mask=$(sed -n "s/.*\[0x\([0-9a-f]*\),.*/\1/p" "$work/knl.out" | head -n 1)
same "rank 0: cores 0-14" "$(python3 -c 'print("%x" % sum(1 << (core + 68 * thread) for core in range(15) for thread in range(4)))')" "$mask"
"$DDLRUN" gen-rankfile 4 h1 "${knl[@]}" > "$work/knl.out" 2> "$work/knl.err"
same "no note in a rankfile of cores" "" "$(cat "$work/knl.err")"

# Refusals: what, where, remedy; nothing on stdout.
gen=("$DDLRUN" gen-rankfile)
expect_refusal 2 'no dims' "${gen[@]}"
expect_refusal 2 "nodes per rack (Y) is 'a'" "${gen[@]}" 4xa h1
expect_refusal 2 'needs 2 hosts, none given' "${gen[@]}" 4x2
expect_refusal 3 'needs 2 hosts, 3 given' "${gen[@]}" 4x2 h1,h2,h3
expect_refusal 3 "host 'h1' is listed twice" "${gen[@]}" 4x2 h1,h1
expect_refusal 3 'need 30 cores, there are 20' "${gen[@]}" 30 h1 --sockets 2 --cores 10
expect_refusal 3 'stands for 999999999 hosts' "${gen[@]}" 4 'node[1-999999999]'
expect_refusal 3 'has an underscore' "${gen[@]}" 4 my_host --sockets 2 --cores 10
expect_refusal 2 "'slrum' is not a format" "${gen[@]}" 4 h1 --sockets 2 --cores 10 --format slrum
expect_refusal 2 '--order' "${gen[@]}" 4 h1 --sockets 2 --cores 10 --order pakced
expect_refusal 2 "unknown option '--sokets'" "${gen[@]}" 4 h1 --sokets 2
# Of 'ddlrun submit': what describes the site's node here, and no --smt, which is near by its dashes only.
expect_refusal 2 "unknown option '--site'" "${gen[@]}" 4 h1 --site kisti-nurion
has 'options of a node' "$work/err" 'try: a profile is read for a job only; describe its node: --sockets 1 --cores 68 --smt 4'
expect_refusal 2 "unknown option '--reserved-cores'" "${gen[@]}" 4 h1 --reserved-cores 8
has 'cores that stay free' "$work/err" '--cores-per-rank N leaves cores free'
expect_refusal 2 "unknown option '--zite'" "${gen[@]}" 4 h1 --zite x
has_not 'an option that is not near' "$work/err" '--smt'
expect_refusal 2 "unknown argument 'extra'" "${gen[@]}" 4 h1 extra
expect_refusal 3 'cannot read' "${gen[@]}" 4 @/no/such/file
expect_refusal 3 'cannot bind ranks that alternate' "${gen[@]}" 4x2 a,b --sockets 2 --cores 8 --format mpich
expect_refusal 2 "unknown command 'gen-rakfile'" "$DDLRUN" gen-rakfile
finish
