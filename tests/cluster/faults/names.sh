# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Faults in names: rankfile and hostfile against each other, /etc/hosts, aliases.

# mpirun's own judgement of one host's line of the rankfile.
mpirun_refuses() { # HOST PATTERN: it ends badly and says PATTERN
  local line
  line=$(grep -m 1 -E "=[^ ]*[^0-9 ]?$(number "$1")( |\$)" "$lab_home/job.rf" | sed 's/^rank [0-9]*/rank 0/')
  echo "$line" > "$lab_home/$1.rf"
  on "$head" "${mpirun_short[@]}" -n 1 --hostfile hosts --rankfile "$1.rf" true > "$work/mpirun.$1" 2>&1 && return 1
  grep -qE "$2" "$work/mpirun.$1"
}

# Open MPI 5 breaks its line before "allocated".
not_allocated='claimed that a host was either not|not allocated or oversubscribed|allocated for this job are already filled'

fault rankfile_name NAME-02 quick fail named:ib "the rankfile has the name of the second interface"
inject_rankfile_name() { for host; do sed -i "s/=$host /=ib$(number "$host") /" "$lab_home/job.rf"; done; }
repair_rankfile_name() { for host; do sed -i "s/=ib$(number "$host") /=$host /" "$lab_home/job.rf"; done; }
shows_rankfile_name() { mpirun_refuses "$1" "$not_allocated"; }

fault unknown_alias NAME-02 quick fail named:gpu "the rankfile has an alias that the allocation lacks"
inject_unknown_alias() {
  for host; do
    for at in "${hosts[@]}" "$head"; do
      on_disk "$at" 'echo "$1" >> /etc/hosts' "10.1.1.$(number "$host") gpu$(number "$host")"
    done
    sed -i "s/=$host /=gpu$(number "$host") /" "$lab_home/job.rf"
  done
}
repair_unknown_alias() { for host; do sed -i "s/=gpu$(number "$host") /=$host /" "$lab_home/job.rf"; done; }
shows_unknown_alias() { mpirun_refuses "$1" "$not_allocated"; }

fault no_address NAME-01 quick fail each "the head cannot resolve the host's name"
inject_no_address() { for host; do on_disk "$head" 'sed "/ $1\$/d" /etc/hosts > /etc/h; cat /etc/h > /etc/hosts' "$host"; done; }
repair_no_address() { for host; do on_disk "$head" 'echo "$1" >> /etc/hosts' "10.1.1.$(number "$host") $host"; done; }
shows_no_address() { ! on "$head" getent hosts "$1" > /dev/null; }

fault loopback_name NAME-03 quick 'warn|fail' each "the host's own name is 127.0.1.1, as Debian's installer writes it"
inject_loopback_name() { for host; do on_disk "$host" 'sed "1i 127.0.1.1 $1" /etc/hosts > /etc/h; cat /etc/h > /etc/hosts' "$host"; done; }
repair_loopback_name() { for host; do on_disk "$host" 'sed "/^127.0.1.1/d" /etc/hosts > /etc/h; cat /etc/h > /etc/hosts'; done; }
shows_loopback_name() { reach "$1" getent ahostsv4 "$1" | grep -q '^127\.0\.1\.1 '; }

fault other_table NAME-04 quick fail odd "the host's /etc/hosts gives another address for node1"
inject_other_table() { for host; do on_disk "$host" 'sed "s/^10.1.1.1 /10.1.1.77 /" /etc/hosts > /etc/h; cat /etc/h > /etc/hosts'; done; }
repair_other_table() { for host; do on_disk "$host" 'sed "s/^10.1.1.77 /10.1.1.1 /" /etc/hosts > /etc/h; cat /etc/h > /etc/hosts'; done; }
shows_other_table() { reach "$1" getent hosts node1 | grep -q '^10\.1\.1\.77 '; }

fault underscore NAME-05 quick fail named:node_ "a name with _ in hostfile and rankfile"
inject_underscore() {
  for host; do
    for at in "${hosts[@]}" "$head"; do
      on_disk "$at" 'echo "$1" >> /etc/hosts' "10.1.1.$(number "$host") node_$(number "$host")"
    done
    sed -i "s/^$host,/node_$(number "$host"),$host,/" "$lab_home/.ssh/known_hosts"
    sed -i "s/\b$host /node_$(number "$host") /" "$lab_home/job.rf" "$lab_home/hosts"
  done
}
repair_underscore() { for host; do sed -i "s/\bnode_$(number "$host") /$host /" "$lab_home/job.rf" "$lab_home/hosts"; done; }
undo_underscore() { restore_known_hosts; }
shows_underscore() { mpirun_refuses "$1" "illegal character"; }

fault long_line NAME-06 quick fail job "a line of the rankfile that Open MPI's reader cannot hold"
inject_long_line() { for host; do sed -i "s/=$host slot=.*/=$host slot=$(printf '0,%.0s' {1..400})0/" "$lab_home/job.rf"; done; }
repair_long_line() { for host; do sed -i "s/=$host slot=.*/=$host slot=0:0/" "$lab_home/job.rf"; done; }
shows_long_line() { mpirun_refuses "$1" ""; }

fault two_names NAME-07 quick fail named:node "one machine under two names in the host list"
inject_two_names() { for host; do echo "ib$(number "$host") slots=2" >> "$lab_home/hosts"; done; }
repair_two_names() { for host; do sed -i "/^ib$(number "$host") /d" "$lab_home/hosts"; done; }
shows_two_names() { # both names of the hostfile lead to one boot
  grep -q "^ib$(number "$1") " "$lab_home/hosts" &&
    [ "$(reach "$1" cat /proc/sys/kernel/random/boot_id)" = "$(reach "ib$(number "$1")" cat /proc/sys/kernel/random/boot_id)" ]
}
