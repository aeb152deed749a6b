# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by scripts that write into chroots as root.

# require_own PLACE...: exits with 3 where one that exists is a link, or belongs to another user. /var/tmp is everyone's: a
# tree or a link of another user would be run, or written through, as root.
require_own() {
  local place
  for place; do
    if [ -L "$place" ] || { [ -e "$place" ] && [ ! -O "$place" ]; }; then
      echo "$place belongs to another user, or is a link" >&2
      exit 3
    fi
  done
}
