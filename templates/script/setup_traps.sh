# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034,SC2154
# Keeps the script's own traps: bash has one for each signal, and the lines of the job or the site may set it.
# ----- the lines below go into the script -----

# Traps in the lines below run too: for EXIT after the exit status is written, for USR1 and TERM when the program is over.
# shellcheck disable=SC2064 # names of now
trap() {
  builtin trap "$@" || return
  if [ "$BASHPID" != "$$" ]; then return; fi
  local name words
  for name in EXIT USR1 TERM; do
    eval "words=($(builtin trap -p "$name"))"  # trap -- COMMAND NAME, quoted by bash
    if [ "${words[2]-}" = "ddl_on_$name" ]; then continue; fi
    printf -v "ddl_setup_$name" %s "${words[2]-}"
    builtin trap "ddl_on_$name" "$name"
  done
}
