#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that read environment and arguments as the frameworks' sources do, started by `ddlrun launch`, over an
# mpirun that runs the ranks of any hosts here. Each fails on what its framework would fail on.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 125; }
fakes=$DDLRUN_SOURCE_DIR/tests/support/fake_frameworks
cd "$work" || exit 1
export XDG_STATE_HOME=$work/state

# launch_fake STATUS TEXT ARGUMENTS...: a clean environment and the stand-in's mpirun
launch_fake() {
  local status=$1 text=$2
  shift 2
  expect "$status" "$text" env -i PATH="$fakes:/usr/bin:/bin" HOME="$work" XDG_STATE_HOME="$work/state" ${extra:+"$extra"} \
    "$DDLRUN" launch --allow-run-as-root "$@"
}
extra=
minsky=(--sockets 2 --cores 10 --smt 8)

# Caffe DDL: the right mode runs, every wrong one is refused before anything is started.
for mode in b:4x2x1 r:4x2x1x1 n:4x2x1; do
  launch_fake 0 '[MPI:7] spreading GPUs per MPI rank: gpu[3] on h2' 4x2x1 h1,h2 "${minsky[@]}" -- \
    "$fakes/caffe_ddl.py" train --solver=s -gpu 0 -lms 800000 -bvlc -ddl "-mode $mode -dev_sync 1"
done
launch_fake 0 'gpu[3] on h6' 4x2x3 h1,h2,h3,h4,h5,h6 "${minsky[@]}" -- "$fakes/caffe_ddl.py" train --solver=s -gpu 0 -ddl "-mode p:4x2x3"
launch_fake 3 'try: -ddl "-mode b:4x2x1 -dev_sync 1"' 4x2x1 h1,h2 "${minsky[@]}" -- \
  "$fakes/caffe_ddl.py" train --solver=s -gpu 0 -ddl "-mode b:4x1x1 -dev_sync 1"
launch_fake 2 '-gpu all: each of the 4 ranks' 4x2x1 h1,h2 "${minsky[@]}" -- "$fakes/caffe_ddl.py" train --solver=s -gpu all -ddl "-mode b:4x2x1"
[ ! -e core ] || fail "a rank was started"
# DDL_OPTIONS from the plan, for programs that have no -ddl.
launch_fake 0 'gpu[3] on h2' 4x2x1 h1,h2 "${minsky[@]}" --framework ddl -- "$fakes/caffe_ddl.py" train --solver=s -gpu 0
# DDL's own options say that it is DDL; a letter that it does not have is refused.
launch_fake 0 "DDL_OPTIONS='-mode r:4x2x1x1'" 4x2x1 h1,h2 "${minsky[@]}" --dry-run --ddl-mode r -- true
launch_fake 2 "--ddl-mode" 4x2x1 h1,h2 "${minsky[@]}" --ddl-mode x -- true
launch_fake 2 "--ddl-arg is for DDL, the framework is none" 4x2x1 h1,h2 "${minsky[@]}" --framework none --ddl-arg='-dump_iter 9' -- true
# IBM's own command line: what only Spectrum MPI has does not reach mpirun, and is named.
expect 0 'ddlrun: dropped, as meant for Spectrum MPI: -disable_gdr, -gpu, plm_rsh_num_concurrent' \
  env -i PATH="$fakes:/usr/bin:/bin" HOME="$work" "$DDLRUN" -H "$(hostname)" --accelerators 1 -m b \
  --mpiarg "-disable_gdr -gpu" -gpu --mpiarg "-mca plm_rsh_num_concurrent 300" -x HOME --dry-run --allow-run-as-root true
grep -e -gpu -e disable_gdr -e plm_rsh out && fail "options of Spectrum MPI are passed on"
# The stand-in notices what the check is there for.
launch_fake 1 'X is 2, this host has 4 ranks' 4x2x1 h1,h2 "${minsky[@]}" --framework none -- \
  "$fakes/caffe_ddl.py" train --solver=s -gpu 0 -ddl "-mode b:2x4x1"

