# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Faults on the way to a host: keys, sshd, start-up files, interfaces, the host itself.

ssh_says() { # HOST TEXT
  ! reach "$1" true && grep -qF "$2" "$work/ssh.err.$1"
}

fault no_key SSH-01 quick fail each "the host does not know the user's key"
inject_no_key() { for host; do on_disk "$host" 'rm -f /run/keys'; sshd_lines "$host" 'AuthorizedKeysFile /run/keys'; done; }
repair_no_key() { for host; do on_disk "$host" 'cat /home/ddl/.ssh/id_ed25519.pub > /run/keys'; done; } # ssh-copy-id
undo_no_key() { each sshd_plain "$@"; }
shows_no_key() { ssh_says "$1" "Permission denied (publickey)"; }

fault unknown_host_key SSH-02 quick 'warn|fail' each "known_hosts lacks the host"
inject_unknown_host_key() { for host; do sed -i "/^$host,/d" "$lab_home/.ssh/known_hosts"; done; }
repair_unknown_host_key() { # after its fingerprint was compared
  for host; do on "$head" bash -c 'ssh-keyscan -t ed25519 "$1" 2> /dev/null >> ~/.ssh/known_hosts' bash "$host"; done
}
shows_unknown_host_key() { ssh_says "$1" "Host key verification failed" && ! grep -q CHANGED "$work/ssh.err.$1"; }
undo_unknown_host_key() { restore_known_hosts; }

fault changed_host_key SSH-02 quick fail each "the host has another key than known_hosts says"
inject_changed_host_key() {
  for host; do
    ssh-keygen -q -t ed25519 -N '' -f "$LAB_DIR/$host/hostkey2"
    sshd_lines "$host" "HostKey $LAB_DIR/$host/hostkey2"
  done
}
repair_changed_host_key() {
  for host; do
    on "$head" bash -c 'ssh-keygen -R "$1" > /dev/null 2>&1; ssh-keyscan -t ed25519 "$1" 2> /dev/null >> ~/.ssh/known_hosts' bash "$host"
  done
}
undo_changed_host_key() {
  for host; do rm -f "$LAB_DIR/$host"/hostkey2*; done
  each sshd_plain "$@"
  restore_known_hosts
}
shows_changed_host_key() { ssh_says "$1" "REMOTE HOST IDENTIFICATION HAS CHANGED"; }

fault noisy SSH-04 quick 'warn|fail' each "a start-up file prints a line"
inject_noisy() { for host; do bashrc_line "$host" 'echo Welcome to this cluster'; done; }
repair_noisy() { bashrc_clean "$@"; }
shows_noisy() { [ "$(reach "$1" true | wc -c)" -gt 0 ]; }

fault very_noisy SSH-04 quick fail each "a start-up file prints 8 KB"
inject_very_noisy() { for host; do bashrc_line "$host" 'seq 2000'; done; }
repair_very_noisy() { bashrc_clean "$@"; }
shows_very_noisy() { [ "$(reach "$1" true | wc -c)" -gt 4096 ]; }

fault no_orted SSH-05 quick fail each "Open MPI is not on the path of a non-interactive login"
inject_no_orted() { for host; do sshd_lines "$host" 'SetEnv PATH=/home/ddl/lean'; done; }
repair_no_orted() { each sshd_plain "$@"; }
shows_no_orted() { ! reach "$1" command -v "$(mpi_daemon)" > /dev/null && [ -z "$(cat "$work/ssh.err.$1")" ]; }

