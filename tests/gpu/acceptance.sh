#!/bin/bash
# SPDX-License-Identifier: MIT
# acceptance.sh [OUTPUT [STEP...]]: what ddlrun does on a machine with an NVIDIA GPU, in at most 8 minutes: doctor, topo, the tests of
# this directory, speed beside PyTorch, a batch that only --lms fits in, sums by NCCL. It is part of the kit that
# `packaging/bundle.sh --acceptance` makes: the machine needs no package of ddlrun, no MPI and no root. CUDA's libraries are those of the
# machine, or those that Python's packages nvidia-* brought. README.md describes the files in OUTPUT (default: acceptance).
# ACCEPTANCE_SECONDS: the limit, at most and by default 480. Exit status: 0 no step failed, 1 one failed, 2 usage, 3 not the kit,
# 125 no NVIDIA driver: only the steps without a GPU ran, and none failed.
set -u
export LC_ALL=C
self=$(readlink -f "$0")
here=$(dirname "$self")
kit=$(readlink -f "$here/../..")
prefix=$(readlink -f "$kit/../../..")
subset=$kit/tests/data/fashion-mnist-subset
train=$prefix/bin/ddl-train
share_gpu=$kit/tests/support/share_gpu.sh
export DDLRUN=$prefix/bin/ddlrun DDLRUN_BUILD_DIR=$prefix/share/ddlrun DDLRUN_SITE_DIR=/nonexistent

# name, what it needs, its limit in seconds. The first ones say most where time runs out.
steps=('machine host 40' 'libraries host 40' 'doctor host 60' 'train_cpu host 60'
  'topo_cuda gpu 30' 'doctor_gpu gpu 60' 'train gpu 150' 'nccl_sums gpu 180' 'speed_lenet5 gpu 60' 'speed_alexnet gpu 80'
  'speed_resnet50 gpu 100' 'lms gpu 120' 'torch gpu 100')

figure() { printf 'figure: %s %s\n' "$1" "$2"; }
skip() {
  printf 'skipped: %s\n' "$1"
  exit 125
}
fail() {
  printf 'FAILED %s\n' "$1"
  exit 1
}
smi() { timeout -k 2 20 nvidia-smi --query-gpu="$1" --format=csv,noheader,nounits 2>&1; }

