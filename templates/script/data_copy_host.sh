# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# One host's copy: `bash -c` gets these lines, joined with blanks behind the function `trusted` of
# base/os/self_executable.hpp, as one argument. $1 is the source, $2 the copy. It deletes files only in a directory that
# an earlier copy of the same source made, and only below the directory that it has entered: a name whose steps another
# user can exchange is refused, before and after it is made. A new directory is for this user only.
# ----- the lines below go into the script -----
fail() { echo "$(uname -n): $1" | LC_ALL=C tr "\000-\011\013-\037\177" "?" >&2; exit 1; };
bad="another user can exchange $2 or a directory above it, see namei -l; a directory of your own is needed";
from=$1 to=$2; [[ $from = /* ]] || from=$PWD/$from; [[ $to = /* ]] || to=$PWD/$to;
up=$to; while [ ! -e "$up" ] && [ ! -L "$up" ]; do up=${up%/*}; up=${up:-/}; done;
trusted "$up" || fail "$bad";
(umask 077 && mkdir -p -- "$to") && cd -P -- "$to" || exit;
{ trusted "$to" && trusted "$(pwd -P)" && [ "$to" -ef . ]; } || fail "$bad";
case $(stat -c "%u %A" .) in "0 "????????[!w]?|"$(id -u) "????????[!w]?) ;; *) fail "$bad" ;; esac;
mark=.ddlrun-data; if [ -e "$mark" ]; then was=$(cat -- "$mark");
[ "$was" = "$1" ] || fail "$2 holds a copy of $was, not of $1";
elif [ -n "$(ls -A)" ]; then fail "$2 holds files that no job of ddlrun put there"; fi;
echo "$1" >"$mark" || exit; if command -v rsync >/dev/null; then
rsync -rlt --delete --exclude=/.ddlrun-data -- "$from/" ./;
else find . -mindepth 1 ! -path ./.ddlrun-data -delete && cp -R -- "$from/." .; fi