# PyTorch: ranks of two hosts meet; they are numbered host by host.
launch_fake 0 'all 8 ranks met at ' 4x2x1 localhost,h2 "${minsky[@]}" --framework pytorch -- "$fakes/torch_env.py"
launch_fake 0 'all 4 ranks met at ' -H localhost:3,h2:1 "${minsky[@]}" --framework pytorch -- "$fakes/torch_env.py"
launch_fake 2 '--order packed, or the same count for each host' -H localhost:3,h2:1 "${minsky[@]}" --order ddl -- "$fakes/torch_env.py"
launch_fake 3 'DDL needs the same number of ranks on each host: one has 3, all together 4' -H h1:3,h2:1 "${minsky[@]}" -- "$fakes/caffe_ddl.py" train --solver=s -gpu 0 -ddl "-mode b:3x2x1"
launch_fake 1 'ranks are not node-contiguous' 4x2x1 localhost,h2 "${minsky[@]}" --framework pytorch --order ddl -- "$fakes/torch_env.py"
launch_fake 1 'environment variable RANK expected, but not set' 2 localhost "${minsky[@]}" --framework none -- "$fakes/torch_env.py"
# Two runs at once on one host do not take each other's port.
for run in 1 2; do
  env -i PATH="$fakes:/usr/bin:/bin" HOME="$work" "$DDLRUN" launch --allow-run-as-root --run-dir "$work/both$run" 3 localhost "${minsky[@]}" \
    --framework pytorch -- "$fakes/torch_env.py" >"$work/both$run.out" 2>&1 &
done
wait
[ "$(cat "$work"/both?.out | grep -c 'all 3 ranks met')" -eq 2 ] || fail "two runs at once: $(tail -3 "$work"/both?.out)"

# TensorFlow: workers reach every task, in both styles; MultiWorkerMirroredStrategy has no parameter servers.
launch_fake 0 'worker 2 of 3' --ps 2 --workers 3 --base-port 24022 localhost "${minsky[@]}" -- "$fakes/tensorflow_tasks.py" --ps_ends
launch_fake 0 'ps 1 of 2' --ps 2 --workers 3 --base-port 24122 --tf-style flags localhost "${minsky[@]}" -- "$fakes/tensorflow_tasks.py" --ps_ends
launch_fake 0 'worker 1 of 2' --ps 1 --workers 2 --chief --base-port 24322 localhost "${minsky[@]}" -- "$fakes/tensorflow_tasks.py" --ps_ends
launch_fake 0 'worker 2 of 3' --ps 2 --workers 3 --chief -H localhost:4,127.0.0.2:2 --base-port 24422 "${minsky[@]}" -- "$fakes/tensorflow_tasks.py" --ps_ends
launch_fake 2 'try: --workers 2, or counts whose sum is 6' --ps 2 --workers 3 --chief -H h1:3,h2:2 "${minsky[@]}" -- "$fakes/tensorflow_tasks.py"
printf 'h1 slots=2\nh2 slots=1\n' > slots
launch_fake 2 'at:  --hostfile' --ps 2 --workers 3 --hostfile slots "${minsky[@]}" -- "$fakes/tensorflow_tasks.py"
launch_fake 0 '"ranks":["0,1","2"]' --ps 1 --workers 2 --hostfile slots --dry-run "${minsky[@]}" -- "$fakes/tensorflow_tasks.py"
launch_fake 0 'worker 3 of 4' 4 localhost "${minsky[@]}" --framework tensorflow --base-port 24222 -- "$fakes/tensorflow_tasks.py"

# Horovod: flags before the file, the file before nothing.
printf 'params:\n  fusion_threshold_mb: 32\n  cycle_time_ms: 5\nstall_check:\n  enabled: false\n' > h.yaml
launch_fake 0 'fusion 33554432 cycle 2.5 autotune True stall False timeline t.json' 4x2x1 h1,h2 "${minsky[@]}" --framework horovod \
  --horovod-config h.yaml --cycle-time-ms 2.5 --autotune --timeline-filename t.json -- "$fakes/horovod_env.py"
