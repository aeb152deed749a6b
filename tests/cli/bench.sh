#!/bin/bash
# SPDX-License-Identifier: MIT
# ddlrun bench: sums, scaling and forecasts as a user runs them; what is written parses; what cannot be is refused before any run.
# shellcheck source=tests/support/launch_checks.sh
. "$(dirname "$(readlink -f "$0")")/../support/launch_checks.sh"
bench() { "$DDLRUN" bench "$@"; }

expect 0 '/ddl-bench allreduce --sizes 4k' bench allreduce 1 --dry-run -- --sizes 4k
expect 0 "launch 1x1 --sockets=1 --cores=1 -x A --mca btl self,vader --cores-per-rank 1 -- --net lenet5 --max-steps 3 --json --quiet" \
  bench scaling --ranks 1 --sockets 1 --cores 1 --dry-run -x A --mca btl self,vader -- --net lenet5 --max-steps 3 --json --quiet
expect_refusal 2 'the measurement is missing' bench
expect_refusal 2 'ddlrun bench scaling' bench scalin
expect_refusal 2 'are for scaling' bench allreduce 2 --svg x.svg
expect_refusal 2 'is no option of ddl-bench' bench allreduce 2 -- prog
expect_refusal 2 'would be written by the run of 2 ranks' bench allreduce --sockets 1 --cores 4 --json x.json
expect_refusal 2 "'0' is no number of ranks" bench scaling --ranks 0
expect_refusal 2 "'prog' is no option of ddl-train" bench scaling -- prog
expect_refusal 2 'has the same batch a rank' bench scaling -- --global-batch 64
expect_refusal 2 'HOSTS only' bench scaling 2 h1,h2
expect_refusal 2 'both write to stdout: use one' bench scaling --json - --svg -
expect_refusal 2 'the numbers of ranks are --ranks' bench scaling 2
expect_refusal 3 'the JSON document cannot be written: No such file' bench allreduce 2 --json /nonexist/x.json -- --sizes 4 --seconds 0.01
grep -q 'a bug in' "$work/err" && fail "a wrong file is reported as a bug: $(cat "$work/err")"
expect_refusal 3 'need as many cores, there are 2' bench scaling --ranks 1,4 --sockets 1 --cores 2
expect_refusal 3 '6 ranks do not fill hosts of 4' bench scaling --ranks 1,6 --per-host 4 --sockets 1 --cores 8

net=10Gbit/s,20us
expect_refusal 2 'the numbers of hosts are missing' bench predict --network $net
expect_refusal 2 'the network is missing' bench predict --hosts 1-4
expect_refusal 2 'the network is given twice' bench predict --hosts 1-4 --network $net --network-hosts h1,h2
expect_refusal 2 "'10Gbit' is no bandwidth" bench predict --hosts 1-4 --network 10Gbit,20us
expect_refusal 2 "'20' is no latency" bench predict --hosts 1-4 --network 10Gbit/s,20
expect_refusal 2 'is no list of numbers of hosts' bench predict --hosts h1,h2 --network $net
expect_refusal 2 'also needs the parameters' bench predict --hosts 1-4 --network $net --step-ms 30
expect_refusal 2 'is no positive number of milliseconds' bench predict --hosts 1-4 --network $net --step-ms 0 --parameters 9 --images 9
expect_refusal 2 'the step is given twice' bench predict --hosts 1-4 --network $net --step-ms 30 --from p.json
expect_refusal 2 'belongs to the metrics' bench predict --hosts 1-4 --network $net --timeline t.json
expect_refusal 2 'no names of hosts' bench predict h1,h2 --hosts 1-4 --network $net
expect_refusal 2 'are for predict' bench scaling --network $net
expect_refusal 2 'are for scaling' bench predict --hosts 1-4 --network $net --ranks 1,2
expect_refusal 2 '--metrics cannot go with predict' bench predict --hosts 1-4 --network $net -- --metrics m
expect_refusal 3 'need as many cores' bench predict --hosts 1-4 --ranks-per-host 9999 --network $net
expect_refusal 3 'No such file' bench predict --hosts 1-4 --network $net --from /nonexist.json
expect_refusal 3 'no document of bench allreduce' bench predict --hosts 1-4 --network "$DDLRUN_SOURCE_DIR/CMakePresets.json" --step-ms 30 --parameters 9 --images 9
expect_refusal 3 'do not fill racks' bench predict --hosts 6 --hosts-per-rack 4 --network $net --step-ms 30 --parameters 9 --images 9
expect 0 'launch 1x1 --cores-per-rank' bench predict --hosts 1-4 --network $net --dry-run -- --net lenet5
grep -q -- '--hosts' "$work/out" && fail "numbers of hosts were given to launch: $(cat "$work/out")"
# 30 ms of computing, 4 MB in 16 equal buckets, the last of which waits: 1 MB in 4 directions of 4 GB/s.
expect 0 '2 hosts give 2 times the images/s of 1 host' bench predict --hosts 1,2 --network 4GB/s,0us,0us --step-ms 30 \
  --parameters 1000000 --images 64

