# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Sourced: the table of faults, the job they are injected into, and what several of them need.
# A fault NAME is a row of the table and these functions:
#   inject_NAME HOST...   breaks these hosts (or the job's files, as far as they concern these hosts)
#   repair_NAME HOST...   what a user or administrator would do about it
#   shows_NAME HOST       foreign proof: true where the fault is really there (ssh, mpirun, ip, ...; never ddlrun)
#   undo_NAME, settle_NAME HOST...   optional: what a remedy leaves behind; what to wait for after it
#   arguments_NAME        optional: more words for doctor, one a line
faults=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
# shellcheck source=tests/cluster/lab_test.sh
. "$faults/../lab_test.sh"

# fault NAME ID LEVEL VERDICTS SCOPE WORDS
#   LEVEL     quick or full: the level at which it must be found
#   VERDICTS  those that are right, joined by "|"
#   SCOPE     each: the broken hosts are named. odd: those that differ from the others are; no one where all are broken
#             alike. named:PREFIX: the finding may be about the job, but speaks of PREFIX3 if node3 is broken. job: the
#             job itself is wrong: one size, no hosts. first: node1 only.
fault_names=()
declare -A fault_id fault_level fault_verdicts fault_scope fault_words
fault() {
  fault_names+=("$1")
  fault_id[$1]=$2 fault_level[$1]=$3 fault_verdicts[$1]=$4 fault_scope[$1]=$5 fault_words[$1]=$6
}

head=node5 # where doctor runs: a login node, not one of the job's
hosts=(node1 node2 node3 node4)
# The hosts that are broken in each size. Where a half differs from the other, the half with the first host is right.
hosts_of_size() { # SCOPE SIZE
  case $1:$2 in
    job:*) echo "${hosts[*]}" ;;
    first:*) echo node1 ;;
    *:one) echo node3 ;;
    *:half) echo node3 node4 ;;
    *:all) echo "${hosts[*]}" ;;
  esac
}
sizes_of_scope() { # SCOPE WANTED...
  case $1 in job | first) echo one ;; *) echo "${@:2}" ;; esac
}

# The job: one rank a host; data, program and its library lie on each host's own disk, the working directory is shared.
faults_up() {
  lab_up 5
  mkdir -p "$lab_home/run" "$lab_home/job/lib" "$lab_home/job/data" "$lab_home/lean" "$lab_home/ompi3/bin"
  printf 'int lab_value(void) { return 0; }\n' > "$work/lib.c"
  printf 'int lab_value(void);\nint main(void) { return lab_value(); }\n' > "$work/train.c"
  command -v cc > /dev/null || { echo "skipped: no C compiler"; exit 125; }
  cc -shared -fPIC -o "$lab_home/job/lib/liblab.so" "$work/lib.c"
  cc -o "$lab_home/job/train" "$work/train.c" -L"$lab_home/job/lib" -llab -Wl,-rpath,/tmp/job/lib
  for i in 1 2 3 4 5 6 7 8; do head -c $((i * 1000)) /dev/zero | tr '\0' "$i" > "$lab_home/job/data/part$i"; done
  write_other_mpi
  chown -R 2000:2000 "$lab_home"
  restore_job
  for host in "${hosts[@]}" "$head"; do furnish "$host"; done
}
# What is shared or kept in /etc, as it was before any fault or remedy.
restore_job() {
  rm -f "$lab_home/.ssh/config"*
  write_bashrc
  restore_known_hosts
  printf '%s slots=2\n' "${hosts[@]}" > "$lab_home/hosts"
  write_rankfile
  chmod 644 "$lab_home/hosts" "$lab_home/job.rf"
  chown -R 2000:2000 "$lab_home"/{.bashrc,.ssh,hosts,job.rf}
  for host in "${hosts[@]}" "$head"; do
    on_disk "$host" 'cat "$1/etc/hosts" > /etc/hosts; cat "$1/etc/passwd" > /etc/passwd' "$LAB_DIR"
  done
}
# A host's own disk is empty when it starts. systemctl: what doctor's remedies ask systemd for, there is none.
furnish() {
  on "$1" cp -r --preserve=mode,timestamps job /tmp/job
  on_disk "$1" 'mkdir /run/lab; cat > /run/lab/systemctl; chmod 755 /run/lab/systemctl' << SYSTEMCTL
#!/bin/bash
[[ "\$*" =~ ^(restart|reload|enable\ --now)\ ssh\$ ]] || exit 1
{ read -r pid < /run/sshd.pid && [ "\$(cat "/proc/\$pid/comm")" = sshd ] && kill -KILL "\$pid" && sleep 0.1; } 2> /dev/null
rm -f /run/sshd.pid
"\$(command -v sshd)" -f $LAB_DIR/$1/sshd_config -E $LAB_DIR/$1/sshd.log
until [ -s /run/sshd.pid ]; do sleep 0.01; done
SYSTEMCTL
}
write_rankfile() {
  for i in 0 1 2 3; do echo "rank $i=${hosts[i]} slot=0:0"; done > "$lab_home/job.rf"
}
# ~/lean has all programs but Open MPI's; ~/ompi3/bin says that it is another one.
write_other_mpi() {
  local file
  for file in /usr/bin/*; do
    case ${file##*/} in mpi* | ort* | prte* | ompi* | opal* | osh*) ;; *) ln -s "$file" "$lab_home/lean/" ;; esac
  done
  printf '#!/bin/sh\necho "mpirun (Open MPI) 3.1.3"\n' > "$lab_home/ompi3/bin/mpirun"
  printf '#!/bin/sh\necho "orted (OpenRTE) 3.1.3"\n' > "$lab_home/ompi3/bin/orted"
  printf '#!/bin/sh\necho "ompi:version:full:3.1.3"\n' > "$lab_home/ompi3/bin/ompi_info"
  chmod 755 "$lab_home"/ompi3/bin/*
}
# As a user would ask about this job.
doctor_words=(doctor --hostfile hosts --rankfile job.rf --workdir /home/ddl/run --data /tmp/job/data)
program_words=(-- /tmp/job/train)

# Open MPI 5 starts prted.
mpi_major=$(mpirun --version 2> /dev/null | sed -n 's/.*(Open MPI) \([0-9]*\)\..*/\1/p')
mpi_daemon() { if [ "$mpi_major" = 5 ]; then echo prted; else echo orted; fi; }

