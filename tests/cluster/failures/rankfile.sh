# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# SPDX-License-Identifier: MIT
# Rankfiles and mapping options that Open MPI does not take.
judged() { broken "${mpirun[@]}" -n "$1" --rankfile job.rf -H "$h1:4,$h2:4" bin/worker; }

kind no_such_core B2 - - "core 9 of a package with fewer"
in_mpi_5 no_such_core B10
break_no_such_core() {
  rankfile "rank 0=$h1 slot=0:0" "rank 1=$h2 slot=0:9"
  judged 2
}
kind no_such_package B2 - - "package 3 of a host with one"
in_mpi_5 no_such_package B10
break_no_such_package() {
  rankfile "rank 0=$h1 slot=3:0" "rank 1=$h2 slot=0:0"
  judged 2
}
kind no_such_core_silent B8 - - "machine-wide core 99: mpirun says nothing at all"
in_mpi_5 no_such_core_silent B10
break_no_such_core_silent() {
  rankfile "rank 0=$h1 slot=99" "rank 1=$h2 slot=0:0"
  judged 2
  from=mpirun # the log is empty: the user says whose status it is
}
kind rank_0_not_first B4 - 0 "the file begins with rank 1"
break_rank_0_not_first() {
  rankfile "rank 1=$h2 slot=0:0" "rank 0=$h1 slot=0:0"
  judged 2
}
kind rank_twice B4 - 0 "rank 0 on two lines"
break_rank_twice() {
  rankfile "rank 0=$h1 slot=0:0" "rank 0=$h2 slot=0:0"
  judged 2
}
kind missing_rank B3 - 2 "-n 3 with two lines"
break_missing_rank() {
  rankfile "rank 0=$h1 slot=0:0" "rank 1=$h2 slot=0:0"
  judged 3
}
kind dos_line_ends B5 - - "a rankfile saved by a Windows editor"
break_dos_line_ends() {
  printf 'rank 0=%s slot=0:0\r\nrank 1=%s slot=0:0\r\n' "$h1" "$h2" | home_file job.rf
  judged 2
}
kind no_break_space B5 - - "a no-break space pasted from a web page"
break_no_break_space() {
  printf 'rank 0=%s\302\240slot=0:0\nrank 1=%s slot=0:0\n' "$h1" "$h2" | home_file job.rf
  judged 2
}
kind line_of_64_characters X3 - - "host, ' slot=' and list together 64 characters: mpirun aborts"
in_mpi_5 line_of_64_characters none
break_line_of_64_characters() {
  local list=0
  while [ $((${#h1} + 6 + ${#list})) -lt 80 ]; do list+=,1; done
  rankfile "rank 0=$h1 slot=$list" "rank 1=$h2 slot=0:0"
  judged 2
}
kind no_slot_list X7 - - "a rank line without slot="
in_mpi_5 no_slot_list Z6
break_no_slot_list() {
  rankfile "rank 0=$h1" "rank 1=$h2"
  judged 2
  silent_in_mpi_5
}
kind capital_rank "X8|C30" - - "Rank in capitals, no resource manager: read as a hostfile first"
in_mpi_5 capital_rank B5
break_capital_rank() {
  rankfile "Rank 0=$h1 slot=0:0" "Rank 1=$h2 slot=0:0"
  broken "${mpirun[@]}" -n 2 --rankfile job.rf bin/worker
}
kind relative_host X9 - - "+n0 without a resource manager"
in_mpi_5 relative_host none
break_relative_host() {
  rankfile "rank 0=+n0 slot=0:0"
  broken "${mpirun[@]}" -n 1 --rankfile job.rf bin/worker
}
kind no_rankfile "B6|C30" - - "the rankfile does not exist on the launch host"
break_no_rankfile() { broken "${mpirun[@]}" -n 2 --rankfile /tmp/nowhere.rf -H "$h1:2" bin/worker; }
kind no_rankfile_no_hosts "B6|C30" - - "the same without a host list: named as a hostfile"
break_no_rankfile_no_hosts() { broken "${mpirun[@]}" -n 2 --rankfile nowhere.rf bin/worker; }
kind package_word X5 - - "slot=S5 where there is no such package: mpirun crashes"
in_mpi_5 package_word E2
break_package_word() {
  rankfile "rank 0=$h1 slot=S5"
  judged 1
}

kind conflicting_maps B22 - - "a rankfile and --map-by core"
in_mpi_5 conflicting_maps Z5
break_conflicting_maps() {
  rankfile "rank 0=$h1 slot=0:0" "rank 1=$h2 slot=0:0"
  broken "${mpirun[@]}" -n 2 --rankfile job.rf --map-by core -H "$h1:4,$h2:4" bin/worker
}
kind too_many_cores_per_rank "B17|B21" - - "pe=99: mpirun finds no free core left (B17), since so many were requested (B21)"
in_mpi_5 too_many_cores_per_rank Z15
break_too_many_cores_per_rank() { broken "${mpirun[@]}" -n 1 --map-by node:pe=99 -H "$h1:9" bin/worker; }
kind more_ranks_than_cores B16 - - "bound to cores, more ranks than cores"
break_more_ranks_than_cores() {
  local many=$(($(nproc) + 1))
  broken "${mpirun[@]}" -n "$many" --bind-to core -H "$h1:$many" bin/worker
}
kind sequence_too_short B19 - - "the sequential mapper with a line less than ranks"
in_mpi_5 sequence_too_short B18
break_sequence_too_short() {
  hosts "$h1" "$h2"
  broken "${mpirun[@]}" -n 3 --mca rmaps seq --hostfile job.hosts bin/worker
}