# Why no GPU can be used; nothing where one can. nvidia-smi of a broken driver may hang.
no_driver() {
  command -v nvidia-smi > /dev/null || { echo 'no NVIDIA driver: no nvidia-smi'; return; }
  local answer status=0
  answer=$(smi index) || status=$?
  if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
    echo 'no NVIDIA driver: nvidia-smi does not answer within 20 s'
  elif [ "$status" -ne 0 ] || [[ ! $answer =~ ^[0-9] ]]; then
    echo "no NVIDIA driver: nvidia-smi: $(head -n 1 <<< "${answer:-finds no GPU}")"
  fi
}
# Python's directories of the packages nvidia-*, which PyTorch for CUDA brings.
cuda_directories() {
  local python place
  for python in python3 /usr/bin/python3; do
    while read -r place; do
      for place in "$place"/*/lib; do [ ! -d "$place" ] || printf ':%s' "$place"; done
    done < <("$python" -c 'import nvidia; print(*nvidia.__path__, sep="\n")' 2> /dev/null)
  done
}
# loaded FILE: "NAME => PATH" of each library, by the bundle's loader where the host's C library is too old for the file
loaded() {
  local list loader
  list=$(ldd "$1" 2>&1)
  if [[ $list = *'version `GLIBC_'* ]]; then
    loader=$(echo "$prefix"/libexec/glibc/ld-linux-*)
    list=$("$loader" --library-path "$prefix/libexec/glibc${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" --list "$1" 2>&1)
  fi
  printf '%s\n' "$list"
}
# place_of LIBRARY: where the loader finds it
place_of() {
  local directory
  while read -r -d : directory; do [ ! -e "$directory/$1" ] || { echo "$directory/$1"; return; }; done <<< "${LD_LIBRARY_PATH:-}:"
  { ldconfig -p || /sbin/ldconfig -p; } 2> /dev/null | sed -n "s/^[[:space:]]*$1 (libc6,.*) => //p" | head -n 1
}

step_machine() {
  figure version "$("$DDLRUN" --version | head -n 1)" || fail "$DDLRUN does not start"
  figure host "$(uname -n)"
  figure kernel "$(uname -r)"
  figure system "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
  figure glibc "$(getconf GNU_LIBC_VERSION)"
  figure cores "$(nproc)"
  figure memory_mib "$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)"
  if command -v python3 > /dev/null; then
    figure python "$(python3 -V 2>&1 | head -n 1)"
    figure torch "$(python3 -c 'import torch; print(torch.__version__, "for CUDA", torch.version.cuda)' 2>&1 | tail -n 1)"
  else
    figure python 'not found'
  fi
  [ -z "$driver_reason" ] || return 0
  figure gpus "$(smi index | grep -c '^[0-9]')"
  figure gpu "$(smi name | head -n 1)"
  figure driver "$(smi driver_version | head -n 1)"
  figure gpu_memory_mib "$(smi memory.total | head -n 1)"
}
# Each library of each program and plug-in. MPI's may be missing: only ranks of mpirun load it. All but CUDA's and the C
# library are those of the bundle, also where the machine has its own.
step_libraries() {
  local file name place missing='' files=0 cuda
  local hosts='^lib((cu|nv|nccl|mpi).*|c|m|dl|rt|pthread|resolv|util|nss_.*|anl|mvec)[.]so'
  for file in "$prefix"/libexec/ddlrun/* "$prefix"/lib/ddlrun/*.so "$prefix/lib/libddl.so"; do
    files=$((files + 1))
    loaded "$file" > "$scratch"
    grep -q '=> /' "$scratch" || missing+=" ${file##*/}: $(head -n 1 "$scratch");"
    while read -r name; do
      case $name in
        libmpi.* | libmpich.*) ;;
        libcu* | libnccl*) [ -n "$driver_reason" ] || missing+=" ${file##*/}: $name (CUDA, or pip install nvidia-*);" ;;
        *) missing+=" ${file##*/}: $name;" ;;
      esac
    done < <(sed -n 's/^[[:space:]]*\(lib[^ ]*\) => not found.*/\1/p' "$scratch")
    while read -r name place; do
      [[ $place = "$prefix"/* || $name =~ $hosts ]] || missing+=" ${file##*/}: $name is $place;"
    done < <(sed -n 's/^[[:space:]]*\(lib[^ ]*\) => \(\/.*\) (.*/\1 \2/p' "$scratch")
  done
  figure files "$files"
  for cuda in libcublas.so.13 libcudnn.so.9 libnccl.so.2; do
    name=$(place_of "$cuda")
    figure "${cuda%%.*}" "${name:-not found}"
  done
  [ -n "$driver_reason" ] || [ -n "$name" ] || missing+=' libnccl.so.2 (NCCL, or pip install nvidia-nccl-*);'
  [ -z "$missing" ] || fail "libraries not found, or not in the bundle:$missing"
}
# What doctor finds wrong with the machine is a figure; a check that cannot be made is a failure.
step_doctor() {
  local status=0 word
  "$DDLRUN" doctor --json > "$scratch" || status=$?
  [ "$status" -le 1 ] || fail "doctor: status $status"
  grep -q '"schema": "ddlrun.doctor/1"' "$scratch" || fail 'doctor printed no ddlrun.doctor/1'
  for word in pass warn fail skip error; do figure "$word" "$(sed -n "s/^    \"$word\": \([0-9]*\),*$/\1/p" "$scratch" | head -n 1)"; done
  grep -q '^    "error": 0,*$' "$scratch" || fail 'doctor could not make a check'
  "$DDLRUN" doctor || true
}
# trained NAME COMMAND...: the summary has equal weights; its speed
trained() {
  "${@:2}" > "$scratch" || fail "status $?: ${*:2}"
  cat "$scratch"
  grep -q ' weights=equal ' "$scratch" || fail "no equal weights: ${*:2}"
  figure "$1" "$(sed -n 's/.* images_s=\([0-9.]*\) .*/\1/p' "$scratch" | head -n 1)"
}
step_train_cpu() {
  local options=(--data "$subset" --global-batch 40 --max-steps 50 --threads 1 --quiet)
  trained images_s "$train" "${options[@]}"
  trained images_s_2_ranks env NCCL=no "$share_gpu" 2 "$train" "${options[@]}"
  grep -q ' ranks=2 ' "$scratch" || fail 'not two ranks'
}
step_topo_cuda() {
  "$here/topo_cuda.sh" || return
  "$DDLRUN" topo --cuda
}
step_doctor_gpu() { "$here/doctor_gpu.sh"; }
step_train() {
  "$here/train.sh" "$train" | tee "$scratch"
  local status=${PIPESTATUS[0]}
  sed -n 's/^\([^ ]*\): losses differ by at most \([^,]*\), .*/figure: loss_difference_\1 \2/p' "$scratch"
  return "$status"
}
step_nccl_sums() {
  "$here/nccl_sums.sh" "$prefix/bin/gpu_sums_cuda" "$prefix/bin/gpu_faults_cuda" "$prefix/bin/ddl-bench" | tee "$scratch"
  local status=${PIPESTATUS[0]}
  awk '/ of [0-9]+ as expected$/ { ranks++; sums += $(NF - 4) } END { print "figure: ranks_right", ranks + 0; print "figure: sums_right", sums + 0 }' "$scratch"
  sed -n 's/^\(not measured: .*\)/figure: ddl_bench \1/p' "$scratch"
  return "$status"
}
# beside_torch NET SHAPE STEPS
beside_torch() {
  DEVICE=cuda RANKS=1 ROUNDS=2 NETS=$1 SHAPE=$2 STEPS=$3 "$kit/bench/torch_speed.sh" "$train" | tee "$scratch"
  local status=${PIPESTATUS[0]} number='\([0-9.]*\)'
  sed -n "s|.*ddl-train *$number images/s *$number MiB *PyTorch *$number *$number MiB *ratio of the best $number, of the medians $number.*|\
figure: ddl_train_images_s \1\nfigure: torch_images_s \3\nfigure: ratio_of_best \5\nfigure: ratio_of_medians \6\n\
figure: ddl_train_host_memory_mib \2\nfigure: torch_gpu_memory_mib \4\nfigure: host_threads 1|p" "$scratch"
  return "$status"
}
step_speed_lenet5() { beside_torch lenet5 '' 60; }
step_speed_alexnet() { beside_torch alexnet 3x227x227 30; }
step_speed_resnet50() { beside_torch resnet-50 3x224x224 30; }
step_torch() { "$here/torch.sh"; }

