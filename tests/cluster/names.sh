#!/bin/bash
# SPDX-License-Identifier: MIT
# Names, judged by mpirun itself: each row of hostfile, rankfile and launching host is asked of `ddlrun doctor` and
# then run; both must say the same. Then the second famous error: foretold, run, and mended by the remedy's own words.
# shellcheck source=tests/cluster/lab_test.sh
. "$(dirname "$(readlink -f "$0")")/lab_test.sh"
lab_up 4
rows=0
mpi_major=$(mpirun --version | sed -n 's/.*(Open MPI) \([0-9]*\)\..*/\1/p')

home_file() { cat > "$lab_home/$1"; chown 2000:2000 "$lab_home/$1"; }
write_rankfile() { # NAME...
  local rank=0 name
  for name; do
    echo "rank $rank=$name slot=0:$((rank % $(nproc)))" # Open MPI 5 refuses two ranks on one core
    rank=$((rank + 1))
  done | home_file job.rf
}

# What mpirun did, in the words of a prediction: "runs", "bad-host NAME", "all-filled", ...
mpirun_verdict() { # STATUS FILE
  local host
  host=$(sed -n 's/^ *Host: *//p' "$2" | head -n 1)
  if [ "$1" -eq 0 ]; then
    echo runs
  elif grep -q 'either not allocated or oversubscribed' "$2" || grep -q 'claimed that a host was either not' "$2"; then
    echo "bad-host $host"
  elif grep -q 'are already filled' "$2"; then
    echo all-filled
  elif grep -q 'Could not resolve hostname' "$2"; then
    echo "unresolved $(tr -d '\0' < "$2" | sed -n 's/^ssh: Could not resolve hostname \([^:]*\):.*/\1/p' | head -n 1)"
  elif grep -q 'illegal character in the following node name' "$2"; then
    echo illegal-name
  elif grep -q 'no prior allocation' "$2"; then
    echo no-allocation
  elif grep -q 'bigger than number of allocated hosts' "$2"; then
    echo bad-index
  else
    echo "other: $(tr '\n' ' ' < "$2" | cut -c1-200)"
  fi
}
# The same from doctor's report.
doctor_verdict() { # FILE
  local observed
  observed=$(python3 - "$1" << 'PYTHON'
import json, sys
with open(sys.argv[1]) as file:
    finding = next(f for f in json.load(file)["findings"] if f["id"] == "NAME-02")
print(finding["verdict"] + ": " + finding["observed"])
PYTHON
  ) || { echo "no report"; return; }
  case $observed in
    pass:*) echo runs ;;
    *' is in the rankfile but is no name of '*) observed=${observed#fail: }; echo "bad-host ${observed%% *}" ;;
    *'no name of the rankfile'*) echo all-filled ;;
    *' resolves to nothing where mpirun starts'*) observed=${observed#fail: }; echo "unresolved ${observed%% *}" ;;
    *' has an underscore'*) echo illegal-name ;;
    *"+n"*) case $2$mpi_major in slurm* | *5) echo bad-index ;; *) echo no-allocation ;; esac ;;
    *) echo "other: $observed" ;;
  esac
}

# row FROM none|hostfile|hosts "ALLOCATION" "RANKFILE" [MPIRUN-WORDS...]; hosts: -H for mpirun, a list for doctor
row() {
  local from=$1 kind=$2 reported seen names allocation more=("${@:5}") for_doctor=() for_mpirun=() doctor
  read -ra names <<< "$4"
  read -ra allocation <<< "$3"
  rows=$((rows + 1))
  write_rankfile "${names[@]}"
  case $kind in
    hostfile)
      printf '%s slots=4\n' "${allocation[@]}" | home_file job.hosts
      for_doctor=(--hostfile job.hosts) for_mpirun=(--hostfile job.hosts)
      ;;
    hosts) # doctor takes a list of hosts for what -H gets
      for_doctor=("$(IFS=,; echo "${allocation[*]}")") for_mpirun=(-H "$(printf '%s:4,' "${allocation[@]}")")
      for_mpirun[1]=${for_mpirun[1]%,}
      ;;
  esac
  # Both at once: neither changes a host.
  on "$from" env "${row_env[@]}" "$tool" doctor "${for_doctor[@]}" --rankfile job.rf --only NAME-02 --json --timeout 10 \
    > "$work/doctor" 2> "$work/doctor.err" &
  doctor=$!
  on "$from" env "${row_env[@]}" "${mpirun_short[@]}" -n "${#names[@]}" --rankfile job.rf "${for_mpirun[@]}" "${more[@]}" hostname \
    > "$work/mpirun" 2>&1
  seen=$(mpirun_verdict $? "$work/mpirun")
  wait "$doctor"
  reported=$(doctor_verdict "$work/doctor" "$kind")
  [ "$reported" = "$seen" ] || fail "$from, $kind '$3', rankfile '$4': doctor says '$reported', mpirun '$seen'"
}
row_env=(NOTHING=1)

