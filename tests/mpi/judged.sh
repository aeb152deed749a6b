#!/bin/bash
# SPDX-License-Identifier: MIT
# All types and operations against MPI's own collectives, in each mode, on one host and on hosts that are UTS namespaces.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/judged}
export DDL_CACHE=off

# judged COUNT RUN...: all ranks found every result to be MPI's
judged() {
  local count=$1
  shift
  expect 0 "results are MPI's" "$@"
  [ "$(grep -c "results are MPI's\$" "$work/out")" -eq "$count" ] || fail "$*: $(cat "$work/out" "$work/err")"
}
for mode in b r m p; do
  DDL_OPTIONS="-mode $mode" judged 3 ranks 3 "$program"
done
DDL_KERNELS=scalar judged 4 ranks 4 "$program"

unshare --uts hostname ddlrun-test 2> /dev/null || { echo 'several hosts need root here (unshare --uts): left out'; finish; exit 0; }
[[ ${launcher[*]} == *--oversubscribe* ]] || { echo 'several hosts need Open MPI here: left out'; finish; exit 0; }
spread=(--mca if_base_do_not_resolve 1 --mca plm_rsh_agent "$here/../support/uts_ssh.sh"
  -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM -x DDL_OPTIONS -x DDL_CACHE)
for mode in b r m; do
  DDL_OPTIONS="-mode $mode" judged 4 timeout 120 "${launcher[@]}" "${spread[@]}" --host h1:2,h2:2 -n 4 "$program"
done
finish