# A batch of ResNet-50 that does not fit in the GPU, then the same with --lms. An image keeps about 81,000 KB of activations: those of
# 3,136 KB are 28,200 of these, those of at least 1,568 KB are 44,000.
step_lms() {
  local free host percent batch='' least kept status command
  free=$(smi memory.free | head -n 1)
  host=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
  figure gpu_free_mib "$free"
  for percent in 105 125 150; do
    batch=$((free * 1024 * percent / 100 / 81000))
    # Above that the largest layers have more than the 2^31 values that cuDNN takes.
    [ "$batch" -le 2600 ] || skip "a batch of ResNet-50 that $free MiB do not hold is larger than cuDNN takes"
    command=("$train" --device cuda --net resnet-50 --data "synthetic:3x224x224x10:$batch" --batch-size "$batch" --max-steps 2 --lr 0.0001 --quiet)
    status=0
    "${command[@]}" > "$scratch" 2>&1 || status=$?
    cat "$scratch"
    [ "$status" -eq 0 ] || break
  done
  figure batch "$batch"
  [ "$status" -eq 3 ] || fail "status $status, not 3, without --lms: batch $batch"
  grep -q 'out of memory' "$scratch" || fail "not refused for its memory without --lms: batch $batch"
  for least in '2000 28200' '1000 44000'; do
    read -r least kept <<< "$least"
    [ $((batch * kept / 1024 + 4096)) -le "$host" ] || skip "$host MiB of host memory do not hold $((batch * kept / 1024)) MiB of activations"
    status=0
    "${command[@]}" --lms $((batch * least)) > "$scratch" 2>&1 || status=$?
    [ "$status" -ne 3 ] || ! grep -q 'out of memory' "$scratch" || continue
    break
  done
  cat "$scratch"
  figure lms_kb $((batch * least))
  figure images_s "$(sed -n 's/.* images_s=\([0-9.]*\) .*/\1/p' "$scratch")"
  [ "$status" -eq 0 ] || fail "status $status with --lms $((batch * least))"
  grep -q ' weights=equal ' "$scratch" || fail "no equal weights with --lms $((batch * least))"
}

