#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor_scale.sh BUILD_DIR: doctor over HOSTS (default 4096) hosts through a stand-in for ssh that waits 50 ms and plays
# back what the agent really answered on this machine, each under its own name; one host in 500 has a small memlock and
# one in 1000 does not answer. Prints time, peak memory and lines of output. Needs root (a hosts file of its own).
set -eu
ddlrun=$(readlink -f "${1:?usage: doctor_scale.sh BUILD_DIR}")/bin/ddlrun
hosts=${HOSTS:-4096}
latency=${LATENCY:-0.05}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
unshare -m true 2> /dev/null || { echo "skipped: needs root and mount namespaces"; exit 125; }

# A first stand-in runs the agent for real, here, and keeps what it says.
mkdir "$work/record"
cat > "$work/record/ssh" << END
#!/bin/sh
while [ "\$1" != -- ]; do [ "\$1" != -G ] || exit 0; shift; done
sh -c "\$3" | tee "$work/answer"
END
chmod 755 "$work/record/ssh"
PATH=$work/record:$PATH "$ddlrun" doctor 127.77.0.1 > "$work/recorded" || true
id=$(sed -n 's/^ddlrun-agent ready //p' "$work/answer")
sed -i "s/$(hostname)/@HOST@/g" "$work/answer"
cat > "$work/ssh" << END
#!/bin/sh
while [ "\$1" != -- ]; do [ "\$1" != -G ] || exit 0; shift; done
case \$2 in *000) sleep $latency; echo "ssh: connect to host \$2 port 22: No route to host" >&2; exit 255 ;; esac
sleep $latency
echo "ddlrun-agent ready $id"
cat > /dev/null
case \$2 in *500) memlock=65536 ;; *) memlock=8388608 ;; esac
sed "1d; s/_us\":[0-9][0-9]*/_us\":\$(date +%s%6N)/g; s/@HOST@/\$2/g; s/\"limit.memlock.soft\":\"[^\"]*\"/\"limit.memlock.soft\":\"\$memlock\"/" $work/answer
END
chmod 755 "$work/ssh"
{
  cat /etc/hosts
  for ((i = 1; i <= hosts; i++)); do printf '10.%d.%d.%d n%04d\n' $((i / 62500 + 1)) $((i / 250 % 250)) $((i % 250 + 1)) "$i"; done
} > "$work/hosts"
status=0
# shellcheck disable=SC2016
unshare -m sh -c 'mount --bind "$1" /etc/hosts; PATH=$2:$PATH exec /usr/bin/env time -o "$2/time" -f "%e s, %M KiB" "$3" doctor "$4"' \
  sh "$work/hosts" "$work" "$ddlrun" "n[0001-$(printf %04d "$hosts")]" > "$work/out" 2> "$work/err" || status=$?
cat "$work/out"
echo "--- status $status; $(tail -1 "$work/time"); $(wc -l < "$work/out") lines of output, $(wc -l < "$work/err") of talk"
