#!/bin/bash
# SPDX-License-Identifier: MIT
# Sums beside the program's own calls of MPI, on two hosts whose ranks have one core each. The hosts are UTS namespaces
# of this machine with a session each, as sshd starts one: they share the cores, and no session may keep the other off.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
program=${2:?usage: $0 PATH/TO/ddl-train PATH/TO/own_calls}
expect 0 'average 1, sum 2' ranks 2 "$program"
unshare --uts hostname ddlrun-test 2> /dev/null || { echo 'several hosts need root here (unshare --uts): left out'; finish; exit 0; }
[[ ${launcher[*]} == *--oversubscribe* ]] || { echo 'several hosts need Open MPI here: left out'; finish; exit 0; }
printf '#!/bin/sh\nexec setsid -w "%s" "$@"\n' "$here/../support/uts_ssh.sh" > "$work/ssh"
chmod +x "$work/ssh"
spread=(--mca if_base_do_not_resolve 1 --mca plm_rsh_agent "$work/ssh" --host h1:2,h2:2 -n 4
  -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM)
expect 0 'average 1, sum 4' timeout 60 mpirun "${spread[@]}" --map-by core --bind-to core "$program"
[ "$SECONDS" -le 20 ] || fail "$SECONDS s: a session waits for the other's cores"
finish
