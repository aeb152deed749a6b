#!/bin/bash
# SPDX-License-Identifier: MIT
# trainer_overlap.sh DDL_TRAIN: what overlap and shared updates are worth, on 2 ranks with one thread each: in turn,
# ROUNDS times (default 3), STEPS steps (default 150). Median step, its exposed communication and input, and the memory
# of a rank; and by how much a step is longer than the larger of computing and summing, taken apart.
# NETS: "NET:BATCH ..." (default "lenet5:64 caffe:64 ddl:64 cifar-quick:64 alexnet:8").
# WAYS: "--overlap off --optimizer-placement rank, --overlap auto": these only; the first is what the others are compared with.
# RATE=200mbit: the ranks on two virtual hosts (tests/cluster, root) with a wire that slow, and a core for each as two hosts
# have. The wire's bucket carries 1 ms for nothing after each pause, so that sums taken apart look shorter than back to
# back: what the kernel counted on the wire, at its rate, is a limit too. WIRE: fp32 (default) or bf16.
set -eu
train=$(readlink -f "${1:?usage: trainer_overlap.sh PATH/TO/ddl-train}")
here=$(dirname "$(readlink -f "$0")")
rounds=${ROUNDS:-3}
work=$(mktemp -d /var/tmp/ddlrun-overlap.XXXXXX)
chmod 755 "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
lab() { LAB_DIR=$work/lab "$here/../tests/cluster/lab.sh" "$@"; }
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
  install -m 755 "${train%/*}"/../lib/ddlrun/libddl_mpi_openmpi.so "$home/bin/"
  for host in node1 node2; do lab rate "$host" eth0 "$RATE"; done
  printf 'rank 0=node1 slot=0\nrank 1=node2 slot=1\n' > "$home/rankfile"
  sent() { lab exec node1 -- tc -s qdisc show dev eth0 | sed -n 's/^ Sent \([0-9]*\) bytes.*/\1/p'; }
  run() { # the metrics come back through the shared home
    lab exec node1 -u ddl -- mpirun --host node1,node2 -rf /home/ddl/rankfile --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
      /home/ddl/bin/ddl-train --metrics /home/ddl/steps "$@" && mv "$home/steps" "$work/steps"
  }
else
  sent() { echo 0; }
  run() { mpirun -n 2 --bind-to core "$train" --metrics "$work/steps" "$@"; }
fi

ways=("--overlap off --optimizer-placement rank" "--overlap off --optimizer-placement host" "--overlap on --optimizer-placement rank" "--overlap on --optimizer-placement host"
  "--overlap across --optimizer-placement rank" "--overlap across --optimizer-placement host" "--overlap auto")
[ -z "${WAYS:-}" ] || { mapfile -td, ways <<< "$WAYS,"; unset 'ways[-1]'; ways=("${ways[@]# }"); }
steps=${STEPS:-150}
train() { # NET BATCH STEPS OPTION...
  local net=$1 batch=$2 most=$3
  shift 3
  run --net "$net" --data "$(data_of "$net")" --batch-size "$batch" --total-steps "$most" --threads 1 --quiet \
    --lr 0.0001 --grad-dtype "${WIRE:-fp32}" "$@" > /dev/null 2> "$work/err" || { cat "$work/err" >&2; exit 1; }
}
# What one step puts on the wire: what a start and an end do falls out.
wire_bytes() { # NET BATCH OPTION...
  local net=$1 batch=$2 before between after
  shift 2
  before=$(sent)
  train "$net" "$batch" 1 "$@"
  between=$(sent)
  train "$net" "$batch" 11 "$@"
  after=$(sent)
  echo $(((after - between - (between - before)) / 10))
}
for each in ${NETS:-lenet5:64 caffe:64 ddl:64 cifar-quick:64 alexnet:8}; do
  net=${each%:*} batch=${each#*:}
  bytes=0
  # shellcheck disable=SC2086
  [ -z "${RATE:-}" ] || bytes=$(wire_bytes "$net" "$batch" ${ways[0]})
  for ((round = 0; round < rounds; round++)); do
    for index in "${!ways[@]}"; do
      # shellcheck disable=SC2086
      train "$net" "$batch" "$steps" ${ways[$index]}
      cat "$work/steps" >> "$work/$net.$index"
    done
  done
  python3 - "$net" "$work/$net" "$bytes" "${RATE:-}" "${ways[@]}" << 'PY'
import json, re, statistics, sys
net, path, sent, rate, ways = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5:]
per_ms = {"kbit": 1, "mbit": 1e3, "gbit": 1e6, "": 1}  # bits
number, unit = re.fullmatch(r"(\d*)([kmg]bit|)", rate).groups()
wire = sent * 8 / (int(number or 1) * per_ms[unit])
if wire:
    print(f"{net:12} {sent} bytes a step on the wire: {wire:.2f} ms at {rate}")
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
    limit = limit or max(middle("compute_ms"), middle("sum_ms"), wire)  # one after the other: neither slows the other
    print(f"{net:12} {way:30} step {middle('step_ms'):8.2f} ms (best tenth {least:8.2f})  {base / middle('step_ms'):5.2f}x"
          f"  computing {middle('compute_ms'):8.2f}  waiting {100 * middle('comm_ms') / middle('step_ms'):5.1f} %"
          f"  summing {middle('sum_ms'):8.2f}  over the larger {100 * middle('step_ms') / limit - 100:+4.0f} %  {sums}", flush=True)
PY
done
