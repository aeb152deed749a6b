# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Faults in limits, memory file systems, cores and threads, as a login by ssh finds them.

plain_limits() { each sshd_plain "$@"; }
limit_over_ssh() { reach "$1" "ulimit $2"; }

fault memlock LIM-01 quick 'warn|fail' each "64 KiB of lockable memory"
inject_memlock() { for host; do lab sshd "$host" --memlock=65536:65536; done; }
repair_memlock() { plain_limits "$@"; }
shows_memlock() { [ "$(limit_over_ssh "$1" -l)" = 64 ]; }

fault open_files LIM-03 quick fail each "256 open files"
inject_open_files() { for host; do lab sshd "$host" --nofile=256:256; done; }
repair_open_files() { plain_limits "$@"; }
shows_open_files() { [ "$(limit_over_ssh "$1" -n)" = 256 ]; }

fault processes LIM-05 quick 'warn|fail' each "250 processes"
inject_processes() { for host; do lab sshd "$host" --nproc=250:250; done; }
repair_processes() { plain_limits "$@"; }
shows_processes() { [ "$(limit_over_ssh "$1" -u)" = 250 ]; }

fault small_stack LIM-06 quick fail each "a stack of 1 MiB"
inject_small_stack() { for host; do lab sshd "$host" --stack=1048576:unlimited; done; }
repair_small_stack() { plain_limits "$@"; }
shows_small_stack() { [ "$(limit_over_ssh "$1" -s)" = 1024 ]; }

fault small_shm LIM-07 quick fail each "64 MiB in /dev/shm, as containers have it"
inject_small_shm() { for host; do on_disk "$host" 'mount -o remount,size=64m /dev/shm'; done; }
repair_small_shm() { for host; do on_disk "$host" 'mount -o remount,size=50% /dev/shm'; done; }
shows_small_shm() { [ "$(reach "$1" df -m --output=size /dev/shm | tail -1)" -eq 64 ]; }

# sshd bound to one core stands for a container or job with fewer cores than planned; lent only where there are two.
fault few_cores LIM-09 quick fail each "one core where the plan needs two"
inject_few_cores() { for host; do on_disk "$host" 'taskset -p 1 $(cat /run/sshd.pid) > /dev/null'; done; }
repair_few_cores() { plain_limits "$@"; }
arguments_few_cores() { printf '%s\n' --cores-per-rank 2; }
shows_few_cores() { [ "$(reach "$1" nproc)" -eq 1 ]; }

fault slots CPU-02 quick fail each "a slot that the host does not have"
inject_slots() { for host; do sed -i "s/=$host slot=.*/=$host slot=0:99/" "$lab_home/job.rf"; done; }
repair_slots() { for host; do sed -i "s/=$host slot=.*/=$host slot=0:0/" "$lab_home/job.rf"; done; }
shows_slots() { mpirun_refuses "$1" ""; }

fault overlap CPU-03 quick 'warn|fail' each "two ranks on one core"
inject_overlap() { local rank=4; for host; do echo "rank $((rank++))=$host slot=0:0" >> "$lab_home/job.rf"; done; }
repair_overlap() { write_rankfile; }
shows_overlap() { [ "$(grep -c "=$1 slot=0:0" "$lab_home/job.rf")" -eq 2 ]; }

fault order MPI-08 quick fail job "rank 0 is not first, and a rank is missing"
inject_order() { printf 'rank 1=node1 slot=0:0\nrank 0=node2 slot=0:0\nrank 3=node3 slot=0:0\n' > "$lab_home/job.rf"; }
repair_order() { write_rankfile; }
shows_order() { ! grep -q '^rank 2=' "$lab_home/job.rf"; }

fault threads CPU-04 quick fail job "OMP_NUM_THREADS x ranks is more than the cores"
inject_threads() { doctor_environment=("OMP_NUM_THREADS=4096"); }
repair_threads() { doctor_environment=("OMP_NUM_THREADS=1"); }
undo_threads() { doctor_environment=(); }
arguments_threads() { printf '%s\n' -x OMP_NUM_THREADS; }
shows_threads() { [ "${doctor_environment[*]}" = OMP_NUM_THREADS=4096 ] && [ "$(reach "$1" nproc)" -lt 4096 ]; }

fault affinity CPU-05 quick fail job "KMP_AFFINITY that no runtime understands"
inject_affinity() { doctor_environment=("KMP_AFFINITY=granularity=finest,compactly"); }
repair_affinity() { doctor_environment=("KMP_AFFINITY=granularity=fine,compact,1,0"); }
undo_affinity() { doctor_environment=(); }
arguments_affinity() { printf '%s\n' -x KMP_AFFINITY; }
shows_affinity() { [[ ${doctor_environment[*]-} == *compactly* ]]; }
