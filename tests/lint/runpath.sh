#!/bin/bash
# SPDX-License-Identifier: MIT
# No program or library of the build tree looks for libraries in the current directory: each element of its RUNPATH or
# RPATH is absolute or begins with $ORIGIN. glibc reads an empty element as "./".
set -u
build=${DDLRUN_BUILD_DIR:?}
command -v readelf > /dev/null || { echo "skipped: no readelf (apt-get install binutils)"; exit 125; }
status=0 files=0
while read -r file; do
  [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
  files=$((files + 1))
  path=$(readelf -d "$file" 2> /dev/null | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]$/\2/p')
  [ -n "$path" ] || continue
  while read -r element; do
    case $element in
      /* | \$ORIGIN | \$ORIGIN/*) ;;
      *) echo "${file#"$build"/}: element '$element' of its run path [$path]"; status=1 ;;
    esac
  done <<< "${path//:/$'\n'}"
done < <(find "$build" -type f \( -perm -u+x -o -name '*.so*' \) -not -path '*/CMakeFiles/*')
[ "$files" -gt 3 ] || { echo "only $files files: nothing was looked at"; exit 1; }
[ "$status" -ne 0 ] || echo "$files files look for libraries in absolute places only"
exit "$status"