number() { echo "${1#node}"; }
each() { # FUNCTION HOST...
  local host
  for host in "${@:2}"; do "$1" "$host"; done
}
reach() { on "$head" ssh -o BatchMode=yes -o ConnectTimeout=2 "$@" 2> "$work/ssh.err.$1"; } # HOST COMMAND...
# connects FROM HOST PORT: does the kernel there answer within a second? Quick also where logins are slow.
connects() { on "$1" timeout 1 bash -c '< "/dev/tcp/$1/$2"' bash "$2" "$3" 2> /dev/null; }
# Commands as root there, "$1" and so on given to them.
on_disk() { as_root "$1" bash -c "$2" bash "${@:3}"; }

restore_known_hosts() {
  for i in 1 2 3 4 5; do echo "node$i,ib$i,10.1.1.$i,10.9.1.$i $(cut -d' ' -f1,2 "$LAB_DIR/node$i/hostkey.pub")"; done \
    > "$lab_home/.ssh/known_hosts"
}

# Lines in the shared ~/.bashrc that hold on one host only, above the line that sends non-interactive shells home.
write_bashrc() { printf '# ~/.bashrc\ncase $- in *i*) ;; *) return ;; esac\n' > "$lab_home/.bashrc"; }
bashrc_line() { sed -i "1i [ \"\$HOSTNAME\" != $1 ] || { $2; } # fault" "$lab_home/.bashrc"; }
bashrc_clean() {
  local host
  for host; do sed -i "/!= $host ] .*# fault\$/d" "$lab_home/.bashrc"; done
}

# sshd with lines of its own instead of the plain ones of the same keyword; sshd_plain undoes it.
sshd_lines() { # HOST LINE...
  local config=$LAB_DIR/$1/sshd_config line
  [ -e "$config.plain" ] || cp "$config" "$config.plain"
  cp "$config.plain" "$config"
  for line in "${@:2}"; do sed -i "/^${line%% *} /d" "$config"; done
  printf '%s\n' "${@:2}" >> "$config"
  lab sshd "$1"
}
sshd_plain() {
  [ ! -e "$LAB_DIR/$1/sshd_config.plain" ] || cp "$LAB_DIR/$1/sshd_config.plain" "$LAB_DIR/$1/sshd_config"
  lab sshd "$1"
}
