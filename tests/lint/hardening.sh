#!/bin/bash
# SPDX-License-Identifier: MIT
# Reads each program and library of the build tree: what cmake/DdlrunHardening.cmake asks of the compiler and linker is
# in the file, and each element of its run path is absolute or begins with $ORIGIN (glibc reads an empty one as "./").
set -u
build=${DDLRUN_BUILD_DIR:?}
command -v readelf > /dev/null || { echo "skipped: no readelf (apt-get install binutils)"; exit 125; }
status=0 files=0
wrong() { echo "${file#"$build"/}: $*"; status=1; }

check_run_path() {
  local path element
  path=$(sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]$/\2/p' <<< "$elf")
  [ -n "$path" ] || return
  while read -r element; do
    case $element in
      /* | \$ORIGIN | \$ORIGIN/*) ;;
      *) wrong "element '$element' of its run path [$path]" ;;
    esac
  done <<< "${path//:/$'\n'}"
}
check_link() {
  grep -q '^  Type: *DYN' <<< "$elf" || wrong 'no position-independent program (-fPIE -pie)'
  grep -q '(FLAGS.*\bNOW\b' <<< "$elf" || wrong 'symbols are resolved late (-z now)'
  grep -q '^  GNU_RELRO ' <<< "$elf" || wrong 'its table of addresses stays writable (-z relro)'
  grep -q '^  GNU_STACK .* RW  *0x' <<< "$elf" || wrong 'an executable stack (-z noexecstack)'
  ! grep -q '(TEXTREL)' <<< "$elf" || wrong 'its code is changed at the start (TEXTREL)'
}
# What is installed calls the checks of the compiler and of the C and C++ libraries.
check_compiled() {
  local symbols
  symbols=$(readelf --dyn-syms -W "$file")
  grep -q '\b__stack_chk_fail\b' <<< "$symbols" || wrong 'no -fstack-protector-strong'
  case $file in */lib/ddlrun/*) return ;; esac  # plug-ins are small, and half is NVIDIA's
  grep -q '__glibcxx_assert_fail' <<< "$symbols" || wrong 'no -D_GLIBCXX_ASSERTIONS'
  if [ "$(uname -m)" = x86_64 ]; then
    LC_ALL=C grep -qaP '\xf3\x0f\x1e\xfa' "$file" || wrong 'no instruction endbr64 (-fcf-protection)'
  fi
  grep -q '^CMAKE_BUILD_TYPE:.*=Debug$' "$build/CMakeCache.txt" || grep -q '\b__\(memcpy\|snprintf\|read\|vsnprintf\)_chk\b' <<< "$symbols" ||
    wrong 'no -D_FORTIFY_SOURCE'
}

while read -r file; do
  [ "$(head -c 4 "$file" | tr -d '\0')" = $'\x7fELF' ] || continue
  files=$((files + 1))
  elf=$(readelf -hldW "$file" 2> /dev/null)
  check_run_path
  check_link
  case ${file#"$build"/} in
    bin/* | runtime/ddl-train | bench/ddl_bench/ddl-bench | ddl/libddl.so* | lib/ddlrun/*) check_compiled ;;
  esac
done < <(find "$build" -type f \( -perm -u+x -o -name '*.so*' \) -not -path '*/CMakeFiles/*')
[ "$files" -gt 3 ] || { echo "only $files files: nothing was looked at"; exit 1; }
[ "$status" -ne 0 ] || echo "$files files are hardened and look for libraries in absolute places only"
exit "$status"
