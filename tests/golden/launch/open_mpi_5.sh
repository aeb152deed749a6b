#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 4x2x1
#host = h1,h2
#dimX = 4
#dimY = 2
#dimZ = 1
#sockets = 2
#cores = 10

rank 0=h1           slot=0:0-4
rank 2=h1           slot=0:5-9
rank 4=h1           slot=1:0-4
rank 6=h1           slot=1:5-9

rank 1=h2           slot=0:0-4
rank 3=h2           slot=0:5-9
rank 5=h2           slot=1:0-4
rank 7=h2           slot=1:5-9


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"h[1-2]","kind_of_host":[0,0],"ranks":["0-6/2","1-7/2"],"kinds":[[{"pus":"0-39","numa":0},{"pus":"40-79","numa":0},{"pus":"80-119","numa":1},{"pus":"120-159","numa":1}]],"groups":[{"first":0,"ranks":8,"set":{}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MKL_NUM_THREADS=5
export OMP_NUM_THREADS=5
export OMP_PLACES=cores
export OMP_PROC_BIND=close

# /bin/sh -c exec "$@" 9< "$0" /runs/one/rankfile  opens the rankfile as descriptor 9: Open MPI 5 refuses a path with '-' or ':'
# -n 8                              the ranks of the plan, so that a cut rankfile is noticed
# --map-by rankfile:file=/dev/fd/9  which rank sits on which host and cores
# --host h1:4,h2:4                  Open MPI 5 does not take the hosts from the rankfile
# -x PATH                           programs are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                5: the cores of each rank; more threads would share cores
# -x OMP_PLACES                     cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
# -x OMP_PROC_BIND                  close: thread after thread on core after core of the rank, and it stays there
# -x MKL_NUM_THREADS                5: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# --wdir /job  without it, ranks of a host that lacks it start in $HOME
# --prtemca oob_tcp_keepalive_time 10  a host that goes away is noticed within 30 s, not 8 min
# --prtemca oob_tcp_keepalive_intvl 5  after 10 s of silence it is asked every 5 s
# --prtemca oob_tcp_keepalive_probes 3  three times
# --prtemca plm_ssh_args -o ServerAliveInterval=5 -o ServerAliveCountMax=6  the same for ssh: it would wait for a quarter of an hour
# --prtemca odls_base_max_threads 0  daemons start ranks one by one: Open MPI 5.0.7 would miss the end of a short one and wait forever
# --mca btl_tcp_disable_family 6    IPv4 only: Open MPI 5.0.7 finds no way between hosts with IPv4 and IPv6
# --output tag:raw                  each line starts with its rank; a part of a line is shown at once: Open MPI 5 would add it to another rank's line
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
/bin/sh -c 'exec "$@" 9< "$0"' /runs/one/rankfile mpirun5 -n 8 --map-by rankfile:file=/dev/fd/9 --host h1:4,h2:4 -x PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND -x MKL_NUM_THREADS -x DDLRUN_RANKS --wdir /job --prtemca oob_tcp_keepalive_time 10 --prtemca oob_tcp_keepalive_intvl 5 --prtemca oob_tcp_keepalive_probes 3 --prtemca plm_ssh_args '-o ServerAliveInterval=5 -o ServerAliveCountMax=6' --prtemca odls_base_max_threads 0 --mca btl_tcp_disable_family 6 --output tag:raw /bin/sh -c '[ -x "$0" ] && exec "$0" "$@"; while [ "$1" != -- ]; do shift; done; shift; exec "$@"' /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- caffe train --solver=solver.prototxt
