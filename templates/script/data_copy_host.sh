# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# One host's copy: `bash -c` gets these lines, joined with blanks, as one argument. $1 is the source, $2 the
# copy. It deletes files only in a directory that an earlier copy of the same source made.
# ----- the lines below go into the script -----
mkdir -p -- "$2" || exit; mark=$2/.ddlrun-data;
if [ -e "$mark" ]; then was=$(cat -- "$mark");
[ "$was" = "$1" ] || { echo "$(uname -n): $2 holds a copy of $was, not of $1" >&2; exit 1; };
elif [ -n "$(ls -A -- "$2")" ]; then
echo "$(uname -n): $2 holds files that no job of ddlrun put there" >&2; exit 1; fi;
echo "$1" >"$mark" || exit; if command -v rsync >/dev/null; then
rsync -rlt --delete --exclude=/.ddlrun-data -- "$1/" "$2/";
else find "$2/" -mindepth 1 ! -name .ddlrun-data -delete && cp -R -- "$1/." "$2/"; fi
