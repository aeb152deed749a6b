#!/bin/bash
# SPDX-License-Identifier: MIT
# The acceptance kit of this build, unpacked elsewhere: what tests/gpu/acceptance.sh does without a GPU, and where its driver answers
# but no step can use it. A stand-in takes the place of nvidia-smi, so that the test is the same on a machine with a GPU.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
skip() {
  echo "skipped: $1"
  exit 125
}
command -v patchelf > /dev/null || skip 'no patchelf (apt-get install patchelf)'
command -v python3 > /dev/null || skip 'no python3 (apt-get install python3)'
[ -e "$DDLRUN_BUILD_DIR/tests/mpi/gpu_sums_cuda" ] || skip 'built without NCCL and CUDA (DDLRUN_CUDA, DDLRUN_NCCL)'
unset LD_LIBRARY_PATH DDLRUN_PLANS
GZIP_LEVEL=1 expect 0 'bytes' "$DDLRUN_SOURCE_DIR/packaging/bundle.sh" --acceptance "$work/kit.tar.gz" "$DDLRUN_BUILD_DIR"
mkdir "$work/any place" "$work/bin"
tar -xf "$work/kit.tar.gz" -C "$work/any place" || fail 'the kit cannot be unpacked'
kit=$(echo "$work/any place"/ddlrun-*)
export PATH=$work/bin:$PATH HOME=$work
# stand_in TEXT: nvidia-smi as a script
stand_in() {
  printf '#!/bin/sh\n%s\n' "$1" > "$work/bin/nvidia-smi"
  chmod 755 "$work/bin/nvidia-smi"
}
# document DIRECTORY PYTHON-EXPRESSION...: the form of the document, and what must be true of it
document() {
  python3 - "$@" << 'PY' || fail "$1/results.json"
import json, re, sys
with open(sys.argv[1] + "/results.json", encoding="ascii") as file:
    d = json.load(file)
assert list(d) == ["schema", "state", "result", "no_driver", "began", "seconds", "limit_seconds", "steps"], list(d)
assert d["schema"] == "ddlrun.gpu_acceptance/1" and d["state"] in ("running", "complete", "stopped")
assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", d["began"]) and 0 <= d["seconds"] <= d["limit_seconds"] <= 480
for step in d["steps"]:
    assert list(step) == ["name", "needs", "result", "exit_status", "reason", "seconds", "log", "figures"], step
    assert step["result"] in ("passed", "failed", "skipped", "running", "waiting") and step["needs"] in ("host", "gpu"), step
    assert (step["result"] in ("failed", "skipped")) == bool(step["reason"]), step
steps = {step["name"]: step for step in d["steps"]}
for expression in sys.argv[2:]:
    assert eval(expression), f"{expression}: {json.dumps(d, indent=1)}"
PY
}

# Without a driver: what needs no GPU runs and passes.
stand_in 'echo "NVIDIA-SMI has failed because it could not talk to \"the\\ driver\""; exit 9'
reason='no NVIDIA driver: nvidia-smi: NVIDIA-SMI has failed because it could not talk to "the\ driver"'
expect 125 "skipped: $reason" "$kit/acceptance.sh" "$work/none"
cat "$work/none/results.txt"
# shellcheck disable=SC2016
document "$work/none" 'd["state"] == "complete" and d["result"] == "skipped"' \
  '[s["result"] for s in d["steps"] if s["needs"] == "host"] == ["passed"] * 4' \
  'all(s["result"] == "skipped" and s["reason"] == d["no_driver"] for s in d["steps"] if s["needs"] == "gpu")' \
  'd["no_driver"].endswith(chr(34) + "the" + chr(92) + " driver" + chr(34))' \
  '[s for s in steps if s.startswith("speed_")] == ["speed_lenet5", "speed_alexnet", "speed_resnet50"]' \
  'steps["train_cpu"]["figures"]["images_s"] > 0 and steps["train_cpu"]["figures"]["images_s_2_ranks"] > 0' \
  'steps["libraries"]["figures"]["files"] >= 10 and steps["doctor"]["figures"]["pass"] > 10'
has 'the table names the host memory' "$work/none/results.txt" 'The peak memory of ddl-train is that of the host'
for name in machine libraries doctor train_cpu topo_cuda nccl_sums lms speed_resnet50 torch; do
  grep -q "^$name  *\(passed\|skipped\) " "$work/none/results.txt" || fail "no $name in the table"
done
[ ! -e "$work/none/work" ] || fail 'temporary files are left'

