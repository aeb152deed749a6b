#!/bin/bash
# SPDX-License-Identifier: MIT
# ddl-bench allreduce under real mpirun: every way's sums are right, table and JSON say the same, mistakes are refused
# once.
# shellcheck source=tests/mpi/ranks.sh
. "$(dirname "$(readlink -f "$0")")/ranks.sh"
bench=$DDLRUN_BUILD_DIR/bench/ddl_bench/ddl-bench

few=(--sizes '4,1028,64k' --seconds 0.01)
expect 0 'all elements right' ranks 2 "$bench" allreduce "${few[@]}" --one-copy --check --json "$work/two.json"
grep -qE '^ +65536 +16384 +float32  ddl  ' "$work/out" || fail "no row of ddl: $(cat "$work/out")"
python3 - "$work/two.json" "$work/out" <<'PY' || fail "the JSON and the table differ"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "ddl-bench.allreduce/1" and d["ranks"] == 2 and d["hosts"] == 1, d
assert [s["bytes"] for s in d["sizes"]] == [4, 1028, 65536]
rows = [line.split() for line in open(sys.argv[2]) if not line.startswith("#")]
reported = [(s["bytes"], s["count"], w["backend"]) for s in d["sizes"] for w in s["backends"]]
assert reported == [(int(r[0]), int(r[1]), r[3]) for r in rows], (reported, rows)
for size in d["sizes"]:
    ways = {w["backend"]: w for w in size["backends"]}
    assert {"ddl", "ddl-private", "ddl-update", "ddl-each", "mpi"} <= set(ways), ways
    for way in ways.values():
        assert way["wrong"] == 0 and 0 < way["us_min"] <= way["us_median"] and way["turns"] >= 5, way
        assert abs(way["algbw_GBps"] * way["us_min"] * 1e3 / size["bytes"] - 1) < 0.01, way
        assert abs(way["busbw_GBps"] / way["algbw_GBps"] - 1) < 0.01, way  # 2(n-1)/n is 1
    assert (ways["ddl"]["limit_us"] is None) == (size["bytes"] < 1024), size
PY
for type in float64 float16 bfloat16 int32 int64 uint8; do
  expect 0 'all elements right' ranks 3 "$bench" allreduce --sizes 8,4k --seconds 0.01 --type "$type" --check
done
expect 0 '"ranks":1,' "$bench" allreduce --sizes 4k --seconds 0.01 --json -
# Without its plug-in, a process that no launcher started is a single rank; ranks of mpirun refuse.
mkdir "$work/alone"
cp "$bench" "$work/alone"
expect 0 'no MPI_Allreduce: ranks of this launcher need libddl' "$work/alone/ddl-bench" allreduce --sizes 4k --seconds 0.01
expect 3 '.so, which is not installed' ranks 2 "$work/alone/ddl-bench" allreduce --sizes 4k --seconds 0.01
expect 0 'no ddl-ring: on one host it is ddl' ranks 2 "$bench" allreduce --sizes 4 --seconds 0.01 --backends ddl,ddl-ring
[ -e /dev/nvidiactl ] || expect 3 'no nccl: ' ranks 2 "$bench" allreduce --sizes 4 --seconds 0.01 --backends nccl
expect 0 'by HAN, out of place only' env OMPI_MCA_coll_han_priority=100 "${launcher[@]}" -n 2 "$bench" allreduce --sizes 4k \
  --seconds 0.01 --backends mpi --check

expect_refusal 2 'did you mean --sizes?' "$bench" allreduce --size 4
expect_refusal 2 '5 bytes are no whole number of elements of 4' ranks 2 "$bench" allreduce --sizes 5
[ "$(grep -c 'error: ' "$work/err")" -eq 1 ] || fail "reported $(grep -c 'error: ' "$work/err") times"
expect_refusal 2 "unknown benchmark 'alreduce'" "$bench" alreduce
expect_refusal 3 'no backend is left to measure' "$bench" allreduce --backends ddl-bf16
expect 3 'the JSON document cannot be written' "$bench" allreduce --sizes 4 --json "$work/none/x.json"
expect 0 'usage: mpirun' "$bench" allreduce --help
finish