# A child of this script, under timeout.
if [ -n "${ACCEPTANCE_STEP:-}" ]; then
  "step_$ACCEPTANCE_STEP"
  exit
fi

# ascii TEXT: $line, which JSON and a terminal can show
ascii() {
  local words
  read -r -d '' -a words <<< "$1"
  line=${words[*]}
  line=${line//[^ -~]/}
  line=${line:0:400}
}
json_text() {
  local line
  ascii "$1"
  line=${line//\\/\\\\}
  printf '"%s"' "${line//\"/\\\"}"
}
json_value() { if [[ $1 =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+]?[0-9]+)?$ ]]; then printf '%s' "$1"; else json_text "$1"; fi; }
json_figures() {
  local name value mark=''
  while read -r _ name value; do
    printf '%s' "$mark"
    json_text "$name"
    printf ': '
    json_value "$value"
    mark=', '
  done < <(grep -as '^figure: ' "$out/$1.log")
}
elapsed() { awk -v begun="$1" -v now="$EPOCHREALTIME" 'BEGIN { printf "%.1f", now - begun }'; }
outcome() {
  local name whole=passed
  [ -z "$driver_reason" ] || whole=skipped
  for name in "${names[@]}"; do
    case ${result[$name]} in
      failed) echo failed; return ;;
      waiting | running) whole=running ;;
    esac
  done
  echo "$whole"
}
print_json() {  # STATE
  printf '{\n  "schema": "ddlrun.gpu_acceptance/1",\n  "state": "%s",\n  "result": "%s",\n  "no_driver": %s,\n' "$1" "$(outcome)" "$(json_text "$driver_reason")"
  printf '  "began": "%s",\n  "seconds": %s,\n  "limit_seconds": %s,\n  "steps": [' "$began" "$(elapsed "$begun")" "$limit"
  local name mark='' log
  for name in "${names[@]}"; do
    log=null
    [ ! -e "$out/$name.log" ] || log="\"$name.log\""
    printf '%s\n    {"name": "%s", "needs": "%s", "result": "%s", "exit_status": %s, "reason": ' "$mark" "$name" "${needs[$name]}" "${result[$name]}" \
      "${exit_status[$name]}"
    json_text "${reason[$name]}"
    printf ', "seconds": %s, "log": %s, "figures": {' "${seconds[$name]}" "$log"
    [ "$log" = null ] || json_figures "$name"
    printf '}}'
    mark=,
  done
  printf '\n  ]\n}\n'
}
print_table() {
  local name text line
  printf '%-15s %-8s %7s  %s\n' step result seconds 'figures, or the reason'
  for name in "${names[@]}"; do
    text=''
    [ ! -e "$out/$name.log" ] || text=$(sed -n 's/^figure: \([^ ]*\) \(.*\)/\1=\2/p' "$out/$name.log")
    ascii "${reason[$name]}${reason[$name]:+${text:+; }}$text"
    printf '%-15s %-8s %7s  %s\n' "$name" "${result[$name]}" "${seconds[$name]}" "$line"
  done
  echo
  echo 'speed_*: one thread on the host, float32. The peak memory of ddl-train is that of the host, the peak memory of PyTorch that of the GPU.'
  [ -z "$driver_reason" ] || printf '\nskipped: %s\n' "$driver_reason"
}
# Each file is replaced at once: what lies there is complete at every moment.
save() {
  print_json "$1" > "$out/results.json.new" && mv "$out/results.json.new" "$out/results.json"
  print_table > "$out/results.txt.new" && mv "$out/results.txt.new" "$out/results.txt"
}
# reason_of NAME STATUS LIMIT
reason_of() {
  local log=$out/$1.log line=''
  case $2 in
    0) return ;;
    124 | 137) printf 'no end within %s s; the last line: ' "$3" ;;
    125) line=$(grep -a '^skipped: ' "$log" | tail -n 1) && line=${line#skipped: } ;;
    *) line=$(grep -a '^FAILED' "$log" | head -n 1) && line=${line#FAILED } ;;
  esac
  printf '%s' "${line:-$(grep -av '^ *$' "$log" | tail -n 1)}"
}
run_step() {  # NAME LIMIT
  local name=$1 most=$2 left=$((limit - 8 - (SECONDS - first_second))) start=$EPOCHREALTIME status=0
  if [ "${needs[$name]}" = gpu ] && [ -n "$driver_reason" ]; then
    result[$name]=skipped reason[$name]=$driver_reason
    return
  fi
  [ "$left" -gt "$most" ] || most=$left
  if [ "$most" -lt 1 ]; then
    result[$name]=skipped reason[$name]="no time left of $limit s"
    return
  fi
  result[$name]=running
  save running
  ACCEPTANCE_STEP=$name timeout -k 5 "$most" "$BASH" "$self" < /dev/null > "$out/$name.log" 2>&1 &
  child=$!
  wait "$child" || status=$?
  child=''
  exit_status[$name]=$status seconds[$name]=$(elapsed "$start") reason[$name]=$(reason_of "$name" "$status" "$most")
  case $status in
    0) result[$name]=passed ;;
    125) result[$name]=skipped ;;
    *) result[$name]=failed ;;
  esac
}
stopped() {
  [ -z "${child:-}" ] || { kill "$child"; wait "$child"; }
  [ -z "${name:-}" ] || { result[$name]=failed reason[$name]='stopped by a signal'; }
  save stopped
  exit 143
}

