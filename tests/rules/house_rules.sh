#!/bin/bash
# SPDX-License-Identifier: MIT
# The rules of ARCHITECTURE.md that a machine can check: who includes whom, which third-party header is allowed
# where, no effects outside the doors, every test in a target, file sizes, licence lines. Prints each breach.
set -u
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 2
breaches=0
breach() { printf '%s\n' "$1"; breaches=$((breaches + 1)); }

sources() { find "$@" \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' -o -name '*.cu' \) 2>/dev/null; }

# room: rooms that it may include
may_include() {
  case $1 in
    base) echo base ;;
    topology) echo topology base ;;
    rankfile) echo rankfile topology base ;;
    affinity) echo affinity topology base ;;
    templates) echo templates topology base ;;
    schedulers) echo schedulers templates affinity topology base ;;
    job_scripts) echo job_scripts schedulers templates affinity topology base ;;
    diagnose) echo diagnose base ;;
    launch) echo launch affinity rankfile topology base ;;
    frameworks) echo frameworks launch topology base ;;
    doctor) echo doctor affinity rankfile topology base ;;
    bench_report) echo bench_report base ;;
    run_report) echo run_report base ;;
    cli) echo cli frameworks bench_report run_report diagnose doctor launch job_scripts schedulers templates affinity rankfile topology base ;;
    ddl) echo ddl ;;
    ddl_bench) echo ddl_bench ddl base ;;
    runtime) echo runtime ddl base ;;
  esac
}

