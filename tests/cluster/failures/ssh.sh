# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# The way to the hosts, and the daemon that mpirun starts there.
both() { broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" "$@" bin/worker; }

kind no_key C4 "$h2" - "the user's key is not accepted on one host"
break_no_key() {
  sshd_with "$h2" "AuthorizedKeysFile /etc/ssh/nobody_keys"
  both
}
kind unknown_host_key C3 - - "one host's key is not in known_hosts"
break_unknown_host_key() {
  cp -p "$home/.ssh/known_hosts" "$work/known_hosts"
  undo cp -p "$work/known_hosts" "$home/.ssh/known_hosts"
  grep -v "$h2" "$work/known_hosts" > "$home/.ssh/known_hosts"
  both
}
kind changed_host_key X2 - - "another key behind one host's name"
break_changed_host_key() {
  cp -p "$home/.ssh/known_hosts" "$work/known_hosts"
  undo cp -p "$work/known_hosts" "$home/.ssh/known_hosts"
  ssh-keygen -q -t ed25519 -N '' -f "$work/other_key" <<< y > /dev/null
  { grep -v "$h2" "$work/known_hosts"; echo "$h2 $(cut -d' ' -f1,2 "$work/other_key.pub")"; } > "$home/.ssh/known_hosts"
  both
}
kind sshd_down X47 "$h2" - "no sshd on one host"
break_sshd_down() {
  lab sshd "$h2" off
  undo lab sshd "$h2"
  both
}
kind sshd_full "C7|U96" - - "sshd at its MaxStartups; OpenSSH 9.8 and later have other words"
break_sshd_full() {
  sshd_with "$h2" "MaxStartups 1"
  as_root "$h1" timeout 20 bash -c 'exec 3<> "/dev/tcp/$1/22"; sleep 20' bash "$h2" &
  local holder=$!
  undo wait "$holder"
  undo kill "$holder"
  sleep 0.3
  both
}
kind unknown_name C5 nosuchhost - "a host name that nothing resolves"
break_unknown_name() { broken "${mpirun[@]}" -n 2 -H "$h1:1,nosuchhost:1" bin/worker; }
kind link_down C6 "$h2" - "one host's link is down"
break_link_down() {
  lab link "$h2" eth0 down
  undo lab link "$h2" eth0 up
  both --mca plm_rsh_args '-o ConnectTimeout=4'  # else the kernel's own limit, up to two minutes
}
kind no_ssh C10 - - "the agent named for ssh does not exist"
break_no_ssh() { both --mca plm_rsh_agent /opt/none/bin/ssh; }

kind no_orted C2 - - "orted is not on the PATH of one host's shells"
# Open MPI 5 in /usr starts the daemon by its full path.
break_no_orted() {
  if [ "$mpi_major" = 5 ]; then
    both --prtemca prte_launch_agent /opt/none/bin/prted
    return
  fi
  shell_line_on "$h2" 'PATH=/opt/none/bin'
  both
}
kind orted_library "E15|C16|U58" - - "orted of one host lacks a library"
break_orted_library() {
  if [ "$mpi_major" = 5 ]; then
    local_copy "$h2" "$(command -v prted)" prted 'libprrte\.so\.3' libprrte.so.2
    both --prtemca prte_launch_agent /tmp/job/prted
    return
  fi
  local_copy "$h2" "$(command -v orted)" orted 'libopen-rte\.so\.40' libopen-rte.so.39
  shell_line_on "$h2" 'PATH=/tmp/job:$PATH'
  both
}
kind orted_version C17 - - "the daemon of one host is another Open MPI's (4.1 says 4.0.0 on the wire, this one 3.1.0)"
break_orted_version() {
  local plugins library
  if [ "$mpi_major" = 5 ]; then
    library=$(ldd "$(command -v prted)" | awk '/libprrte/ { print $3 }')
    local_copy "$h2" "$library" libprrte.so.3 '3\.0\.' 2.9.
    shell_line_on "$h2" "export LD_LIBRARY_PATH=/tmp/job"
    both
    return
  fi
  plugins=$(ompi_info --path pkglibdir --parsable | sed 's/.*://')
  local_copy "$h2" "$plugins/mca_oob_tcp.so" mca_oob_tcp.so '4\.0\.' 3.1.
  shell_line_on "$h2" "export OMPI_MCA_mca_base_component_path=/tmp/job:$plugins"
  both
}
kind root_refused C21 - - "mpirun as root"
break_root_refused() {
  status=0
  as_root "$h1" timeout 20 env -u OMPI_ALLOW_RUN_AS_ROOT -u OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
    mpirun -n 1 hostname > "$log" 2>&1 < /dev/null || status=$?
}
kind tmp_read_only - "$h2" - "/tmp of one host cannot be written" "Read-only file system"
in_mpi_5 tmp_read_only Z13
break_tmp_read_only() {
  as_root "$h2" mount -o remount,ro /tmp
  undo as_root "$h2" mount -o remount,rw /tmp
  # Without the option Open MPI 5 drops what the daemon says.
  if [ "$mpi_major" = 5 ]; then both --leave-session-attached; else both; fi
}
kind too_many_files "C25|X52" "$h1" - "a limit of open files too low for mpirun, which says so in many ways"
in_mpi_5 too_many_files Z11 "$h1"
break_too_many_files() { broken sh -c 'ulimit -n 18; exec mpirun -n 2 -H "$1:2" bin/worker' sh "$h1"; }
kind orted_killed C12 "$h2" - "orted of one host killed during the run"
in_mpi_5 orted_killed Z14 "$h2"
break_orted_killed() {
  kill_when_running "$h2" 'orted|prted' KILL # prted: Open MPI 5
  both_for 20
}
both_for() { broken "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" bin/worker sleep "$1"; }
kind no_mpirun - - - "mpirun is not on the PATH of a job script" "mpirun: command not found"
break_no_mpirun() {
  printf '#!/bin/bash\nPATH=/opt/none/bin\nmpirun -n 2 bin/worker\n' | home_file start_me 755
  broken ./start_me
}
kind option_typo - - - "an option that mpirun has not" "--map-byy"
break_option_typo() { both --map-byy node; }
kind long_tmpdir "C26|-" - - "a TMPDIR too long for the sockets of Python's multiprocessing" "AF_UNIX path too long"
break_long_tmpdir() {
  printf '%s\n' 'import multiprocessing' 'multiprocessing.Manager()' | home_file loaders.py
  broken sh -c 'export TMPDIR="$HOME/$(printf "scratch_of_a_batch_job_%.0s" 1 2 3 4)"
    mkdir "$TMPDIR"; python3 loaders.py; code=$?; rm -r "$TMPDIR"; exit $code'
}
