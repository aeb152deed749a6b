# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# Faults in files, disks, identity and time.

fault data_missing DATA-01 quick fail each "the data are not there"
inject_data_missing() { for host; do on "$host" mv /tmp/job/data /tmp/away; done; }
repair_data_missing() { for host; do on "$host" rm -rf /tmp/job/data; on "$head" scp -qrp /tmp/job/data "$host:/tmp/job/data"; done; }
undo_data_missing() { for host; do on "$host" rm -r /tmp/away; done; }
shows_data_missing() { ! reach "$1" ls /tmp/job/data > /dev/null; }

fault data_differ DATA-01 quick fail odd "a data file is shorter"
inject_data_differ() { for host; do on "$host" truncate -s 100 /tmp/job/data/part8; done; }
repair_data_differ() { for host; do on "$head" scp -qp /tmp/job/data/part8 "$host:/tmp/job/data/"; done; }
shows_data_differ() { [ "$(reach "$1" stat -c %s /tmp/job/data/part8)" = 100 ]; }

fault data_unreadable DATA-02 quick fail each "the user may not read a data file"
inject_data_unreadable() { for host; do on_disk "$host" 'chown 0:0 /tmp/job/data/part1; chmod 600 /tmp/job/data/part1'; done; }
repair_data_unreadable() { for host; do on_disk "$host" 'chown 2000:2000 /tmp/job/data/part1; chmod 644 /tmp/job/data/part1'; done; }
shows_data_unreadable() { ! reach "$1" cat /tmp/job/data/part1 > /dev/null; }

# The same name with another number, as two user directories that were never joined have it.
fault other_uid DATA-02 quick fail odd "the user has another uid"
inject_other_uid() {
  for host; do
    on_disk "$host" 'cat /home/ddl/.ssh/id_ed25519.pub > /run/keys; sed -i "s/^ddl:x:2000:/ddl:x:2001:/" /etc/passwd'
    sshd_lines "$host" 'AuthorizedKeysFile /run/keys'
  done
}
repair_other_uid() { for host; do on_disk "$host" 'sed -i "s/^ddl:x:2001:/ddl:x:2000:/" /etc/passwd'; done; }
undo_other_uid() { each sshd_plain "$@"; }
shows_other_uid() { [ "$(reach "$1" id -u)" = 2001 ]; }

fault full_disk DISK-01 quick fail each "/tmp is full"
inject_full_disk() { for host; do on_disk "$host" 'mount -o remount,size=1200m /tmp && fallocate -l 1190m /tmp/filler'; done; }
repair_full_disk() { for host; do on_disk "$host" 'rm /tmp/filler; mount -o remount,size=50% /tmp'; done; }
shows_full_disk() { ! reach "$1" 'head -c 20M /dev/zero > /tmp/probe; s=$?; rm -f /tmp/probe; exit $s'; }

fault no_inodes DISK-01 quick fail each "/tmp takes no more files"
inject_no_inodes() { for host; do on_disk "$host" 'mount -o remount,nr_inodes=100 /tmp; mkdir /tmp/many; cd /tmp/many; touch $(seq 200) 2> /dev/null; true'; done; }
repair_no_inodes() { for host; do on_disk "$host" 'rm -r /tmp/many; mount -o remount,nr_inodes=1m /tmp'; done; }
shows_no_inodes() { ! reach "$1" 'touch /tmp/probe && rm /tmp/probe'; }

fault read_only DISK-02 quick fail each "/tmp is mounted read-only"
inject_read_only() { for host; do on_disk "$host" 'mount -o remount,ro /tmp'; done; }
repair_read_only() { for host; do on_disk "$host" 'mount -o remount,rw /tmp'; done; }
shows_read_only() { ! reach "$1" touch /tmp/probe && grep -q 'Read-only' "$work/ssh.err.$1"; }

long_name=/tmp/$(printf 'scratch-of-a-very-careful-site/%.0s' 1 2 3)
fault long_tmpdir DISK-03 quick fail each "TMPDIR is too long for the sockets that Open MPI makes in it"
inject_long_tmpdir() { for host; do on "$host" mkdir -p "$long_name"; bashrc_line "$host" "export TMPDIR=$long_name"; done; }
repair_long_tmpdir() { bashrc_clean "$@"; }
shows_long_tmpdir() { [ "$(reach "$1" 'printf %s "$TMPDIR" | wc -c')" -gt 80 ]; }

fault private_directory DIR-01 quick fail each "the working directory is not the shared one"
inject_private_directory() { for host; do on_disk "$host" 'mkdir -p /tmp/own; chown 2000:2000 /tmp/own; mount --bind /tmp/own /home/ddl/run'; done; }
repair_private_directory() { for host; do on_disk "$host" 'umount /home/ddl/run'; done; }
shows_private_directory() { on "$head" touch run/token && ! reach "$1" test -e run/token; }

# Time namespaces do not cover the clock on the wall; a library preloaded into every session does.
fault clock TIME-01 quick 'warn|fail' each "the clock is two minutes ahead"
inject_clock() { for host; do sshd_lines "$host" "SetEnv LD_PRELOAD=$(fake_time_library) FAKETIME=+120s FAKETIME_NO_CACHE=1"; done; }
repair_clock() { each sshd_plain "$@"; }
shows_clock() { [ $(($(reach "$1" date +%s) - $(date +%s))) -gt 60 ]; }
fake_time_library() { compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1'; }

fault writable_hosts SEC-02 quick fail job "anybody may write the hostfile"
inject_writable_hosts() { chmod 666 "$lab_home/hosts"; }
repair_writable_hosts() { chmod 644 "$lab_home/hosts"; }
shows_writable_hosts() { [ "$(stat -c %a "$lab_home/hosts")" = 666 ]; }

fault secret SEC-01 quick 'warn|fail' job "a token is handed to all ranks"
inject_secret() { doctor_environment=(WANDB_API_KEY=0123456789abcdef); doctor_more=(-x WANDB_API_KEY); }
repair_secret() { doctor_environment=(); doctor_more=(); }
shows_secret() { [ "${#doctor_more[@]}" -gt 0 ]; }