for room in base topology rankfile affinity templates schedulers job_scripts launch frameworks diagnose doctor bench_report run_report cli ddl ddl_bench runtime; do
  allowed=" $(may_include "$room") "
  while IFS=: read -r file line include; do
    target=${include#*\"}
    target=${target%%/*}
    case $allowed in
      *" $target "*) ;;
      *) breach "$file:$line: $room/ may not include $target/" ;;
    esac
  done < <(sources "$room" | xargs -r grep -HnE '^#include "[a-z_]+/')
done

# Of launch, frameworks/ takes the rank sheet only.
while IFS=: read -r file line include; do
  case $include in
    *'"launch/rank_sheet.hpp"'*) ;;
    *) breach "$file:$line: frameworks/ takes only rank_sheet of launch/" ;;
  esac
done < <(sources frameworks | xargs -r grep -HnE '^#include "launch/')

# The directories of the runtime, each with those that it may include.
runtime_may_include() {
  case $1 in
    core) echo core ;;
    comm) echo comm core ;;
    models) echo models core ;;
    data) echo data comm core ;;
    engine) echo engine comm models core ;;
    training) echo training engine data comm models core ;;
    caffe) echo caffe training models core ;;
    checkpoint) echo checkpoint training comm models core ;;
    telemetry) echo telemetry training comm core ;;
    parameter_server) echo parameter_server training comm core ;;
    app) echo app caffe checkpoint telemetry parameter_server training engine data comm models core ;;
  esac
}
for directory in runtime/*/; do
  directory=$(basename "$directory")
  allowed=" $(runtime_may_include "$directory") "
  while IFS=: read -r file line include; do
    target=${include#*\"runtime/}
    target=${target%%/*}
    case $allowed in
      *" $target "*) ;;
      *) breach "$file:$line: runtime/$directory/ may not include runtime/$target/" ;;
    esac
  done < <(sources "runtime/$directory" | xargs -r grep -HnE '^#include "runtime/')
done

# Of base, the runtime takes errors, text, YAML with places, plug-ins, the paths of whole files and its output only.
while IFS=: read -r file line include; do
  case $include in
    *'"base/error.hpp"'* | *'"base/text.hpp"'* | *'"base/yaml_tree.hpp"'* | *'"base/plugin.hpp"'* | *'"base/whole_path.hpp"'* | \
      *'"base/standard_output.hpp"'*) ;;
    *) breach "$file:$line: runtime/ takes only error, text, yaml_tree, plugin, whole_path and standard_output of base/" ;;
  esac
done < <(sources runtime | xargs -r grep -HnE '^#include "base/')

# third-party header (regular expression): files that may include it (regular expression)
third_party() {
  while IFS=: read -r file line _; do
    [[ $file =~ $2 ]] || breach "$file:$line: <$1> is only for $2"
  done < <(sources base topology rankfile affinity templates schedulers job_scripts launch frameworks diagnose doctor bench_report run_report cli ddl ddl_bench runtime | xargs grep -HnE "^#include <$1")
}
third_party 'hwloc' '^topology/hwloc_[a-z_]*\.cpp$'
third_party 'CLI/' '^cli/'
third_party 'nlohmann/' '_json\.cpp$|^runtime/.*(json|metrics).*\.cpp$'
third_party 'yaml-cpp/' '_yaml\.cpp$'
third_party 'sqlite3' '_sqlite\.cpp$'
third_party 'mpi\.h' '^(ddl/transport/mpi|ddl_bench|runtime/(comm|parameter_server))/mpi_'
third_party 'openssl/' '^ddl/core/openssl_'
third_party 'gloo/' '^ddl_bench/gloo_'
third_party '(jpeglib|jerror)\.h' '^runtime/data/jpeg_'
third_party 'png\.h' '^runtime/data/png_'
third_party 'lmdb\.h' '^runtime/data/lmdb_'
third_party '(dnnl|oneapi)' '^runtime/engine/cpu/'
third_party '(cuda|nccl|cublas|cudnn)' '(^|/)cuda_|^runtime/engine/cuda/'
third_party '(google/protobuf|caffe\.pb\.h)' '^runtime/caffe/[a-z_]*_protobuf\.[ch]pp$'
third_party 'doctest' '^$'

# Effects belong to the doors of base/ (and to the runtime, which is a program of its own).
while IFS=: read -r file line text; do
  breach "$file:$line: an effect outside base/: $text"
done < <(sources topology rankfile affinity templates schedulers job_scripts launch frameworks diagnose doctor bench_report run_report cli | grep -vE '^topology/(cuda_plugin/|hwloc_)' |
         xargs grep -HnE '\b(getenv|system|popen|fork|execvp|posix_spawn|exit|_exit|abort)\(|std::(cout|cerr|ofstream|ifstream)\b|\bprintf\(')

# Every test is in a target.
while read -r test; do
  folder=$(dirname "$test")
  lists=(tests/CMakeLists.txt)
  for (( up = 0; up < 3; ++up )); do lists+=("$folder/CMakeLists.txt"); folder=$(dirname "$folder"); done
  grep -qs "$(basename "$test")" "${lists[@]}" ||
    breach "$test: in no CMakeLists.txt: it would never run"
done < <(find tests -name '*_test.cpp')
while read -r test; do
  grep -rqs --include=CMakeLists.txt "$(basename "$test")" tests || breach "$test: in no CMakeLists.txt"
done < <(find tests/cli tests/mpi tests/gpu -name '*.sh' 2>/dev/null)

# Rooms stay small, and say what they are for.
while read -r lines file; do
  [ "$file" = total ] || [ "$lines" -le 400 ] || breach "$file: $lines lines, at most 400"
done < <(sources base topology rankfile affinity templates schedulers job_scripts launch frameworks diagnose doctor bench_report run_report cli ddl ddl_bench runtime tests | xargs wc -l)
[ "$(wc -l < cli/main.cpp)" -le 20 ] || breach "cli/main.cpp: more than 20 lines"
for room in base topology rankfile diagnose launch frameworks run_report cli runtime tests; do
  [ -f "$room/README.md" ] || breach "$room/README.md: missing"
  [ ! -f "$room/README.md" ] || [ "$(wc -l < "$room/README.md")" -le 30 ] || breach "$room/README.md: over 30 lines"
done
while read -r file; do
  head -3 "$file" | grep -q 'SPDX-License-Identifier: MIT' || breach "$file: no SPDX line"
done < <(sources base topology rankfile affinity templates schedulers job_scripts launch frameworks diagnose doctor bench_report run_report cli ddl ddl_bench runtime tests)

if [ "$breaches" -gt 0 ]; then
  echo "$breaches breaches of the house rules"
  exit 1
fi
echo "the house rules hold"
