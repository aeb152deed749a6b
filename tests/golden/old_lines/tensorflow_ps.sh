#!/bin/bash
# Nothing was run or written. This does by hand what launch would do.
set -eu

# processes that a rank forks later (data loaders) inherit the core of the thread that forks them; with --affinity off they may use all cores of the rank
# framework tensorflow-ps: distributed_mnist.py line 2 imports tensorflow and uses ps_hosts (--framework)
# PYTHONPATH reaches no rank: -x PYTHONPATH passes it to all ranks

mkdir -p -- /runs/one
cat > /runs/one/rankfile <<'END_OF_RANKFILE'
#parameter servers first, then workers

rank 0=192.168.0.20 slot=1:0-3
rank 1=192.168.0.80 slot=1:0-3
rank 2=192.168.0.20 slot=0:0-3
rank 3=192.168.0.80 slot=0:0-1
rank 4=192.168.0.80 slot=0:2-3
END_OF_RANKFILE

mkdir -p -- /runs/one
cat > /runs/one/ranks.json <<'END_OF_FILE'
{"schema":"ddlrun.ranks/1","hosts":"192.168.0.20,192.168.0.80","kind_of_host":[0,1],"ranks":["0,2","1,3,4"],"kinds":[[{"pus":"4-7,12-15","numa":1},{"pus":"0-3,8-11","numa":0,"gpu":0,"pci":"0000:04:00.0"}],[{"pus":"4-7,12-15","numa":1},{"pus":"0-1,8-9","numa":0,"gpu":0,"pci":"0000:04:00.0"},{"pus":"2-3,10-11","numa":0,"gpu":1,"pci":"0000:81:00.0"}]],"groups":[{"first":0,"ranks":2,"name":"ps","arguments":["--ps_hosts=192.168.0.20:2222,192.168.0.80:2222","--worker_hosts=192.168.0.20:2223,192.168.0.80:2223,192.168.0.80:2224","--job_name=ps","--task_index={group_rank}"],"serves":true,"set":{"CUDA_VISIBLE_DEVICES":"-1"}},{"first":2,"ranks":3,"name":"worker","arguments":["--ps_hosts=192.168.0.20:2222,192.168.0.80:2222","--worker_hosts=192.168.0.20:2223,192.168.0.80:2223,192.168.0.80:2224","--job_name=worker","--task_index={group_rank}"],"set":{"CUDA_VISIBLE_DEVICES":"{gpu}"}}]}
END_OF_FILE

export DDLRUN_RANKS="$(cat /runs/one/ranks.json)"
export CUDA_DEVICE_ORDER=PCI_BUS_ID
export KMP_BLOCKTIME=1
export MKL_NUM_THREADS=2
export OMP_NUM_THREADS=2
export OMP_PLACES=cores
export OMP_PROC_BIND=close
export TF_NUM_INTEROP_THREADS=2

# -n 5                              the ranks of the plan, so that a cut rankfile is noticed
# --rankfile /runs/one/rankfile     which rank sits on which host and cores
# -x PATH                           programs are found as here
# -x LD_LIBRARY_PATH                libraries are found as here
# -x CUDA_DEVICE_ORDER              PCI_BUS_ID: the plan counts GPUs in PCI bus order, CUDA by speed
# -x OMP_NUM_THREADS                2: the cores of the smallest rank (they have 2 to 4)
# -x OMP_PLACES                     cores: a place is a whole core; understood by every OpenMP runtime, and it is not known which one the program brings
# -x OMP_PROC_BIND                  close: thread after thread on core after core of the rank, and it stays there
# -x KMP_BLOCKTIME                  1: ms that a thread spins after a loop; the default of 200 keeps cores from the other libraries
# -x MKL_NUM_THREADS                2: as OMP_NUM_THREADS, also where MKL brings a runtime of its own
# -x TF_NUM_INTEROP_THREADS         2: operators at once: with one, parameter servers wait forever
# -x DDLRUN_RANKS                   what each rank is to get; ddlrun exec reads it
# --wdir /home/user        without it, ranks of a host that lacks it start in $HOME
# --mca oob_tcp_keepalive_time 10   a host that goes away is noticed within 30 s, not 8 min
# --mca oob_tcp_keepalive_intvl 5   after 10 s of silence it is asked every 5 s
# --mca oob_tcp_keepalive_probes 3  three times
# --mca plm_rsh_args -o ServerAliveInterval=5 -o ServerAliveCountMax=6  the same for ssh: it would wait for a quarter of an hour
# /opt/ddlrun/bin/ddlrun exec  applies the rank map to each rank, then supervises each rank: reports its state, and ends all its processes when the job ends
# ps CUDA_VISIBLE_DEVICES           -1: it computes nothing itself: no GPU memory for it
# ps argument                       --ps_hosts=192.168.0.20:2222,192.168.0.80:2222
# ps argument                       --worker_hosts=192.168.0.20:2223,192.168.0.80:2223,192.168.0.80:2224
# ps argument                       --job_name=ps
# ps argument                       --task_index={group_rank}
# worker CUDA_VISIBLE_DEVICES       {gpu}: its own GPU, which it calls 0: TensorFlow takes every GPU it sees
# worker argument                   --ps_hosts=192.168.0.20:2222,192.168.0.80:2222
# worker argument                   --worker_hosts=192.168.0.20:2223,192.168.0.80:2223,192.168.0.80:2224
# worker argument                   --job_name=worker
# worker argument                   --task_index={group_rank}
mpirun -n 5 --rankfile /runs/one/rankfile -x PATH -x LD_LIBRARY_PATH -x CUDA_DEVICE_ORDER -x OMP_NUM_THREADS -x OMP_PLACES -x OMP_PROC_BIND -x KMP_BLOCKTIME -x MKL_NUM_THREADS -x TF_NUM_INTEROP_THREADS -x DDLRUN_RANKS --wdir /home/user --mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 3 --mca plm_rsh_args '-o ServerAliveInterval=5 -o ServerAliveCountMax=6' /opt/ddlrun/bin/ddlrun exec --rank-map --supervise -- python distributed_mnist.py