usage() {
  echo "usage: $0 [OUTPUT [STEP...]]; steps: ${names[*]}" >&2
  exit 2
}
declare -A needs result reason seconds exit_status limits
names=()
for step in "${steps[@]}"; do
  read -r name need most <<< "$step"
  names+=("$name")
  needs[$name]=$need limits[$name]=$most result[$name]=waiting reason[$name]='' seconds[$name]=0 exit_status[$name]=null
done
name=''
case ${1:-} in -*) usage ;; esac
for step in "${@:2}"; do [ -n "${needs[$step]:-}" ] || usage; done
limit=${ACCEPTANCE_SECONDS:-480}
[[ $limit =~ ^([1-9][0-9]?|[1-3][0-9][0-9]|4[0-7][0-9]|480)$ ]] || { echo "ACCEPTANCE_SECONDS=$limit is not 1 to 480" >&2; exit 2; }
[ -x "$DDLRUN" ] || { echo "no $DDLRUN: this is not the kit; make it by packaging/bundle.sh --acceptance, and unpack it" >&2; exit 3; }
out=$(readlink -m "${1:-acceptance}")
mkdir "$out" || { echo "$out must be a new directory: try another OUTPUT" >&2; exit 3; }
[ $# -lt 2 ] || names=("${@:2}")

first_second=$SECONDS begun=$EPOCHREALTIME
began=$(date -u +%Y-%m-%dT%H:%M:%SZ)
mkdir "$out/work"
export TMPDIR=$out/work XDG_STATE_HOME=$out/work/state scratch=$out/work/scratch PYTHONDONTWRITEBYTECODE=1
trap 'rm -rf "$out/work"' EXIT
trap stopped TERM INT HUP
driver_reason=$(no_driver)
export driver_reason
directories=$(cuda_directories)
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}$directories
LD_LIBRARY_PATH=${LD_LIBRARY_PATH#:}
# PyTorch does not bring PyYAML, which torch_peer.py needs.
python3 -c 'import yaml' 2> /dev/null || export PYTHONPATH=$kit/python${PYTHONPATH:+:$PYTHONPATH}
[ -z "$driver_reason" ] || printf 'skipped: %s; the steps without a GPU run\n' "$driver_reason"
for name in "${names[@]}"; do
  run_step "$name" "${limits[$name]}"
  printf '%-15s %-8s %7s s  %s\n' "$name" "${result[$name]}" "${seconds[$name]}" "${reason[$name]}"
  save running
done
name=''
save complete
printf '\n'
cat "$out/results.txt"
printf '\n%s, after %s s: %s/results.json\n' "$(outcome)" "$(elapsed "$begun")" "$out"
[ "$(outcome)" != failed ] || exit 1
[ -z "$driver_reason" ] || exit 125
