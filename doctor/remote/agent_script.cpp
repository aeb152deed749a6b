// SPDX-License-Identifier: MIT
#include "base/os/self_executable.hpp"
#include "doctor/remote/agent_protocol.hpp"

namespace ddlrun::doctor {

std::string ready_line(std::string_view build_id) { return "ddlrun-agent ready " + std::string(build_id); }

std::string agent_script() {
  // Statuses 2, 9, 126, 127: an older ddlrun, another build, or none that runs.
  return std::string(trusted_function) + R"(
agent=$0 id=$1 loader=$2; shift 2
if [ -x "$agent" ] && trusted "$agent"; then
  "$agent" agent --id "$id" 2>/dev/null; status=$?
  case $status in 2|9|126|127) ;; *) exit $status ;; esac
fi
for base in "${TMPDIR:-/tmp}" /var/tmp /dev/shm "$HOME"; do
  directory=$(mktemp -d "$base/ddlrun-agent.XXXXXX" 2>/dev/null) || continue
  printf '#!/bin/sh\n' >"$directory/try" && chmod 700 "$directory/try" && "$directory/try" 2>/dev/null && break
  rm -rf -- "$directory"; directory=
done
[ -n "$directory" ] || { echo "ddlrun: no directory to run from: /tmp, /var/tmp, /dev/shm and HOME are full or noexec" >&2; exit 70; }
trap 'rm -rf -- "$directory"' EXIT
echo 'ddlrun-agent wanted'
while [ $# -ge 2 ]; do
  head -c "$2" >"$directory/$1" || { echo "ddlrun: cannot write $directory/$1" >&2; exit 70; }
  shift 2
done
chmod 700 "$directory/ddlrun"
if [ -n "$loader" ]; then "$loader" --library-path "$directory" "$directory/ddlrun" agent --id "$id"
else "$directory/ddlrun" agent --id "$id"; fi)";
}

}  // namespace ddlrun::doctor
