# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# The home directory goes stale while a launch runs: another file system lies over it, or it becomes read-only. The terminal
# closes.

launch_stale() { # MOUNT LAUNCH OPTIONS... : MOUNT is what happens to node1's /home after a second
  (sleep 1.5; as_root node1 sh -c "$1") &
  local stale=$!
  alive=0 # the end cannot be written
  launch "${@:2}" -- ./rank 30
  wait "$stale"
  as_root node1 umount /home
}
ro='mount --bind /home /home && mount -o remount,bind,ro /home'
gone='mount -t tmpfs tmpfs /home'
row launch 'the home directory' 'becomes read-only' 0 'record of the run is not complete.*Read-only' launch_stale "$ro"
row launch 'the home directory' 'is replaced' 0 'record of the run is not complete' launch_stale "$gone"
[ -z "$full" ] || {
  row launch 'the home directory' 'becomes read-only' 0 'not kept any more' launch_stale "$ro" --rank-output files
  row 'launch, ssh' 'the home directory' 'becomes read-only' 0 'record of the run is not complete.*Read-only' launch_stale "$ro" --launcher ssh
  row 'launch, ssh' 'the home directory' 'is replaced' 0 'record of the run is not complete' launch_stale "$gone" --launcher ssh
}

# HUP comes with the end of the terminal, and ends the job on all hosts, as ctrl-C would.
cat > "$lab_home/bin/terminal.py" << 'END'
import os, pty, signal, sys
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while b"begin" not in text:
    text += os.read(fd, 4096)
os.close(fd)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
END
launch_hup() {
  status=0
  on node1 python3 bin/terminal.py "$tool" launch 1x2x1 "$(IFS=,; echo "${hosts[*]}")" --sockets 1 --cores 2 "$@" -- ./rank 100 \
    > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
}
row launch 'the terminal closes' 'while ranks run' 129 - launch_hup
row 'launch, ssh' 'the terminal closes' 'while ranks run' 129 - launch_hup --launcher ssh
