# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# A disk fills: that of the run directory, of the ranks' output, of the job's directory, of a checkpoint, of /dev/shm.

# A file system of its own on node1, of SIZE, at PLACE.
small_disk() { as_root node1 sh -c "mkdir -p $2 && mount -t tmpfs -o size=$1,mode=700,uid=2000,gid=2000 tmpfs $2"; }
fill() { as_root node1 sh -c "head -c 100M /dev/zero > $1/fill 2> /dev/null"; }
undo() { as_root node1 umount "$@"; }

launch_on_disk() { # SIZE
  small_disk "$1" /home/ddl/disk
  [ "$1" != 64k ] || fill /home/ddl/disk
  alive=0 # there may be no room for the end
  launch --run-dir disk/run -- ./rank
  [ "$status" -eq 0 ] || [ -z "$(find "$lab_home" -name 'ran-*')" ] || count wrong "$name: ranks ran"
  look
  undo /home/ddl/disk
}
row launch 'disk of the run directory' 'full at the start' 3 'No space left' launch_on_disk 64k
for size in ${full:+4k 8k 12k 16k 20k 24k} 28k; do
  row launch 'disk of the run directory' 'fills while it is written' '3|0' 'No space left' launch_on_disk "$size"
done

# Each line of each rank is in its file or on the screen.
launch_fills() {
  small_disk 256k /home/ddl/disk
  cat > "$lab_home/run-talk" << 'PROGRAM'
#!/bin/bash
for ((i = 0; i < 10; i++)); do printf '%s line %d %03000d\n' "${OMPI_COMM_WORLD_RANK:-$DDLRUN_RANK}" "$i" 0; sleep 0.2; done
PROGRAM
  chmod 755 "$lab_home/run-talk"
  (sleep "$1"; fill /home/ddl/disk) &
  alive=0
  launch --run-dir disk/run --rank-output files "${@:2}" -- ./run-talk
  wait $!
  as_root node1 sh -c 'cat /home/ddl/disk/run/out/*' > "$work/kept"
  for rank in 0 1; do
    for i in 0 1 2 3 4 5 6 7 8 9; do
      grep -q "$rank line $i" "$work/kept" "$work/job.out" || count lost "$name: line $i of rank $rank"
    done
  done
  look
  undo /home/ddl/disk
}
row launch "disk of the ranks' output" 'fills while they write' 0 'not kept any more' launch_fills 0.8
[ -z "$full" ] || row 'launch, ssh' "disk of the ranks' output" 'fills while they write' 0 'not kept any more' launch_fills 0.8 --launcher ssh

submit_on_disk() {
  small_disk 64k /home/ddl/disk
  fill /home/ddl/disk
  status=0
  on node1 sh -c "cd disk && exec $tool submit --slurm --dims 1x1x1 --walltime 5m -- true" > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
  found=$(as_root node1 find /home/ddl/disk -mindepth 1 -not -name fill)
  [ -z "$found" ] || count left "$name: ${found//$'\n'/ }"
  undo /home/ddl/disk
}
row submit "disk of the job's directory" 'full at the start' 3 'No space left' submit_on_disk

full_shm() { # WORDS... : with node1's /dev/shm full
  as_root node1 sh -c 'mount -o remount,size=64k /dev/shm; head -c 1M /dev/zero > /dev/shm/fill' 2> /dev/null
  "$@"
  as_root node1 sh -c 'rm /dev/shm/fill; mount -o remount,size=50% /dev/shm'
}
train() { # LAUNCH OPTIONS... -- TRAIN OPTIONS...
  local options=()
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  status=0
  on node1 "$tool" launch "${options[@]}" --sockets 1 --cores 2 --no-verify -- /home/ddl/bin/ddl-train --data /home/ddl/data --threads 1 \
    --global-batch 36 --lr 0.005 --lr-decay none --quiet "${@:2}" > "$work/job.out" 2> "$work/job.err" < /dev/null || status=$?
}
[ -z "$full" ] || row launch '/dev/shm of a host' 'full at the start' 0 'ended well' full_shm launch -- ./rank
[ -z "$full" ] || row doctor '/dev/shm of a host' 'full at the start' 1 'dev/shm' full_shm doctor
if [ -x "$lab_home/bin/ddl-train" ]; then
  row train '/dev/shm of a host' 'full at the start' 3 'df -h /dev/shm' full_shm train 2x1x1 node1 -- --total-steps 50
fi

# The disk fills, a checkpoint is missed, the disk has room again: the run goes on, and so does one that resumes.
train_on_disk() {
  small_disk 4m /home/ddl/disk
  (sleep 2; fill /home/ddl/disk; sleep 2; as_root node1 rm /home/ddl/disk/fill) &
  train 1x2x1 node1,node2 -- --total-steps "$1" --checkpoint disk/saved --checkpoint-every 5
  wait $!
  cp "$work/job.err" "$work/first.err"
  if [ "$status" -eq 0 ]; then
    train 1x2x1 node1,node2 -- --total-steps $(($1 + 5)) --checkpoint disk/saved --resume
    [ "$status" -eq 0 ] || count lost "$name: cannot resume: $(tail -n 3 "$work/job.err")"
  fi
  cat "$work/first.err" >> "$work/job.err"
  look
  undo /home/ddl/disk
}
[ -z "$full" ] || [ ! -x "$lab_home/bin/ddl-train" ] ||
  row train 'disk of the checkpoint' 'fills while it runs, has room later' 0 'was not saved' train_on_disk 800