launch_fake 0 'fusion 134217728 cycle 1 autotune False stall True timeline None' --np 4 h1,h2 "${minsky[@]}" --framework horovod -- "$fakes/horovod_env.py"
launch_fake 0 'fusion' --np -4 "${minsky[@]}" --framework horovod -- "$fakes/horovod_env.py"
launch_fake 0 'mpirun --allow-run-as-root -n 4 ' --np -4 "${minsky[@]}" --dry-run -x HOROVOD_TIMELINE=/t.json --framework horovod -- "$fakes/horovod_env.py"
grep -q '^# .*timeline can cost 40 %' "$work/out" || fail "the timeline's price is not reported"
launch_fake 2 '--np -4 starts 4 ranks on this host, but hosts are named' --np -4 h1,h2 "${minsky[@]}" --framework horovod -- "$fakes/horovod_env.py"
launch_fake 3 '5 ranks cannot be dealt evenly to 2 hosts: nothing was started' --np 5 h1,h2 "${minsky[@]}" --framework horovod -- "$fakes/horovod_env.py"
launch_fake 0 'export HOROVOD_LOG_HIDE_TIME=1' 2 h1 "${minsky[@]}" --dry-run --framework horovod --log-without-timestamp -- "$fakes/horovod_env.py"
extra=HOROVOD_CONTROLLER=gloo
launch_fake 2 "Gloo controller needs a rendezvous server" 2 h1 "${minsky[@]}" --framework horovod -- "$fakes/horovod_env.py"
extra=
launch_fake 2 "--cycle-time-ms is for Horovod, the framework is none" 2 h1 "${minsky[@]}" --cycle-time-ms 2 -- "$fakes/horovod_env.py"

# Intel Caffe, by the words of its script.
printf 'net: "net.prototxt"\n' > solver.prototxt
printf 'layer { data_param { source: "lmdb" backend: LMDB } }\n' > net.prototxt
printf 'n2\nn2\nn1\nn1\n' > nodes
mlsl=MLSL_ROOT=/opt/mlsl # as mlslvars.sh sets it
intel() { expect "$1" "$2" env -i PATH="$fakes:/usr/bin:/bin" HOME="$work" XDG_STATE_HOME="$work/state" ${mlsl:+"$mlsl"} "$DDLRUN" intelcaffe --allow-run-as-root \
  --hostfile nodes --caffe_bin "$fakes/intel_caffe.py" "${@:3}"; }
knl=(--cpu knl --sockets 1 --cores 68)
intel 3 "the LMDB 'lmdb' does not exist" --solver solver.prototxt "${knl[@]}"
mkdir lmdb
intel 0 'rank 1 of 2: 60 threads, servers on [6, 7, 8, 9]' --solver solver.prototxt --network opa --ppn 1 --num_omp_threads 60 "${knl[@]}"
intel 0 'rank 3 of 4: 30 threads, servers on [30, 31, 32, 33, 64, 65, 66, 67]' --solver solver.prototxt --network tcp --netmask eth0 --ppn 2 "${knl[@]}"
mlsl=
intel 1 'specify MLSL_ROOT' --solver solver.prototxt "${knl[@]}"
grep -q 'MLSL_ROOT is not set, and MLSL ends without it' "$work/err" || fail "without MLSL_ROOT: $(head -5 "$work/err")"
mlsl=MLSL_ROOT=/opt/mlsl
intel 3 '65 threads, a rank has 64 cores that no server takes' --solver solver.prototxt --num_omp_threads 65 "${knl[@]}"
# In launch itself nothing is named that it does not take.
launch_fake 3 'try: -x OMP_NUM_THREADS=64, or fewer ranks a host by DIMS' 1x2x1 h1,h2 --framework intel-caffe --sockets 1 --cores 66 \
  -x OMP_NUM_THREADS=65 -- "$fakes/intel_caffe.py" train --solver solver.prototxt
intel 3 "the solver 'none.prototxt' does not exist" --solver none.prototxt "${knl[@]}"
intel 2 'no solver is named' "${knl[@]}"
intel 2 '--netmask' --solver solver.prototxt --network tcp "${knl[@]}"
finish
