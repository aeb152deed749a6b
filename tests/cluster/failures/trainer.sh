# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# The bundled trainer, started by ddlrun launch on two hosts. Its own words are in no table of foreign messages.
needs=trainer
launch_two() {
  broken "/home/$user/bin/ddlrun" launch 1x2x1 "$h1,$h2" --cores-per-rank 1 --no-verify \
    --mca mpi_yield_when_idle 1 "$@"
}

kind train_no_data - "$h2" 1 "the data is on the launch host only" "/tmp/job/data"
break_train_no_data() {
  as_root "$h1" sh -c 'mkdir -p /tmp/job && cp -r "$1" /tmp/job/data && chmod -R a+rX /tmp/job' sh "/home/$user/data"
  undo as_root "$h1" rm -r /tmp/job/data
  launch_two -- --data /tmp/job/data
}
kind train_truncated_data - - - "an IDX file that ends too early" "99984 follow it"
break_train_truncated_data() {
  rm -rf "$home/bad_data"
  cp -r "$home/data" "$home/bad_data"
  gunzip "$home/bad_data/train-images-idx3-ubyte.gz"
  truncate -s 100000 "$home/bad_data/train-images-idx3-ubyte"
  chown -R "$user_id" "$home/bad_data"
  launch_two -- --data "/home/$user/bad_data"
}
kind train_bad_option - - - "an option that the trainer has not" "unknown option '--epoch'"
break_train_bad_option() { launch_two -- --data "/home/$user/data" --epoch 1; }
kind train_unequal_options "O1|-" - - "another batch size on one rank: the trainer compares" "different options"
break_train_unequal_options() {
  launch_two -- sh -c 'exec ~/bin/ddl-train --data ~/data --batch-size $((4 + OMPI_COMM_WORLD_RANK))'
}
kind train_overflow - - - "a learning rate at which everything overflows on every rank" "not finite"
break_train_overflow() { launch_two -- --data "/home/$user/data" --lr 1e30; }
kind train_killed E1 "$h2" 1 "SIGKILL to the trainer on one host"
break_train_killed() {
  kill_when_running "$h2" ddl-train KILL
  launch_two -- --data "/home/$user/data" --epochs 100000 --quiet
}
kind train_no_way "X47|-" "$h2" - "no sshd on one host: launch says so before anything starts" "Connection refused"
break_train_no_way() {
  lab sshd "$h2" off
  undo lab sshd "$h2"
  launch_two -- --data "/home/$user/data"
}