for host in node1 node2 node3 node4; do
  as_root "$host" sh -c 'cat >> /etc/hosts' << 'HOSTS'
10.1.1.2 far.cluster.local
10.1.1.1 head.cluster.local near
127.0.1.1 loopy
127.0.0.1 zero
10.1.1.2 node2_b
HOSTS
done
# Open MPI 5 logs in to these, which 4 does not come to.
awk '/^node2,/ { print "far.cluster.local,node2_b " $2, $3 }' "$lab_home/.ssh/known_hosts" > "$work/known"
cat "$work/known" >> "$lab_home/.ssh/known_hosts"

# The table as it was first measured.
eth="node1 node2" ib="ib1 ib2"
row node1 none "" "$eth"
row node1 none "" "$ib"
row node3 none "" "$ib"
row node1 hostfile "$ib" "$ib"
row node1 hostfile "$eth" "$ib"
row node1 hostfile "$ib" "$eth"
row node1 hosts "$eth" "$ib"
row node3 hostfile "$eth" "$ib"
row node1 hostfile "$eth" "10.1.1.1 10.1.1.2"
row node1 hostfile "$eth" "ib1 node2"
row node1 hostfile "$eth" "node1.cluster.local node2.cluster.local"
row node1 hostfile "node1.cluster.local node2.cluster.local" "$eth"
row node1 hosts "$ib" "ib1 ib2 ib1 ib2"
for i in 1 2; do as_root "node$i" hostname "ib$i"; done # "rename your hosts", as the old advice had it
row node1 hostfile "$eth" "$ib"
row node1 hostfile "$ib" "$ib"
row node1 none "" "$ib"
for i in 1 2; do as_root "node$i" hostname "node$i"; done

# More of the same kind.
row node1 hostfile "$eth" "node2 ib1"
row node1 hostfile "$eth" "ib2 ib1"
row node2 hostfile "$eth" "$ib"
row node3 hostfile "$eth" "ib2 node2"
row node3 hostfile "$eth" "node1 node3"
row node3 hostfile "$eth" "node1 ib3"
row node3 hostfile "$eth" "ib3 ib1"
row node1 hostfile "$eth" "Node1 node2"
row node1 hostfile "$eth" "node1 Node2"
row node1 hostfile "10.1.1.1 10.1.1.2" "$eth"
row node1 hostfile "10.1.1.1 10.1.1.2" "10.9.1.1 10.1.1.2"
row node1 hostfile "$eth" "localhost node2"
row node1 hostfile "localhost node2" "$eth"
row node3 hostfile "localhost node2" "node3 node2"
row node1 hostfile "$eth" "127.0.0.1 node2"
row node1 hostfile "$eth" "loopy node2"
row node1 hostfile "$eth" "zero node2"
row node1 hostfile "$eth" "near node2"
row node1 hostfile "$eth" "head.cluster.local node2"
row node1 hostfile "$eth" "user@node1 node2"
row node1 hostfile "$eth" "node1 nowhere"
row node1 hostfile "node1 node2 nowhere" "$eth"
row node1 none "" "node1 nowhere"
row node1 hostfile "node1 far.cluster.local" "node1 far.cluster.local"
row node1 hostfile "node1 node2_b" "node1 node2_b"
row node1 hostfile "node1 nowhere" "node1 node2 nowhere"
row node1 hostfile "node2" "$eth"
row node1 hostfile "node2" "node1"
row node1 hostfile "ib1" "node1"
row node1 hostfile "$eth" "+n0 +n1"
row node1 hostfile "$eth" "node2.x node2.y"
row node1 hostfile "$eth" "10.1.1.1 node2"
row node1 hostfile "$ib" "node1 ib2"
row node3 hostfile "$eth" "localhost node2"
row node1 hosts "node1 node2 node3" "node3 ib1 node2"
row_env=(OMPI_MCA_orte_keep_fqdn_hostnames=1 PRTE_MCA_prte_keep_fqdn_hostnames=1)
row node1 hostfile "$eth" "node1.a node2.b"
row_env=(NOTHING=1)
echo "$rows rows without a scheduler"

