# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Nothing is broken here, and words of warning do not change that: diagnose must find no trouble.
needs=hosts
kind healthy_mpirun none - - "a run that ends well"
break_healthy_mpirun() { four bin/worker; }
kind healthy_deprecated_option none - - "an old option, of which mpirun warns"
break_healthy_deprecated_option() { broken "${mpirun[@]}" -n 2 --bynode -H "$h1:1,$h2:1" bin/worker; }
kind healthy_words none - - "a program that talks of errors and ends well"
break_healthy_words() {
  four sh -c 'echo "epoch 1: error 0.25, 0 failed, signal 9 received from the sensor; retry count 0"; exec bin/worker'
}
needs=trainer
kind healthy_trainer none - - "the trainer on two hosts"
break_healthy_trainer() { launch_two -- --data "/home/$user/data" --epochs 1; }
needs=slurm
kind healthy_srun none - - "srun over two nodes"
break_healthy_srun() { broken env SLURM_PMIX_FENCE=ring srun -l -N 2 --mpi=pmix bin/worker; }
