#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#by ddlrun VERSION gen-rankfile
#dims = 2x1x1
#host = h1
#dimX = 2
#dimY = 1
#dimZ = 1
#sockets = 2
#cores = 10

rank 0=h1           slot=0:0-2
rank 1=h1           slot=1:0-2


END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"h1","kind_of_host":[0],"ranks":["0,1"],"kinds":[[{"pus":"0-23","numa":0},{"pus":"80-103","numa":1}]],"groups":[{"first":0,"ranks":2,"set":{}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export MKL_NUM_THREADS=3
export OMP_NUM_THREADS=3
export OMP_PLACES=cores
export OMP_PROC_BIND=close
export KEY="${KEY:?set it first: values given by -x are not shown}"

# --allow-run-as-root               you requested it
# -n 2                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                3: the cores of each rank; more threads would share cores
# -x OMP_PLACES                     cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
# -x OMP_PROC_BIND                  close: thread after thread on core after core of the rank, and it stays there
# -x MKL_NUM_THREADS                3: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
# -x KEY                            you set it; passed by name: only the command line of ddlrun shows its value
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# --wdir /job  without it, ranks of a host that lacks it start in $HOME
# --mca oob_tcp_keepalive_time 10   a host that goes away is noticed within 30 s, not 8 min
# --mca oob_tcp_keepalive_intvl 5   after 10 s of silence it is asked every 5 s
# --mca oob_tcp_keepalive_probes 3  three times
# --mca plm_rsh_args -o ServerAliveInterval=5 -o ServerAliveCountMax=6  the same for ssh: it would wait for a quarter of an hour
# --mca btl_tcp_if_include 10.0.0.0/8  you requested it
# --tag-output                      each line starts with its rank
# --report-bindings                 you requested it
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
mpirun --allow-run-as-root -n 2 --rankfile /runs/one/rankfile -x PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND -x MKL_NUM_THREADS -x KEY -x DDLRUN_RANKS --wdir /job --mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 3 --mca plm_rsh_args '-o ServerAliveInterval=5 -o ServerAliveCountMax=6' --mca btl_tcp_if_include 10.0.0.0/8 --tag-output --report-bindings /bin/sh -c '[ -x "$0" ] && exec "$0" "$@"; while [ "$1" != -- ]; do shift; done; shift; exec "$@"' /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- ./p 'a b' '$(x)'
