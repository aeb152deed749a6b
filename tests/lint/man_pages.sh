#!/bin/bash
# SPDX-License-Identifier: MIT
# mandoc -T lint has no word about any page, and man finds an installed page by its name.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
pages=$DDLRUN_BUILD_DIR/man/pages
command -v mandoc > /dev/null || { echo "skipped: mandoc is not installed"; exit 125; }
count=0
for page in "$pages"/man[15]/*.[15]; do
  mandoc -T lint "$page" > "$work/lint" 2>&1 || true
  [ ! -s "$work/lint" ] || fail "mandoc: $(head -n 3 "$work/lint")"
  mandoc -T ascii "$page" | sed 's/.\x08//g' > "$work/text" || fail "mandoc cannot format $page"
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'EXIT STATUS' 'SEE ALSO'; do
    case $page:$section in *.5:SYNOPSIS | *.5:OPTIONS | *.5:EXIT*) continue ;; esac
    grep -q "$section" "$work/text" || fail "$page has no $section"
  done
  # Each page that is named exists.
  while IFS= read -r other; do
    case $other in
      mpirun.1 | ddl-*) ;;  # of another project; not in a build without the runtime
      *) [ -e "$pages/man${other##*.}/$other" ] || fail "$page names $other, which is not there" ;;
    esac
  done < <(sed -n 's/^\.BR \([^ ]*\) (\([15]\)).*/\1.\2/p' "$page" | sed 's/\\-/-/g')
  count=$((count + 1))
done
[ "$count" -ge 20 ] || fail "only $count pages"
echo "$count pages"

# Installed, as `cmake --install` does it: man, bash-completion and fish find the files by the name of the command.
for part in man completion; do
  cmake -DCMAKE_INSTALL_PREFIX="$work/usr" -P "$DDLRUN_BUILD_DIR/$part/cmake_install.cmake" > "$work/log" 2>&1 ||
    fail "installing $part: $(tail -n 3 "$work/log")"
done
share=$work/usr/share
for file in zsh/site-functions/_ddlrun doc/ddlrun/docs/launch.md doc/ddlrun/reference/options.md man/man5/ddlrun-config.5; do
  [ -s "$share/$file" ] || fail "share/$file is not installed"
done
if command -v man > /dev/null; then
  mkdir -p "$work/usr/bin"
  PATH=$work/usr/bin:$PATH run env -u MANPATH man -w ddlrun-launch
  grep -q '/man1/ddlrun-launch\.1$' "$work/out" || fail "man does not find ddlrun-launch"
fi
package=/usr/share/bash-completion/bash_completion
if [ -e "$package" ]; then
  # shellcheck disable=SC2016
  XDG_DATA_DIRS=$share run bash -c '. "$1"; _completion_loader ddlrun; complete -p ddlrun' bash "$package"
  grep -q ddlrun_complete "$work/out" || fail "bash-completion does not find ddlrun: $(cat "$work/err")"
fi
if command -v fish > /dev/null; then
  # shellcheck disable=SC2016
  HOME=$work XDG_DATA_DIRS=$share PATH=$(dirname "$DDLRUN"):$PATH run fish -c 'complete -C "ddlrun laun"'
  grep -q '^launch' "$work/out" || fail "fish does not find ddlrun: $(cat "$work/out" "$work/err")"
fi
finish