[ -x "$DDLRUN_BUILD_DIR/bench/ddl_bench/ddl-bench" ] || { echo "skipped: no ddl-bench in this build (DDLRUN_RUNTIME=OFF)"; exit 125; }
# ddl-bench's own options are judged before any rank starts.
expect_refusal 2 "--sizes" bench allreduce 2 -- --sizes abc
grep -q 'mpirun' "$work/err" && fail "ranks were started for options that are wrong: $(cat "$work/err")"
expect 0 'usage: ' bench allreduce 1 -- --help
cores=$(nproc)
[ "$cores" -ge 2 ] || { echo "skipped: one core, two ranks"; exit 125; }
expect 0 'all elements right' bench allreduce 2 -- --sizes 4,64k --seconds 0.01
grep -qE '^# libddl sums 64 KiB in [0-9.]+ us' "$work/out" || fail "no last line in words: $(tail -2 "$work/out")"
grep -qE '^# +\(B\) .*\(us\) .*\(GB/s\)' "$work/out" || fail "no units: $(grep '^#' "$work/out")"
grep -q 'ddl-bench: 2 sizes by' "$work/err" || fail "no progress at the start: $(cat "$work/err")"
# Other programs beside the measurement.
timeout 20 sh -c 'while :; do :; done' &
busy=$!
expect 0 'warning: other programs use' bench allreduce 2 -- --sizes 4 --seconds 0.01
kill $busy
wait $busy 2> /dev/null
expect 0 '"schema":"ddl-bench.allreduce/1"' bench allreduce 2 --json - -- --sizes 4 --seconds 0.01
python3 -m json.tool "$work/out" > "$work/tool" || fail "stdout is not only the document: $(head -2 "$work/out")"

# Beside every MPI of this machine, each in a run of its own.
expect_refusal 2 'is for allreduce' bench scaling --against all
expect_refusal 2 'chooses mpirun and launcher itself' bench allreduce 2 --against all --launcher mpich
expect_refusal 2 "'/usr/bin/true' is no mpirun" bench allreduce 2 --against /usr/bin/true
peers=()
for peer in mpirun.openmpi mpirun.mpich; do
  place=$(command -v "$peer") || continue
  [ ! -e "$DDLRUN_BUILD_DIR/lib/ddlrun/libddl_bench_${peer#mpirun.}.so" ] || peers+=("$place")
done
if [ "${#peers[@]}" -eq 2 ]; then
  expect 0 '# all elements right' bench allreduce 2 --against "${peers[0]},${peers[1]}" --json against.json -- \
    --sizes 4,64k --seconds 0.01
  grep -q 'not measured' "$work/out" && fail "an MPI was not measured: $(cat "$work/out")"
  [ "$(grep -c '^ ' "$work/out")" -eq 2 ] || fail "not two rows: $(cat "$work/out")"
  python3 - against.json << 'PY' || fail "the document of both runs is not what is promised"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "ddlrun.bench.against/1" and len(d["runs"]) == 2, d
assert ["Open MPI" in d["runs"][0]["mpi"], "MPICH" in d["runs"][1]["mpi"]] == [True, True], d
assert all(w["wrong"] == 0 for r in d["runs"] for s in r["sizes"] for w in s["backends"]), d
PY
  expect 0 "mpirun.mpich --json - -- --sizes 4" bench allreduce 2 --against all --dry-run -- --sizes 4
else
  echo "not tried: --against, which needs Open MPI and MPICH with ddl-bench's plug-ins (${peers[*]})"
fi