# A driver that lists a GPU which is not there: a step fails and the next ones run.
stand_in 'case $* in *pci.bus_id*) echo 00000000:FF:1F.7 ;; *memory*) echo 100 ;; *) echo 0 ;; esac'
expect 1 'GPUs differ from' "$kit/acceptance.sh" "$work/gpu" topo_cuda doctor_gpu machine
document "$work/gpu" 'd["result"] == "failed" and d["no_driver"] == "" and list(steps) == ["topo_cuda", "doctor_gpu", "machine"]' \
  '"differ" in steps["topo_cuda"]["reason"] and steps["topo_cuda"]["exit_status"] == 1' \
  'steps["doctor_gpu"]["result"] == "failed" and steps["machine"]["result"] == "passed"' 'steps["machine"]["figures"]["gpus"] == 1'

# Stand-ins of ddl-train and of the comparison with PyTorch: the batch that only --lms fits in, and the figures of a comparison.
mv "$kit/bin/ddl-train" "$kit/bin/real"
cat > "$kit/bin/ddl-train" << 'END'
#!/bin/bash
[[ " $* " =~ ' --batch-size '([0-9]+)' ' ]] || exit 2
if [[ ${BASH_REMATCH[1]} -gt 11 && " $* " != *' --lms 24000 '* ]]; then
  echo 'ddl-train: error: cudaMallocAsync failed: out of memory (cudaErrorMemoryAllocation); 3 of 800 MiB are free' >&2
  exit 3
fi
echo 'ddl-train: ok net=resnet-50 ranks=1 images_s=321 train_seconds=0.33 weights=equal hash=0'
END
format=$(sed -n 's/^ *printf "\(.*\)\\n",$/\1/p' "$kit/share/ddlrun/acceptance/bench/torch_speed.sh")
# shellcheck disable=SC2059
printf "$format\n" alexnet 1 500 700 2000 3100 0.25 0.26 > "$work/line"
printf '#!/bin/sh\ncat "%s"\n' "$work/line" > "$kit/share/ddlrun/acceptance/bench/torch_speed.sh"
chmod 755 "$kit/bin/ddl-train"
stand_in 'case $* in *memory.free*) echo 800 ;; *) echo 0 ;; esac'
expect 0 'passed, after' "$kit/acceptance.sh" "$work/figures" lms speed_alexnet
document "$work/figures" 'steps["lms"]["figures"] == {"gpu_free_mib": 800, "batch": 12, "lms_kb": 24000, "images_s": 321}' \
  'steps["speed_alexnet"]["figures"] == {"ddl_train_images_s": 500, "torch_images_s": 2000, "ratio_of_best": 0.25, "ratio_of_medians": 0.26, "ddl_train_host_memory_mib": 700, "torch_gpu_memory_mib": 3100, "host_threads": 1}'
printf '#!/bin/sh\necho "ddl-train: ok weights=equal"\n' > "$kit/bin/ddl-train"
expect 1 'status 0, not 3, without --lms' "$kit/acceptance.sh" "$work/fits" lms
mv "$kit/bin/real" "$kit/bin/ddl-train"

# What has no time left is skipped, and a step that does not end is ended.
stand_in 'case $* in *pci.bus_id*) sleep 60 ;; *) echo 0 ;; esac'
ACCEPTANCE_SECONDS=16 expect 1 'no time left of 16 s' "$kit/acceptance.sh" "$work/late" topo_cuda doctor
document "$work/late" '"no end within" in steps["topo_cuda"]["reason"] and steps["doctor"]["result"] == "skipped"'

# A library of the bundle that is missing; files at every moment; a signal.
rm "$kit/lib/ddlrun/bundled/libhwloc.so.15"
stand_in 'exit 9'
expect 1 'ddlrun: libhwloc.so.15' "$kit/acceptance.sh" "$work/library" libraries
stand_in 'case $* in *pci.bus_id*) sleep 60 ;; *) echo 0 ;; esac'
"$kit/acceptance.sh" "$work/stopped" topo_cuda doctor > "$work/out" 2>&1 &
acceptance=$!
for ((i = 0; i < 100; i++)); do ! grep -qs '"result": "running", "exit' "$work/stopped/results.json" || break; sleep 0.1; done
document "$work/stopped" 'd["state"] == "running" and steps["topo_cuda"]["result"] == "running" and steps["doctor"]["result"] == "waiting"'
kill "$acceptance"
wait "$acceptance" && fail 'status 0 after TERM'
document "$work/stopped" 'd["state"] == "stopped" and steps["topo_cuda"]["reason"] == "stopped by a signal"'
expect 3 'must be a new directory' "$kit/acceptance.sh" "$work/none"
expect 2 'usage: ' "$kit/acceptance.sh" "$work/other" nccl
expect 3 'this is not the kit' "$DDLRUN_SOURCE_DIR/tests/gpu/acceptance.sh" "$work/other"
finish