# In an allocation of Slurm: both run in the batch script, where the variables are.
slurm_row() { # "RANKFILE"
  local names reported seen
  read -ra names <<< "$1"
  rows=$((rows + 1))
  write_rankfile "${names[@]}"
  home_file job.sh << SCRIPT
#!/bin/bash
${mpirun_short[@]} -n ${#names[@]} --rankfile job.rf hostname > mpirun.out 2>&1
echo \$? > mpirun.status
$tool doctor --rankfile job.rf --only NAME-02 --json --timeout 10 > doctor.out 2> doctor.err
SCRIPT
  on node1 sbatch --wait -w node1,node2 -N2 --ntasks-per-node=2 -o batch.out job.sh > "$work/sbatch" 2>&1
  seen=$(mpirun_verdict "$(cat "$lab_home/mpirun.status")" "$lab_home/mpirun.out")
  reported=$(doctor_verdict "$lab_home/doctor.out" slurm)
  [ "$reported" = "$seen" ] || fail "Slurm, rankfile '$1': doctor says '$reported', mpirun '$seen'"
}
if slurm up 4 > "$work/slurm" 2>&1; then
  slurm_row "node1 node2"
  slurm_row "ib1 ib2"
  slurm_row "ib1 node2"
  slurm_row "node1.x node2.y"
  slurm_row "node1 node3"
  slurm_row "localhost node2"
  slurm_row "+n1 +n0"
  slurm_row "+n1 +n2"
  slurm_row "10.1.1.1 node2"
  slurm down > /dev/null
else
  echo "left out: rows in Slurm: $(tail -n 1 "$work/slurm")"
fi
echo "$rows rows in all, $failures not as foretold"

# The famous error: foretold, run, mended by what the remedy says, run again.
printf 'node1 slots=2\nnode2 slots=2\n' | home_file job.hosts
write_rankfile ib1 ib2
ask() { on node1 "$tool" doctor --hostfile job.hosts --rankfile job.rf --only NAME-02 --json > "$work/doctor" 2> /dev/null; }
run_job() { on node1 "${mpirun_short[@]}" -n 2 --hostfile job.hosts --rankfile job.rf hostname > "$work/mpirun" 2>&1; }
ask
# Open MPI 4 takes all names of the launching host for one; 5 does not.
if [ "$mpi_major" = 5 ]; then first=ib1; else first=ib2; fi
same "foretold" "bad-host $first" "$(doctor_verdict "$work/doctor")"
run_job && fail "the job with names of the other interface ran"
grep -q 'either not' "$work/mpirun" || fail "mpirun said something else: $(head -n 3 "$work/mpirun")"
python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]: print("\n".join(f["remedy"]["commands"]))' "$work/doctor" > "$work/remedy"
on node1 bash -e < /dev/null -c "$(cat "$work/remedy")" || fail "the remedy failed: $(cat "$work/remedy")"
ask
same "after the remedy" runs "$(doctor_verdict "$work/doctor")"
run_job || fail "mended, and it does not run: $(head -n 3 "$work/mpirun")"
same "ranks on" "node1 node2" "$(grep '^node[0-9]*$' "$work/mpirun" | sort | xargs)"
finish
