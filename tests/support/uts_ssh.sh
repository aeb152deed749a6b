#!/bin/bash
# SPDX-License-Identifier: MIT
# Stands in for ssh under mpirun (--mca plm_rsh_agent): runs the command here, in a UTS namespace that has the
# wanted host name and, as after a real login, nothing of the caller's environment. Needs root.
# A file of lines "h1=h9" named by UTS_SSH_NAMES_FILE gives a host another name than it was called by.
set -eu
while [[ ${1-} == -* ]]; do shift; done
host=$1
shift
name=$host
if [[ -r ${UTS_SSH_NAMES_FILE-} ]]; then
  while IFS='=' read -r called is; do
    [[ $called == "$host" ]] && name=$is
  done < "$UTS_SSH_NAMES_FILE"
fi
# ssh joins the words with blanks and a shell on the other side reads them: so do we.
# shellcheck disable=SC2016
exec env -i HOME="${HOME-/}" PATH=/usr/local/bin:/usr/bin:/bin \
  unshare --uts bash -c 'hostname "$1"; shift; exec bash -c "$*"' bash "$name" "$@"
