# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Names that the allocation does not have: each failing row of the table of names, and the slots behind the names.
ranks_on() { rankfile "rank 0=$1 slot=0:0" "rank 1=$2 slot=0:0"; }
hosts_on() { hosts "$1 slots=2" "$2 slots=2"; }
on_rankfile=("${mpirun[@]}" -n 2 --rankfile job.rf)

kind fast_names_in_rankfile B1 "$f2" - "hostfile with host names, rankfile with names of the second interface"
in_mpi_5 fast_names_in_rankfile B1 "$f1"
break_fast_names_in_rankfile() {
  ranks_on "$f1" "$f2"
  hosts_on "$h1" "$h2"
  broken "${on_rankfile[@]}" --hostfile job.hosts bin/worker
}
kind host_names_in_rankfile B1 "$h2" - "hostfile with names of the second interface, rankfile with host names"
in_mpi_5 host_names_in_rankfile none
break_host_names_in_rankfile() {
  ranks_on "$h1" "$h2"
  hosts_on "$f1" "$f2"
  broken "${on_rankfile[@]}" --hostfile job.hosts bin/worker
}
kind fast_names_against_dash_host B1 "$f2" - "-H with host names, rankfile with names of the second interface"
in_mpi_5 fast_names_against_dash_host B1 "$f1"
break_fast_names_against_dash_host() {
  ranks_on "$f1" "$f2"
  broken "${on_rankfile[@]}" -H "$h1:2,$h2:2" bin/worker
}
kind fast_names_from_third_host B15 - - "the same, launched from a host that is in neither list"
in_mpi_5 fast_names_from_third_host B1 "$f1"
break_fast_names_from_third_host() {
  ranks_on "$f1" "$f2"
  hosts_on "$h1" "$h2"
  broken_on "$h3" "${on_rankfile[@]}" --hostfile job.hosts bin/worker
}
kind addresses_in_rankfile B1 "$a2" - "hostfile with host names, rankfile with addresses"
break_addresses_in_rankfile() {
  ranks_on "$a1" "$a2"
  hosts_on "$h1" "$h2"
  broken "${on_rankfile[@]}" --hostfile job.hosts bin/worker
}
kind renamed_hosts B1 "$f2" - "hosts renamed after their second interface, as the old advice had it; the hostfile has the old names"
in_mpi_5 renamed_hosts none
break_renamed_hosts() {
  ranks_on "$f1" "$f2"
  hosts_on "$h1" "$h2"
  as_root "$h1" hostname "$f1"
  undo as_root "$h1" hostname "$h1"
  as_root "$h2" hostname "$f2"
  undo as_root "$h2" hostname "$h2"
  broken "${on_rankfile[@]}" --hostfile job.hosts bin/worker
}
kind host_not_in_hostfile B1 "$h3" - "the rankfile has a host more than the hostfile"
break_host_not_in_hostfile() {
  ranks_on "$h1" "$h3"
  hosts_on "$h1" "$h2"
  broken "${on_rankfile[@]}" --hostfile job.hosts bin/worker
}
kind only_foreign_host_in_rankfile B15 - - "the rankfile has only a host that -H has not"
in_mpi_5 only_foreign_host_in_rankfile B1 "$h3"
break_only_foreign_host_in_rankfile() {
  rankfile "rank 0=$h3 slot=0:0"
  broken "${mpirun[@]}" -n 1 --rankfile job.rf -H "$h2:2" bin/worker
}
kind one_slot_per_name B14 - - "-H without a count gives one slot a host"
break_one_slot_per_name() { broken "${mpirun[@]}" -n 4 -H "$h1,$h2" bin/worker; }
kind more_ranks_than_slots B14 - - "-n larger than the hostfile's slots"
break_more_ranks_than_slots() {
  hosts_on "$h1" "$h2"
  broken "${mpirun[@]}" -n 5 --hostfile job.hosts bin/worker
}
kind illegal_character X6 - - "a host name with an underscore"
in_mpi_5 illegal_character C5
break_illegal_character() {
  hosts "${h1}_a slots=2" "${h2}_b slots=2"
  broken "${mpirun[@]}" -n 4 --hostfile job.hosts bin/worker
}
kind no_hostfile C30 - - "the hostfile does not exist"
break_no_hostfile() { broken "${mpirun[@]}" -n 2 --hostfile nowhere.hosts bin/worker; }
kind hostfile_syntax C30 - - "a hostfile in another launcher's words"
break_hostfile_syntax() {
  hosts "$h1 slots=two"
  broken "${mpirun[@]}" -n 2 --hostfile job.hosts bin/worker
}
