#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor over a tree of hosts, by a stand-in for ssh that runs the real agent here: a lost relay, relays that cannot
# reach others, one that lies.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state LOG=$work/log DEPTH=0 DEAD=none LOCKED=none LIAR=none
mkdir "$work/bin"

# ssh ... -- HOST COMMAND; DEPTH: how many hosts lie between the driver host and this one.
cat > "$work/bin/ssh" << 'SSH'
#!/bin/bash
[[ $* != *StrictHostKeyChecking* ]] || exit 99
while [ "$1" != -- ]; do [ "$1" != -G ] || exit 0; shift; done
echo "$DEPTH $2" >> "$LOG"
[[ $2 != $DEAD ]] || { echo "ssh: connect to host $2 port 22: No route to host" >&2; exit 255; }
[[ $DEPTH$2 != $LOCKED ]] || { echo 'Host key verification failed.' >&2; exit 255; }
export DEPTH=$((DEPTH + 1))
[[ $2 != $LIAR ]] || exec bash -c "$3" | sed -u '/^ddlrun-agent relayed/s/"facts":{/&"limit.memlock.hard":"4096","limit.memlock.soft":"4096",/'
exec bash -c "$3"
SSH
chmod 755 "$work/bin/ssh"
PATH=$work/bin:$PATH

# asked PATTERN: how often; "0 127.77.0.1" is a connection from here.
asked() { grep -c "^$1$" "$LOG"; }
# doctor STATUS WORDS...: 127.77.0.1..127.77.0.9 in three branches of three; SSH-01 and LIM-01.
doctor() {
  local wanted=$1
  shift
  : > "$LOG"
  expect "$wanted" 'hosts by ssh' "$DDLRUN" doctor '127.77.0.[1-9]' --only SSH-01,LIM-01 --fanout 3 --relays always "$@"
}
ulimit -l unlimited 2> /dev/null || ulimit -l "$(ulimit -Hl)"

doctor 0
grep -q '^9 hosts by ssh, 6 through others' "$work/out" || fail "the tree is not used: $(tail -1 "$work/out")"
[ "$(asked '0 127.77.0.[147]')$(asked '1 127.77.0.[235689]')$(wc -l < "$LOG")" = 369 ] || fail "asked: $(sort "$LOG" | tr '\n' ' ')"
[ ! -s "$work/err" ] || fail "stderr of a tree in order: $(cat "$work/err")"
doctor 0 --all
grep -q 'reached through another host' "$work/out" || fail "SSH-01 does not say that others reached the hosts"

# Two levels: width 2, so a branch of 4 has relays of its own.
: > "$LOG"
expect 0 'through others' "$DDLRUN" doctor '127.77.0.[1-9]' --only SSH-01 --fanout 2 --relays always
[ "$(asked '0 .*')$(asked '1 .*')$(asked '2 .*')" = 243 ] || fail "two levels: $(sort "$LOG" | tr '\n' ' ')"

# A lost relay: only its own answer is missing.
DEAD=127.77.0.4 doctor 5
grep -q 'not reached: 127.77.0.4$' "$work/out" || fail "a lost relay: $(tail -1 "$work/out")"
grep -q '^ddlrun: 3 of 7 hosts did not answer through another host and were asked directly (127.77.0.4: .*No route to host)$' "$work/err" || fail "a lost relay: $(cat "$work/err")"
# A host that is down behind a relay: the message is that of a direct connection.
DEAD=127.77.0.5 doctor 5
grep -q 'not reached: 127.77.0.5$' "$work/out" || fail "a lost leaf: $(tail -1 "$work/out")"
[ "$(asked '0 127.77.0.5')$(asked '0 127.77.0.6')" = 10 ] || fail "a lost leaf: $(sort "$LOG" | tr '\n' ' ')"

# Hosts that know no host key of others: all are asked directly, none accepts a key.
LOCKED='1*' doctor 0
grep -q '^9 hosts by ssh, quick' "$work/out" || fail "locked: $(tail -1 "$work/out")"
grep -q '^ddlrun: 6 of 6 hosts .* were asked directly (127.77.0.[147]: 127.77.0.[2-9]: Host key verification failed.)$' "$work/err" || fail "locked: $(cat "$work/err")"
# Four relays of a second level with seven hosts behind each: one that reaches none gives up after three.
: > "$LOG"
LOCKED='2*' expect 0 '34 hosts by ssh, 4 through others' "$DDLRUN" doctor '127.77.0.[1-34]' --only SSH-01 --fanout 2
[ "$(asked '2 .*')" -le 20 ] || fail "relays tried $(asked '2 .*') of 28 hosts in vain"

# A relay that forges a finding: the hosts themselves are asked before it is shown.
LIAR=127.77.0.1 doctor 0
grep -q LIM-01 "$work/out" && fail "a forged finding: $(cat "$work/out")"
[ "$(asked '0 127.77.0.[23]')" = 2 ] || fail "the hosts of a finding were not asked: $(sort "$LOG" | tr '\n' ' ')"

# Without relays; and what cannot be.
: > "$LOG"
expect 0 '9 hosts by ssh, quick' "$DDLRUN" doctor '127.77.0.[1-9]' --only SSH-01 --fanout 2 --relays never
[ "$(asked '0 .*')" = 9 ] || fail "--relays never: $(sort "$LOG" | tr '\n' ' ')"
: > "$LOG"
expect 0 '9 hosts by ssh, quick' "$DDLRUN" doctor '127.77.0.[1-9]' --only SSH-01 --fanout 3
[ "$(asked '0 .*')" = 9 ] || fail "few hosts use relays: $(sort "$LOG" | tr '\n' ' ')"
# Of several paths one that reaches no host is named, whatever --only names: srun without slurmctld.
printf '#!/bin/sh\nexit 1\n' > "$work/bin/srun"
chmod 755 "$work/bin/srun"
expect 0 'warn  PATH-01' "$DDLRUN" doctor '127.77.0.[1-2]' --only LIM-01 --via ssh,srun
grep -q '^2 hosts by ssh, quick: 2 checks .* 1 pass, 1 warn; not reached by srun: 127.77.0.' "$work/out" ||
  fail "a path that is lost: $(tail -1 "$work/out")"
expect 0 'not reached by srun' "$DDLRUN" doctor '127.77.0.[1-2]' --only LIM-01 --skip PATH --via ssh,srun
expect 5 '2 hosts by ssh, quick' "$DDLRUN" doctor '127.77.0.[1-2]' --only LIM-01 --via srun,ssh

expect_refusal 2 "'some' is not auto, never or always" "$DDLRUN" doctor 127.77.0.1 --relays some
expect_refusal 2 "--relays always with --full" "$DDLRUN" doctor 127.77.0.1 --full --relays always
finish
