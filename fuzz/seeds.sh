#!/bin/bash
# SPDX-License-Identifier: MIT
# seeds.sh DIRECTORY: copies files of the tests and examples to DIRECTORY/TARGET/, for libFuzzer to start from.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
out=$1

# seed TARGET PREFIX FILE...: PREFIX stands for the bytes by which a target chooses, which are no part of the format
seed() {
  local target=$1 prefix=$2 file
  shift 2
  mkdir -p "$out/$target"
  for file in "$@"; do
    { printf '%b' "$prefix"; cat "$file"; } > "$out/$target/${file//\//_}${prefix//\\/-}"
  done
}

shopt -s nullglob globstar
for choice in '\x00' '\x03' '\x0e'; do
  seed rankfile "$choice" tests/golden/**/*.rf tests/data/report/run/rankfile
done
seed hostfile '' tests/data/schedulers/pbs/*nodes.txt
seed hwloc_xml '' tests/data/topologies/*.xml
seed machine_json '' tests/data/report/run/topology-*.json
seed log_analysis '\x01\x3f\x07' tests/golden/broken_runs/*.txt tests/golden/diagnose/*.log
seed signatures '' doctor/diagnose/signatures/*.yaml
for choice in '\x00' '\x01' '\x02' '\x03'; do
  seed job_yaml "$choice" tests/golden/jobs/*/*/ddlrun.yaml
done
seed job_script '' tests/golden/scripts/*.sh tests/golden/job_scripts/*/*.slurm tests/golden/job_scripts/*/*.pbs
seed scheduler_answer '\x00' tests/data/schedulers/slurm/*.txt
seed scheduler_answer '\x01' tests/data/schedulers/pbs/*.json tests/data/schedulers/pbs/*.txt
seed scheduler_answer '\x02' tests/data/schedulers/pbs/*.txt
seed site_profile '' templates/profiles/*.yaml
seed run_report '' tests/data/report/run/*.json tests/data/report/run/metrics.jsonl
seed net_yaml '' runtime/models/library/*.yaml
seed prototxt '' examples/caffe/*.prototxt tests/golden/prototxt/*/*.prototxt
seed idx '' tests/data/fashion-mnist-subset/t10k-labels-*.gz

# Short texts that no file has.
words() {
  local target=$1 number=0 text
  mkdir -p "$out/$target"
  shift
  for text in "$@"; do
    printf "%b" "$text" > "$out/$target/words-$number"
    number=$((number + 1))
  done
}
words host_list 4x2x3 p:6x2x1x1 'node[01-04,7]-ib,login' 'a[1-2]b[3-4].x.org'
words slots '\x000:0-1' '\x011:*' '\x00S0' '\x000-3,7' '\x010:0;1:2' '\x00+n1'
words hostfile 'h1 slots=4\nh2:2 # two\nh3 max_slots=8\n' '10.0.0.1 h1 h1.x.org\n' 'Host h1 h2\n  HostName 10.0.0.1\n'
words file_list 'cat/1.jpg 0\ndog/2.jpg 1\n'
words program_list '- {ranks: 0-1, program: [./a, "--task={group_rank}"]}\n- {hosts: h2, program: ./b, set: {A: b}}\n'
words ssh_messages '\x03Welcome\nddlrun-start ready abc\n' '\x07out 3 0 5\nhello' '\x01ended 1 9 0\nack 0 0 0\n'
words ssh_launcher '\x03ended 0 0 0\nended 1 0 0\n' '\x03out 0 0 3\nhi\nended 1 265 0\nended 2 0 0\n' \
  '\x03refused 0 3 5\na\nb\nc' '\x02Permission denied'
words ssh_daemon '\x02start 0 0 0\n' '\x06start 0 0 0\ninput 0 0 3\nabc' '\x02start 0 0 0\nsignal 15 0 0\nend 1 0 0\nstop 0 0 0\n'
words rank_output 'ddlrun-t0k3n x\n'
mkdir -p "$out/cifar"
head -c 3074 /dev/zero > "$out/cifar/ten"
words fix_script '\x00halimits.memlock.soft=65536'
