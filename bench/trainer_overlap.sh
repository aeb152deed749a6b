#!/bin/bash
# SPDX-License-Identifier: MIT
# trainer_overlap.sh DDL_TRAIN: what overlap and shared updates are worth, on 2 ranks with one thread each: in turn,
# ROUNDS times (default 3), STEPS steps (default 150). Median step, its exposed communication and input, and the memory
# of a rank; and by how much a step is longer than the larger of computing and summing, taken apart.
# NETS: "NET:BATCH ..." (default "lenet5:64 caffe:64 ddl:64 cifar-quick:64 alexnet:8").
# WAYS: "--overlap off --update rank, --overlap auto": these only; the first is what the others are compared with.
# RATE=200mbit: the ranks on two virtual hosts (tests/lab, root) with a wire that slow. WIRE: fp32 (default) or bf16.
set -eu
train=$(readlink -f "${1:?usage: trainer_overlap.sh PATH/TO/ddl-train}")
here=$(dirname "$(readlink -f "$0")")
rounds=${ROUNDS:-3}
work=$(mktemp -d /var/tmp/ddlrun-overlap.XXXXXX)
chmod 755 "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
lab() { LAB_DIR=$work/lab "$here/../tests/lab/lab.sh" "$@"; }
finish() {
  [ -z "${RATE:-}" ] || lab down > /dev/null
  rm -rf --one-file-system "$work"
}
trap finish EXIT

data_of() {
  case $1 in
    alexnet | resnet*) echo synthetic:3x224x224x1000:512 ;;
    cifar-quick) echo synthetic:3x32x32x10:2048 ;;
    *) echo synthetic:1x28x28x10:8192 ;;
  esac
}
if [ -n "${RATE:-}" ]; then
  lab up 2 > /dev/null
  home=$work/lab/home/ddl
  install -D -m 755 "$train" "$home/bin/ddl-train"
  for host in node1 node2; do lab rate "$host" eth0 "$RATE"; done
  run() { # the metrics come back through the shared home
    # both hosts see the same cores: bound, both ranks would get the first one
    lab exec node1 -u ddl -- mpirun --host node1,node2 --bind-to none --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
      /home/ddl/bin/ddl-train --metrics /home/ddl/steps "$@" && mv "$home/steps" "$work/steps"
  }
else
  run() { mpirun -n 2 --bind-to core "$train" --metrics "$work/steps" "$@"; }
fi

ways=("--overlap off --update rank" "--overlap off --update host" "--overlap on --update rank" "--overlap on --update host"
  "--overlap across --update rank" "--overlap across --update host" "--overlap auto")
[ -z "${WAYS:-}" ] || { mapfile -td, ways <<< "$WAYS,"; unset 'ways[-1]'; ways=("${ways[@]# }"); }
for each in ${NETS:-lenet5:64 caffe:64 ddl:64 cifar-quick:64 alexnet:8}; do
  net=${each%:*} batch=${each#*:}
  for ((round = 0; round < rounds; round++)); do
    for index in "${!ways[@]}"; do
      # shellcheck disable=SC2086
      run --net "$net" --data "$(data_of "$net")" --batch-size "$batch" --max-steps "${STEPS:-150}" --threads 1 --quiet \
        --lr 0.0001 --wire "${WIRE:-fp32}" ${ways[$index]} > /dev/null 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
      cat "$work/steps" >> "$work/$net.$index"
    done
  done
  python3 - "$net" "$work/$net" "${ways[@]}" << 'PY'
import json, statistics, sys
net, path, ways = sys.argv[1], sys.argv[2], sys.argv[3:]
base = limit = None
for index, way in enumerate(ways):
    runs, seen = [], []
    for line in open(f"{path}.{index}"):
        record = json.loads(line)
        if record["type"] == "step":
            seen.append(record)
        elif record["type"] == "summary":  # the second half: what is tried first is over
            runs += seen[len(seen) // 2:]
            sums, seen = record.get("sums", ""), []
    middle = lambda key: statistics.median(step[key] for step in runs)
    least = sorted(step["step_ms"] for step in runs)[len(runs) // 10]
    base = base or middle("step_ms")
    limit = limit or max(middle("compute_ms"), middle("sum_ms"))  # one after the other: neither slows the other
    print(f"{net:12} {way:30} step {middle('step_ms'):8.2f} ms (best tenth {least:8.2f})  {base / middle('step_ms'):5.2f}x"
          f"  computing {middle('compute_ms'):8.2f}  waiting {100 * middle('comm_ms') / middle('step_ms'):5.1f} %"
          f"  summing {middle('sum_ms'):8.2f}  over the larger {100 * middle('step_ms') / limit - 100:+4.0f} %  {sums}", flush=True)
PY
done
