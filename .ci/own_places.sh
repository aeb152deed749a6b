# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by scripts that write into chroots as root: where the chroots are, and a check of their places.
chroots=${DDLRUN_CHROOTS:-/var/tmp/ddlrun-chroots}

# require_own PATH: exits with 3 where $chroots, or a part of the path $chroots/PATH that exists, is a link or belongs to
# another user. Every user can write to /var/tmp: root would run a tree of another user, or write through a link.
require_own() {
  local place=$chroots part parts
  IFS=/ read -ra parts <<< "$1"
  for part in '' "${parts[@]}"; do
    place+=${part:+/$part}
    if [ -L "$place" ] || { [ -e "$place" ] && [ ! -O "$place" ]; }; then
      echo "$place belongs to another user, or is a link" >&2
      exit 3
    fi
  done
}