# A connection that never logs in takes sshd's only place.
fault few_connections SSH-06 quick fail each "sshd drops connections: MaxStartups"
inject_few_connections() {
  for host; do
    sshd_lines "$host" 'MaxStartups 1:100:1'
    # shellcheck disable=SC2016
    as_root "$head" setsid bash -c '
      until exec 3<> "/dev/tcp/$1/22" && read -r -t 1 -u 3; do sleep 0.1; done
      echo $$ > "/run/idle.$1"
      exec sleep 110' bash "$host" > /dev/null 2>&1 &
    wait_until 5 as_root "$head" test -s "/run/idle.$host"
  done
}
repair_few_connections() { for host; do sshd_lines "$host" 'MaxStartups 100:30:300'; done; }
undo_few_connections() {
  for host; do on_disk "$head" 'kill $(cat "/run/idle.$1"); rm "/run/idle.$1"' "$host"; done
  wait
  each sshd_plain "$@"
}
# OpenSSH 9.2's words or those of 10.0.
shows_few_connections() { ! reach "$1" true && grep -qE 'kex_exchange_identification|Connection closed by' "$work/ssh.err.$1"; }

fault forwarding SSH-08 quick warn named:node "ssh's configuration forwards the agent to the host"
inject_forwarding() { for host; do printf 'Host %s\n  ForwardAgent yes\n' "$host" >> "$lab_home/.ssh/config"; done; chown 2000:2000 "$lab_home/.ssh/config"; }
repair_forwarding() { rm "$lab_home/.ssh/config"; }
shows_forwarding() { on "$head" ssh -G "$1" true | grep -q '^forwardagent yes'; }

fault slow_login NAME-08 quick warn each "it takes 6 s until a command runs"
inject_slow_login() { for host; do bashrc_line "$host" 'sleep 6'; done; }
repair_slow_login() { bashrc_clean "$@"; }
shows_slow_login() {
  local begun
  begun=$(now_ms)
  reach "$1" true && [ $(($(now_ms) - begun)) -ge 6000 ]
}

fault sshd_off SSH-01 quick fail each "sshd does not run"
inject_sshd_off() { for host; do lab sshd "$host" off; done; }
repair_sshd_off() { each sshd_plain "$@"; }
shows_sshd_off() { ssh_says "$1" "Connection refused"; }

fault sshd_hangs SSH-01 quick fail each "sshd takes connections and says nothing"
inject_sshd_hangs() { for host; do on_disk "$host" 'kill -STOP $(cat /run/sshd.pid)'; done; }
repair_sshd_hangs() { for host; do on_disk "$host" 'kill -CONT $(cat /run/sshd.pid)'; done; }
shows_sshd_hangs() { ssh_says "$1" "timed out"; }

fault link_down SSH-01 quick fail each "eth0 is down"
inject_link_down() { for host; do lab link "$host" eth0 down; done; }
repair_link_down() { for host; do lab link "$host" eth0 up; done; }
shows_link_down() { ! connects "$head" "$1" 22 && connects "$head" "ib$(number "$1")" 22; }

fault host_down SSH-01 quick fail each "the host is off"
inject_host_down() { for host; do lab stop "$host"; done; }
repair_host_down() { for host; do lab start "$host" && furnish "$host"; done; }
shows_host_down() { ! connects "$head" "$1" 22 && ! connects "$head" "ib$(number "$1")" 22; }

# mpirun's daemons start each other along a tree; with two children each, the head reaches node1 and node2 only.
fault no_node_ssh SSH-03 full fail each "the head reaches sshd, other nodes do not"
inject_no_node_ssh() {
  doctor_environment=(OMPI_MCA_routed_radix=2)
  for host; do drop "$host" "ip saddr != 10.1.1.5 tcp dport 22 drop"; done
}
arguments_no_node_ssh() { printf '%s\n' --skip MPI-06; } # mpirun would hang for its whole minute
repair_no_node_ssh() { each pass_all "$@"; }
expected_no_node_ssh() { # who cannot log in to its child in the tree
  [[ " $* " != *" node3 "* ]] || echo node1
  [[ " $* " != *" node4 "* ]] || echo node2
}
undo_no_node_ssh() { doctor_environment=(); }
shows_no_node_ssh() {
  local other=node1
  [ "$1" != node1 ] || other=node2
  connects "$head" "$1" 22 && ! connects "$other" "$1" 22
}
