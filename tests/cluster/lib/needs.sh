# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced. What a machine must have for a lab; where it lacks something, 125 and "skipped: why".

need_tools() { # PACKAGES TOOL...
  local tool
  PATH=$PATH:/usr/sbin:/sbin
  for tool in "${@:2}"; do
    command -v "$tool" > /dev/null || skip "no $tool here (apt-get install $1)"
  done
}

# A chroot's root is no mount point, so its hosts must get a root of their own; that is private only if the mount
# below it is not shared with the rest of the machine.
in_chroot() { ! unshare --mount --propagation private true 2> /dev/null; }
chroot_is_shared() {
  local root id
  exec {root}< /
  id=$(sed -n 's/^mnt_id:[[:space:]]*//p' "/proc/$$/fdinfo/$root")
  exec {root}<&-
  grep -qE "^$id .* shared:" /proc/1/mountinfo 2> /dev/null
}

check_needs() {
  [ "$(id -u)" -eq 0 ] || skip "virtual hosts need root"
  [ -r /proc/self/stat ] || skip "/proc is not mounted"
  need_tools "openssh-server iproute2 util-linux" sshd ssh-keygen ip unshare nsenter setpriv prlimit
  LAB_PROPAGATION=private
  if in_chroot; then
    LAB_PROPAGATION=unchanged
    ! chroot_is_shared || skip "this chroot lies on a shared mount (mount --bind its directory onto itself, make that private)"
  fi
  export LAB_PROPAGATION
  local why
  why=$(unshare --net --uts --mount --ipc --pid --fork --propagation "$LAB_PROPAGATION" bash -e 2>&1 << 'PROBE'
hostname probe
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmpfs /tmp
ip link add e0 type veth peer name e1
ip link add b0 type bridge
PROBE
  ) || skip "this machine gives no namespaces: ${why%%$'\n'*}"
}
