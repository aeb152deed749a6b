# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced. Starts and stops the switch and the hosts; everything a host reads is written into LAB_DIR before.
# shellcheck source=tests/cluster/lib/settings.sh
. "$(dirname "${BASH_SOURCE[0]}")/settings.sh"

write_etc() { # COUNT: what is the same in every host's /etc
  local index file
  mkdir -p "$LAB_DIR/etc"
  {
    echo "127.0.0.1 localhost"
    echo "::1 localhost ip6-localhost ip6-loopback"
    for ((index = 1; index <= $1; index++)); do
      echo "$LAB_ETH_NET.$index $LAB_PREFIX$index"
      echo "$LAB_IB_NET.$index $LAB_IB_PREFIX$index"
    done
  } > "$LAB_DIR/etc/hosts"
  for file in passwd group shadow; do
    grep -v "^$LAB_USER:" "/etc/$file" > "$LAB_DIR/etc/$file"
  done
  echo "$LAB_USER:x:$LAB_UID:$LAB_UID::/home/$LAB_USER:/bin/bash" >> "$LAB_DIR/etc/passwd"
  echo "$LAB_USER:x:$LAB_UID:" >> "$LAB_DIR/etc/group"
  echo "$LAB_USER:*:19000:0:99999:7:::" >> "$LAB_DIR/etc/shadow"
  chmod 644 "$LAB_DIR/etc/passwd" "$LAB_DIR/etc/group"
  chmod 600 "$LAB_DIR/etc/shadow"
}

write_host() { # INDEX: its directory, key and sshd's configuration
  local name directory
  name=$(host_name "$1")
  directory=$LAB_DIR/$name
  mkdir -p "$directory"
  ssh-keygen -q -t ed25519 -N '' -C "$name" -f "$directory/hostkey"
  cat > "$directory/sshd_config" << CONFIG
Port 22
HostKey $directory/hostkey
PidFile /run/sshd.pid
AuthorizedKeysFile .ssh/authorized_keys
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
MaxStartups ${LAB_MAXSTARTUPS:-100}
CONFIG
}

write_home() { # COUNT: the user's keys, and every host's key under all its names
  local index home=$LAB_DIR/home/$LAB_USER name
  mkdir -p "$home/.ssh"
  ssh-keygen -q -t ed25519 -N '' -C "$LAB_USER" -f "$home/.ssh/id_ed25519"
  cp "$home/.ssh/id_ed25519.pub" "$home/.ssh/authorized_keys"
  for ((index = 1; index <= $1; index++)); do
    name=$(host_name "$index")
    echo "$name,$LAB_IB_PREFIX$index,$LAB_ETH_NET.$index,$LAB_IB_NET.$index $(cut -d' ' -f1,2 "$LAB_DIR/$name/hostkey.pub")"
  done > "$home/.ssh/known_hosts"
  chmod 755 "$home"
  chmod 700 "$home/.ssh"
  chmod 600 "$home/.ssh/id_ed25519" "$home/.ssh/authorized_keys"
  chown -R "$LAB_UID:$LAB_UID" "$home"
}

# The switch: a network namespace that holds one bridge for each of the two networks.
start_switch() {
  (
    record_process "$LAB_DIR/switch" "$BASHPID"
    exec setsid env --default-signal unshare --net sleep infinity
  ) < /dev/null > /dev/null 2>&1 &
  record_process "$LAB_DIR/switch" $!
  wait_until 5 switch_is_apart || die "the switch did not start"
  nsenter --target "$(living "$LAB_DIR/switch")" --net ip -batch - << BRIDGES
link add eth type bridge
link add ib type bridge
link set eth up
link set ib up
BRIDGES
}
switch_is_apart() {
  local pid
  pid=$(living "$LAB_DIR/switch") && [ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ] &&
    [ "$(cat "/proc/$pid/comm")" = sleep ]
}

# Signals are set back to their defaults: a background job would hand its ignored ctrl-C to everything in the host.
start_host() { # INDEX
  local directory
  directory=$LAB_DIR/$(host_name "$1")
  rm -f "$directory/ready" "$directory/init" "$directory/process"
  (
    record_process "$directory/process" "$BASHPID"
    exec setsid env --default-signal unshare --net --uts --mount --ipc --pid --fork --kill-child=KILL \
      --propagation "$LAB_PROPAGATION" /bin/bash "$lab_directory/lib/host_init.sh" "$1"
  ) < /dev/null > "$directory/init.log" 2>&1 9< "/proc/$(living "$LAB_DIR/switch")/ns/net" &
  record_process "$directory/process" $! # both write it: the child so that it is never unknown, we so that it is known now
}
wait_host() { # INDEX
  local directory
  directory=$LAB_DIR/$(host_name "$1")
  wait_until 60 ready_or_dead "$directory" && [ -e "$directory/ready" ] && return 0
  echo "lab: $(host_name "$1") did not come up:" >&2
  tail -5 "$directory/init.log" >&2
  return 1
}
ready_or_dead() { [ -e "$1/ready" ] || gone "$1/process"; }

# A host's first process takes all others with it; then unshare, which waits for it, ends. By the kernel's word
# nothing is left in the namespaces when that has happened.
kill_host() { # DIRECTORY
  if gone "$1/init"; then signal_process KILL "$1/process"; else signal_process KILL "$1/init"; fi
}
wait_dead() { # DIRECTORY
  wait_until 30 gone "$1/process" || die "$1: unshare does not end"
  wait_until 30 gone "$1/init" || die "$1: its first process does not end"
}
