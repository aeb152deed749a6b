#!/bin/bash
# SPDX-License-Identifier: MIT
# predict_error.sh B: forecasts of `ddlrun bench predict` beside measured steps, on virtual hosts (tests/cluster, root) with one
# rank each: for each rate and number of hosts the forecast, the measured step and the error. B is a build with ddlrun,
# ddl-train and ddl-bench. ROWS: a file that also gets each measurement. RATES (100mbit 1gbit 10gbit), HOSTS (1 2 4 8), NET:BATCH (caffe:64), STEPS (120), ROUNDS (3).
# The hosts share the cores of this machine. So a step is profiled with as many ranks on one host, and the sums of the network
# are measured with all its hosts at work (forecast "measured network"); "given network" has the rate and LATENCY (50us) only.
# With more hosts than cores the communication threads rarely run while ranks compute, so overlap gains less than forecast.
# Rounds measure everything in turn; the median of the rounds counts. Both --overlap off and auto are forecast.
set -eu
build=$(readlink -f "${1:?usage: predict_error.sh build/release}")
here=$(dirname "$(readlink -f "$0")")
net=${NET:-caffe:64} rounds=${ROUNDS:-3} steps=${STEPS:-120} hosts=${HOSTS:-1 2 4 8} rates=${RATES:-100mbit 1gbit 10gbit}
work=$(mktemp -d /var/tmp/ddlrun-predict.XXXXXX)
chmod 755 "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
lab() { LAB_DIR=$work/lab "$here/../tests/cluster/lab.sh" "$@"; }
finish() {
  lab down > /dev/null
  rm -rf --one-file-system "$work"
}
trap finish EXIT
most=$(tr ' ' '\n' <<< "$hosts" | sort -n | tail -1)
lab up "$most" > /dev/null
home=$work/lab/home/ddl
install -D -m 755 "$build/runtime/ddl-train" "$home/bin/ddl-train"
install -D -m 755 "$build/bench/ddl_bench/ddl-bench" "$home/bin/ddl-bench"
install -m 755 "$build"/lib/ddlrun/libddl_{mpi,bench}_openmpi.so "$home/bin/"

names() { # COUNT: node1,node2 ...
  local i list=
  for ((i = 1; i <= $1; i++)); do list+=${list:+,}node$i; done
  echo "$list"
}
ranks() { # WHERE COUNT PROGRAM...: hosts: one rank on each; host: all on node1
  local list
  list=$([ "$1" = hosts ] && names "$2" || echo "node1:$2")
  lab exec node1 -u ddl -- mpirun -n "$2" --host "$list" --map-by node --bind-to none --oversubscribe --mca mpi_yield_when_idle 1 \
    --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 "${@:3}" > "$work/out" 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
}
train() { # WHERE COUNT OUTPUT OPTION...
  rm -f "$home/steps" "$home/line"
  ranks "$1" "$2" /home/ddl/bin/ddl-train --net "${net%:*}" --batch-size "${net#*:}" --data "${DATA:-synthetic:1x28x28x10:8192}" \
    --total-steps "$steps" --threads 1 --quiet --lr 0.0001 --metrics /home/ddl/steps "${@:4}"
  mv "$home/steps" "$3"
}
# The layers' record of one rank has the schedules that several ranks try; --overlap off has none of them.
profile() { # COUNT ROUND
  local at=$work/$1.$2
  train host "$1" "$at.metrics" --overlap off --timeline /home/ddl/line
  mv "$home/line" "$at.timeline"
  for way in off auto; do
    grep '"type":"layers"' "$work/layers.$way" > "$work/record"
    sed -e "/\"type\":\"layers\"/{r $work/record" -e 'd}' "$at.metrics" > "$at.$way"
  done
}
forecast() { # COUNT ROUND WAY NETWORK: the step in ms
  "$build/bin/ddlrun" bench predict --from "$work/$1.$2.$3" --timeline "$work/$1.$2.timeline" --ranks-per-host 1 --hosts "$1" \
    --network "$4" --json - > "$work/forecast"
  python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["rows"][0]["step_ms"])' "$work/forecast"
}
median_step() { # of the second half: what is tried first is over
  python3 -c 'import json, statistics, sys
steps = [r["step_ms"] for r in map(json.loads, open(sys.argv[1])) if r["type"] == "step"]
print(statistics.median(steps[len(steps) // 2:]))' "$1"
}

for way in off auto; do train host 1 "$work/layers.$way" --overlap "$way"; done
for ((round = 0; round < rounds; round++)); do
  for count in $hosts; do
    profile "$count" "$round"
    for rate in $rates; do
      for ((i = 1; i <= most; i++)); do lab rate "node$i" eth0 "$rate"; done
      sums=
      if [ "$count" -gt 1 ]; then
        ranks hosts "$count" /home/ddl/bin/ddl-bench allreduce --sizes 4k,16k,64k,256k,1M,4M --backends ddl --seconds "${SECONDS_EACH:-0.5}" --json -
        sums=$work/sums.json
        mv "$work/out" "$sums"
      fi
      given=$(sed 's/\([kmg]\)bit/\u\1bit\/s/' <<< "$rate"),${LATENCY:-50us}
      for way in off auto; do
        train hosts "$count" "$work/steps" --overlap "$way"
        echo "$rate $count $way $(forecast "$count" "$round" "$way" "${sums:-$given}") $(forecast "$count" "$round" "$way" "$given")" \
          "$(median_step "$work/steps") $(grep -o '"sums":"[^"]*"' "$work/steps" | tail -1 | tr ' ' '_')" | tee -a "${ROWS:-/dev/null}" >> "$work/rows"
      done
    done
  done
done
python3 - "$work/rows" "$(nproc)" << 'PY'
import collections, statistics, sys
cores = int(sys.argv[2])
rows = collections.defaultdict(list)
for line in open(sys.argv[1]):
    rate, hosts, way, *times = line.split()
    rows[rate, int(hosts), way].append([float(each) for each in times[:3]])
print(f"{'rate':>8} {'hosts':>5} overlap  {'measured ms (least to most)':>30}  {'measured network':>17} {'error':>7}  {'given network':>14} {'error':>7}")
errors = collections.defaultdict(list)
for (rate, hosts, way), runs in sorted(rows.items(), key=lambda row: (row[0][2] != "off", row[0][0].endswith("gbit"), len(row[0][0]), row[0])):
    fitted, given, measured = (statistics.median(column) for column in zip(*runs))
    steps = [run[2] for run in runs]
    off = [100 * (forecast / measured - 1) for forecast in (fitted, given)]
    print(f"{rate:>8} {hosts:>5} {way:7} {measured:9.2f} ({min(steps):8.2f} to {max(steps):8.2f})  {fitted:17.2f} {off[0]:+6.1f}%  {given:14.2f} {off[1]:+6.1f}%")
    if hosts > 1:
        for kind, error in zip(("measured network", "given network"), off):
            errors[way, kind, "a core for each host" if hosts <= cores else "hosts that share cores"].append(abs(error))
for (way, kind, where), sizes in sorted(errors.items()):
    print(f"overlap {way}, {kind}, {where}: error {statistics.median(sizes):.1f} % (median), {max(sizes):.1f} % (most); {sum(size <= 10 for size in sizes)} of {len(sizes)} within 10 %")
PY