subset=$DDLRUN_SOURCE_DIR/tests/data/fashion-mnist-subset
expect 0 'Are 2 ranks 2 times faster than 1?' bench scaling --ranks 1,2 --json s.json --svg s.svg -- --data "$subset" --max-steps 20 \
  --epochs 20
grep -q 'ddlrun: 1 of 2: 2 ranks on 1 host' "$work/err" || fail "no progress: $(cat "$work/err")"
[ "$(grep -c '^ ' "$work/out")" -eq 2 ] || fail "not two rows: $(cat "$work/out")"
python3 - s.json s.svg <<'PY' || fail "JSON or SVG is not what is promised"
import json, sys, xml.dom.minidom
d = json.load(open(sys.argv[1]))
assert d["schema"] == "ddlrun.bench.scaling/1" and [r["ranks"] for r in d["runs"]] == [1, 2], d
for r in d["runs"]:
    assert r["steps"] == 20 and r["global_batch"] == 64 * r["ranks"], r
    assert abs(r["compute_ms"] + r["exposed_ms"] + (r["input_ms"] or 0) + (r["other_ms"] or 0) - r["step_ms"]) < 0.01 * r["step_ms"], r
    assert abs(r["step_ms"] * r["images_s"] / r["global_batch"] / 1e3 - 1) < 0.01, r
    assert abs(r["speedup"] / r["ranks"] / r["efficiency"] - 1) < 0.01, r
svg = xml.dom.minidom.parse(sys.argv[2]).documentElement
assert svg.tagName == "svg" and len(svg.getAttribute("viewBox").split()) == 4
bars = svg.getElementsByTagName("rect")
assert sum("compute: " in b.toxml() for b in bars) == 2, "one compute part a run"
PY
# A forecast from the document of scaling, from a measurement of its own, and again from what that wrote.
expect 0 '16 hosts give' bench predict --hosts 1-16 --network $net --from s.json
expect 0 '8 hosts give' bench predict --hosts 1-8 --ranks-per-host 2 --network 1Gbit/s,50us --json p.json --svg p.svg -- --data "$subset" \
  --max-steps 30 --epochs 30
cp "$work/out" "$work/first"
ls -d "${TMPDIR:-/tmp}"/ddlrun-predict-* 2> /dev/null && fail "files of the measurement are left"
expect 0 '8 hosts give' bench predict --hosts 1-8 --ranks-per-host 2 --network 1Gbit/s,50us --from p.json
diff "$work/first" "$work/out" || fail "the same measurement gives another forecast"
expect 0 '"schema":"ddlrun.predict/1"' bench predict --hosts 1-8 --network 1Gbit/s,50us --from p.json --json -
python3 - p.json p.svg <<'PY' || fail "the JSON or SVG of a forecast is not what is promised"
import json, sys, xml.dom.minidom
d = json.load(open(sys.argv[1]))
assert [(r["hosts"], r["ranks"]) for r in d["rows"]] == [(1, 2), (2, 4), (4, 8), (8, 16)], d["rows"]
for r in d["rows"]:
    assert r["range_ms"][0] <= r["step_ms"] <= r["range_ms"][1], r
    assert abs(r["images_s"] * r["step_ms"] / 1e3 / r["ranks"] / d["profile"]["batch_a_rank"] - 1) < 0.01, r
assert d["profile"]["layers_measured"] and d["profile"]["parameters"] == 61706, d["profile"]
# LeNet-5 has 246,824 bytes of gradients; each of 2 hosts sends as many as one has, at 1448/1538 of 1 Gbit/s: 2.1 ms.
assert abs(d["rows"][1]["wire_ms"] / 2.1 - 1) < 0.05, d["rows"][1]
assert len(xml.dom.minidom.parse(sys.argv[2]).documentElement.getElementsByTagName("circle")) == 4
PY
expect 3 'ended with status' bench scaling --ranks 1 -- --data /nowhere
grep -q '/nowhere' "$work/err" || fail "the reason of the failed run is not reported: $(cat "$work/err")"
# The measurement is printed even if its file cannot be written.
expect 3 'images/s' bench scaling --ranks 1 --svg /dev/full -- --data "$subset" --max-steps 5
grep -q 'cannot write /dev/full: No space left' "$work/err" || fail "no word about the full disk: $(cat "$work/err")"
finish
