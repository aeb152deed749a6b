#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor_scale.sh BUILD_DIR: doctor over HOSTS (default 4096) hosts through bench/ssh_stand_in, which waits 50 ms and
# plays back what the agent really answered on this machine; one host in 500 has a small memlock and one in 1000 does not
# answer. In turn, ROUNDS (default 3) of each: through relays; where relays reach no other host; flat; and the floor of a
# flat window, which is the same stand-ins under xargs, and under pdsh and clush where they are installed. Prints best and
# median seconds, the peak memory of doctor, and ratios. Needs root (a hosts file of its own); build the target `bench`.
set -eu
build=$(readlink -f "${1:?usage: doctor_scale.sh BUILD_DIR}")
export DDLRUN=$build/bin/ddlrun
hosts=${HOSTS:-4096}
rounds=${ROUNDS:-3}
stand_in=$(find "$build/bench" "$build/bin" -name ssh_stand_in -type f | head -1)
[ -n "$stand_in" ] || { echo "no ssh_stand_in: cmake --build $build --target bench" >&2; exit 2; }
unshare -m true 2> /dev/null || { echo "skipped: needs root and mount namespaces"; exit 125; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
width=${#hosts}
list="n[$(printf "%0*d" "$width" 1)-$hosts]"
{
  cat /etc/hosts
  for ((i = 1; i <= hosts; i++)); do printf '10.%d.%d.%d n%0*d\n' $((i / 62500 + 1)) $((i / 250 % 250)) $((i % 250 + 1)) "$width" "$i"; done
} > "$work/hosts"
seq -f "n%0${width}g" 1 "$hosts" > "$work/names"
# with_hosts COMMAND...: in a mount namespace with the hosts file
with_hosts() {
  # shellcheck disable=SC2016
  unshare -m sh -c 'mount --bind "$0" /etc/hosts; exec "$@"' "$work/hosts" "$@"
}

# A first stand-in runs the agent for real, for the first host, and keeps what it says about a job of many hosts.
mkdir "$work/record" "$work/play"
cat > "$work/record/ssh" << END
#!/bin/sh
while [ "\$1" != -- ]; do [ "\$1" != -G ] || exit 0; shift; done
[ "\$2" = "$(head -1 "$work/names")" ] || exit 1
sh -c "\$3" | tee "$work/answer"
END
chmod 755 "$work/record/ssh"
PATH=$work/record:$PATH with_hosts "$DDLRUN" doctor "n[$(printf "%0*d-%0*d" "$width" 1 "$width" 600)]" --relays never > "$work/out" 2> "$work/err" || true
sed -i "s/\"$(hostname)\"/\"@HOST@\"/g; s/\"\(asked\|ready\)_us\":[0-9]*/\"\1_us\":@NOW@/g; s/\"limit.memlock.soft\":\"[^\"]*\"/\"limit.memlock.soft\":\"@MEMLOCK@\"/" "$work/answer"
ln -s "$stand_in" "$work/play/ssh"
export STAND_IN_ANSWER=$work/answer PATH=$work/play:$PATH

# measure NAME COMMAND...
measure() {
  local name=$1 status=0
  shift
  with_hosts env time -o "$work/time" -f '%e %M' "$@" < /dev/null > "$work/$name.out" 2> "$work/$name.err" || status=$?
  tail -1 "$work/time" >> "$work/$name"
  echo "$name: status $status" >> "$work/status"
}
names=(tree)
for ((i = 0; i < rounds; i++)); do
  measure tree "$DDLRUN" doctor "$list"
  [ -n "${ONLY_TREE:-}" ] && continue
  STAND_IN_LOCKED=1 measure locked "$DDLRUN" doctor "$list"
  measure flat "$DDLRUN" doctor "$list" --relays never
  export STAND_IN_ALONE=1
  measure xargs xargs -a "$work/names" -P 32 -n 1 ssh --
  names=(tree locked flat xargs)
  if [ -n "$(type -P pdsh)" ]; then
    measure pdsh pdsh -R exec -f 32 -w "^$work/names" ssh -- %h
    names+=(pdsh)
  fi
  if [ -n "$(type -P clush)" ]; then
    measure clush clush -f 32 -w "$list" --worker=exec -- ssh -- %h
    names+=(clush)
  fi
  unset STAND_IN_ALONE
done
sort "$work/status" | uniq -c
tail -1 "$work/tree.out"
for name in "${names[@]}"; do
  sort -n "$work/$name" | awk -v name="$name" '{ all[NR] = $1; if ($2 > memory) memory = $2 }
    END { printf "%-7s best %.2f s, median %.2f s, %d MiB\n", name, all[1], all[int((NR + 1) / 2)], memory / 1024 }'
done
[ -n "${ONLY_TREE:-}" ] || paste <(sort -n "$work/tree") <(sort -n "$work/flat") <(sort -n "$work/xargs") | awk \
  'NR == 1 { printf "best times: tree over flat %.2f, flat over xargs %.2f\n", $1 / $3, $3 / $5 }'
