# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Programs that cannot start, and ranks that die.
first_named='Process name:' # where mpirun says which rank ended first
spread=(--map-by node -H "$h1:2,$h2:2" --oversubscribe)
four() { broken "${mpirun[@]}" -n 4 "${spread[@]}" "$@"; }
four_until() { broken_until "$1" "${mpirun[@]}" -n 4 "${spread[@]}" "${@:2}"; }

kind program_nowhere "C22|C23" - - "the program exists on no host"
in_mpi_5 program_nowhere Z7 - 0
break_program_nowhere() { four bin/nosuch; }
kind program_not_on_one_host "C23|C22" "$h2" - "the program lies in /tmp of the launch host only"
in_mpi_5 program_not_on_one_host Z7 "$h2" 1
break_program_not_on_one_host() {
  local_file "$h1" worker < "$home/bin/worker"
  four /tmp/job/worker
}
kind program_not_executable "C23|C22" - - "the program has no x bit"
in_mpi_5 program_not_executable Z7 - 0
break_program_not_executable() {
  home_file bin/plain 644 < "$home/bin/worker"
  four bin/plain
}
kind workdir_not_on_one_host C24 "$h2" - "the working directory exists on the launch host only"
in_mpi_5 workdir_not_on_one_host Z8 "$h2" 1
break_workdir_not_on_one_host() {
  as_root "$h1" mkdir -m 755 -p /tmp/here
  undo as_root "$h1" rmdir /tmp/here
  four -wdir /tmp/here "/home/$user/bin/worker"
}
kind program_library "E15|V209" - - "the program lacks a library on every host"
break_program_library() {
  sed 's/libmpi\.so\.40/libmpi.so.39/' "$home/bin/worker" | home_file bin/old_worker 755
  four bin/old_worker
}
kind rank_killed E1 "$h2" 1 "SIGKILL to rank 1, as the kernel does when memory is short"
# Its peers may end first, and mpirun then names one of them.
in_mpi_5 rank_killed "E1|Z10|Z17"
break_rank_killed() { four bin/worker kill 1; }
kind rank_segv E2 "$h2" 3 "a segmentation fault in rank 3"
in_mpi_5 rank_segv "E2|Z17"
break_rank_segv() { four bin/worker segv 3; }
kind rank_bus "F35|-" "$h2" 1 "SIGBUS in rank 1" "signal 7 (Bus error)"
in_mpi_5 rank_bus "E29|-" - - "Bus error"
break_rank_bus() { four bin/worker bus 1; }
kind rank_aborts "F35|-" "$h2" 1 "abort() in rank 1" "signal 6 (Aborted)"
in_mpi_5 rank_aborts "F35|E30" "$h2"
break_rank_aborts() { four bin/worker abort 1; }
kind rank_exits_7 - - 1 "rank 1 ends with status 7" "Exit code: 7|exit status 7"
break_rank_exits_7() { four_until "$first_named" bin/worker exit 1; }
kind rank_leaves E4 - 1 "rank 1 ends with status 0 without MPI_Finalize"
in_mpi_5 rank_leaves "Z16|Z10|Z17"
break_rank_leaves() { four bin/worker leave 1; }
kind rank_calls_abort - - 1 "MPI_Abort in rank 1" "MPI_ABORT was invoked on rank 1"
break_rank_calls_abort() { four bin/worker mpi_abort 1; }
kind early_exit - - - "every rank ends with status 5 before MPI_Init" "a non-zero exit code"
in_mpi_5 early_exit - - - "Exit code: 5|exit status 5"
break_early_exit() { four bin/worker early; }
kind receive_too_little - - 1 "rank 1 receives less than is sent: MPI_ERR_TRUNCATE" "MPI_ERR_TRUNCATE"
break_receive_too_little() { four bin/worker truncate; }
kind out_of_memory - "$h1" 2 "rank 2 meets its memory limit: std::bad_alloc" "std::bad_alloc"
in_mpi_5 out_of_memory - - - "std::bad_alloc"
break_out_of_memory() { four sh -c 'ulimit -v 2000000; exec bin/worker hog 2'; }
kind memlock_verbs A1 "$h2" - "64 KiB of locked memory on one host: what verbs prints"
break_memlock_verbs() {
  shell_line_on "$h2" 'ulimit -l 64'
  four bin/worker verbs
}
kind memlock_ucx A4 "$h2" - "64 KiB of locked memory on one host: what UCX prints"
break_memlock_ucx() {
  shell_line_on "$h2" 'ulimit -l 64'
  four bin/worker ucx
}
kind memlock_openib A3 "$h2" - "64 KiB of locked memory on one host: Open MPI's own help topic, through its aggregation"
in_mpi_5 memlock_openib
break_memlock_openib() {
  shell_line_on "$h2" 'ulimit -l 64'
  four bin/worker openib
}
kind traceback - - 2 "a Python exception in rank 2 of 4; the others die of it" "label of image 1187"
break_traceback() {
  home_file train.py << 'PY'
import ctypes, os, time
mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
mpi.MPI_Init(None, None)
world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
mpi.MPI_Barrier(world)
def load_batch(step):
    if os.environ["OMPI_COMM_WORLD_RANK"] == "2":
        raise KeyError("label of image 1187")
for step in range(1000):
    load_batch(step)
    mpi.MPI_Barrier(world)
PY
  four_until "$first_named" python3 train.py
}
kind traceback_tagged - - 2 "the same with --tag-output" "label of image 1187"
break_traceback_tagged() { four_until "$first_named" --tag-output python3 train.py; }
kind port_in_use D38 - 0 "MASTER_PORT is taken on the first host"
in_mpi_5 port_in_use D38  # on busy hosts mpirun 5.0.7 ends without its message, and no line has the rank
break_port_in_use() {
  home_file store.py << 'PY'
import os, socket
if os.environ["OMPI_COMM_WORLD_RANK"] == "0":
    s = socket.socket()
    s.bind(("", int(os.environ["MASTER_PORT"])))
    s.listen()
PY
  as_root "$h1" timeout 20 python3 -c 'import socket, time; s = socket.create_server(("", 29500)); time.sleep(20)' &
  local listener=$!
  undo wait "$listener"
  undo kill "$listener"
  sleep 0.5
  four_until "$first_named" -x MASTER_PORT=29500 python3 store.py
}
kind script_interpreter X42 - - "the program is a script whose interpreter no host has"
in_mpi_5 script_interpreter Z9
break_script_interpreter() {
  local tries=0
  printf '#!/opt/none/bin/python3\nprint("hello")\n' | home_file train_me 755
  # Open MPI 5.0.7 exits with 141 (SIGPIPE), in one of three runs with 1; it prints the reason in neither case.
  until [ $((++tries)) -gt 8 ]; do
    : > "$log"
    four ./train_me
    [ "$mpi_major $status" = "5 1" ] || break
  done
  silent_in_mpi_5
}
kind script_interpreter_in_shell X42 - - "the same, started by a shell script"
break_script_interpreter_in_shell() {
  printf '#!/opt/none/bin/python3\nprint("hello")\n' | home_file train_me 755
  printf '#!/bin/bash\n./train_me\n' | home_file start_me 755
  broken ./start_me
}
kind no_python - - - "the program calls a command that the hosts have not" "python2.4: command not found"
break_no_python() {
  printf '#!/bin/bash\npython2.4 train.py\n' | home_file start_me 755
  four ./start_me
}
kind library_on_one_host E15 - 1 "a library of the program is on the launch host only"
break_library_on_one_host() {
  local_file "$h1" libmpj.so.40 < "$(ldd "$home/bin/worker" | awk '/libmpi\.so/ { print $3 }')"
  sed 's/libmpi\.so\.40/libmpj.so.40/' "$home/bin/worker" | home_file bin/own_worker 755
  broken_until "$first_named" "${mpirun[@]}" -n 2 -H "$h1:1,$h2:1" -x LD_LIBRARY_PATH=/tmp/job bin/own_worker
}
