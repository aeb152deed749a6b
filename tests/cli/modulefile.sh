#!/bin/bash
# SPDX-License-Identifier: MIT
# The installed modulefile with Lmod and with Environment Modules, those that are installed (Debian's packages conflict):
# loaded from its prefix, from a moved prefix and by a link, used, and unloaded without a trace.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
unset MODULEPATH LOADEDMODULES _LMFILES_ MANPATH
version=$("$DDLRUN" --version | sed 's/ddlrun \([0-9.]*\).*/\1/')
programs=()
for program in /usr/share/lmod/lmod/libexec/lmod /usr/lib/x86_64-linux-gnu/modulecmd.tcl /usr/lib/modulecmd.tcl ${DDLRUN_MODULECMD:-}; do
  [ ! -e "$program" ] || programs+=("$(readlink -f "$program")")
done
[ "${#programs[@]}" -gt 0 ] || { echo 'skipped: neither Lmod nor Environment Modules (apt-get install lmod)'; exit 125; }

prefix="$work/some where/ddlrun"
mkdir -p "$prefix"
for component in modulefile ddlrun libddl; do
  expect 0 '' cmake --install "$DDLRUN_BUILD_DIR" --component "$component" --prefix "$prefix"
done
file=share/ddlrun/modulefiles/ddlrun/$version
[ -s "$prefix/$file" ] || fail "no $file: $(find "$prefix" -path '*modulefiles*')"
mv "$prefix" "$work/moved"
mkdir -p "$work/linked/ddlrun" "$work/copied/ddlrun"
ln -s ../../moved/"$file" "$work/linked/ddlrun/$version"
cp "$work/moved/$file" "$work/copied/ddlrun/$version"

# module WORD...: the shell code of the program, run here
module() {
  case $program in *.tcl) tclsh "$program" bash "$@" ;; *) "$program" bash "$@" ;; esac > "$work/code" 2> "$work/err"
  . "$work/code" > "$work/out" 2>> "$work/err"
}
# The names of variables, without those of the module programs. Lmod also removes repeated elements of paths.
variables() { compgen -e | grep -vE '^(_.*|MODULE.*|LMOD_.*|LOADEDMODULES)$' | LC_ALL=C sort; }
check_with() {
  failures=0
  variables > "$work/before"
  module use "$1" || fail "use: $(cat "$work/err")"
  module load ddlrun || fail "load: $(cat "$work/err")"
  same "$program: ddlrun in PATH" "$work/moved/bin/ddlrun" "$(command -v ddlrun)"
  expect 0 "ddlrun $version" ddlrun --version
  if [ -d "$work/moved/include/ddl" ]; then
    expect 0 -lddl pkg-config --libs ddl
    for variable in CPATH LIBRARY_PATH LD_LIBRARY_PATH CMAKE_PREFIX_PATH PYTHONPATH; do
      [[ ${!variable:-} == "$work/moved"* ]] || fail "$variable is '${!variable:-}'"
    done
    [ ! -x /usr/bin/python3 ] || expect 0 'sum 1' env PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c 'import ddl; print("sum", ddl.init().all_reduce(1, "sum"))'
  fi
  [ -z "${MANPATH:-}" ] || [[ $MANPATH == "$work/moved/share/man"* ]] || fail "MANPATH is '$MANPATH'"
  module help ddlrun
  has 'its help' "$work/err" 'ddlrun starts distributed training'
  module unload ddlrun || fail "unload: $(cat "$work/err")"
  module unuse "$1"
  variables > "$work/after"
  diff "$work/before" "$work/after" || fail "$program: other variables than before"
  for variable in PATH MANPATH CPATH LIBRARY_PATH LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH PYTHONPATH; do
    [[ :${!variable:-}: != *:"$work"* ]] || fail "$variable is still '${!variable:-}'"
  done
}
for program in "${programs[@]}"; do
  name=${program##*/}
  # shellcheck disable=SC2030
  (check_with "$work/moved/share/ddlrun/modulefiles" && exit "$failures") || fail "with $name"
  (export MANPATH=/usr/share/man: && check_with "$work/linked" && exit "$failures") || fail "a link, with $name"
  (
    failures=0
    module use "$work/copied"
    module load ddlrun
    grep -q 'link to the installed modulefile' "$work/err" || fail "a copy is loaded: $(cat "$work/err")"
    [ "$(command -v ddlrun)" != "$work/moved/bin/ddlrun" ] || fail 'a copy finds the prefix'
    exit "$failures"
  ) || fail "a copy, with $name"
  echo "$name: as expected"
done
finish
