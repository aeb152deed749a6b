#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor as users run it on one machine: lists, explanations, refusals, JSON, the fix script, the baseline.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export XDG_STATE_HOME=$work/state

expect 0 'LIM-01' "$DDLRUN" doctor --list-checks
[ "$(wc -l < "$work/out")" -ge 119 ] || fail "only $(wc -l < "$work/out") checks"
cut -d' ' -f1 "$work/out" | while read -r id; do
  "$DDLRUN" doctor --explain "$id" | grep -q '^remedy  .' || echo "$id"
done > "$work/silent"
[ ! -s "$work/silent" ] || fail "no explanation of $(tr '\n' ' ' < "$work/silent")"
expect 0 'locked memory' "$DDLRUN" doctor --explain lim-01

expect_refusal 2 "there is no check 'LIM-1'" "$DDLRUN" doctor --explain LIM-1
expect_refusal 2 "there is no check 'MEMLOCK'" "$DDLRUN" doctor localhost --only MEMLOCK
expect_refusal 2 "more than one of --quick, --full, --stress" "$DDLRUN" doctor localhost --quick --full
expect_refusal 2 "unknown --via method 'rsh'" "$DDLRUN" doctor localhost --via rsh
expect_refusal 2 "'0' is not a number" "$DDLRUN" doctor localhost --fanout 0
expect_refusal 2 "was given an empty value" "$DDLRUN" doctor ''
expect_refusal 2 "was given an empty value" "$DDLRUN" doctor localhost --only ''
expect_refusal 2 "neither save nor compare" "$DDLRUN" doctor localhost --baseline keep
expect_refusal 3 "cannot read" "$DDLRUN" doctor localhost --rankfile "$work/none"

# This machine, whatever it is: a verdict for each check that is requested, one document.
run "$DDLRUN" doctor localhost --json
case $status in 0 | 1) ;; *) fail "status $status from doctor localhost: $(head -3 "$work/err")" ;; esac
python3 - "$work/out" << 'END' || fail "the JSON is not as promised"
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "ddlrun.doctor/1", document["schema"]
assert document["hosts"] == ["localhost"] and document["unreached"] == []
verdicts = {"pass", "warn", "fail", "skip", "error"}
for finding in document["findings"]:
    assert finding["verdict"] in verdicts
    assert finding["observed"], finding
    if finding["verdict"] in ("warn", "fail"):
        remedy = finding["remedy"]
        assert finding["why"] and (remedy["commands"] or remedy["note"]), finding
    assert finding["verdict"] != "error", finding
ids = {f["id"] for f in document["findings"]}
assert len(ids) > 90, len(ids)
END
expect 0 'LIM-03' "$DDLRUN" doctor localhost --only LIM-03 --all
expect 0 '1 check in' "$DDLRUN" doctor localhost --only LIM-03

# A port that is in use is found, and a port that is free is not.
python3 - > "$work/port" << 'END' &
import socket, time
listener = socket.socket()
listener.bind(("0.0.0.0", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
time.sleep(60)
END
listener=$!
for _ in $(seq 50); do [ -s "$work/port" ] && break; sleep 0.1; done
port=$(cat "$work/port")
expect 1 'NET-04' "$DDLRUN" doctor localhost --only NET-04 --port "$port" --fix-script "$work/mend.sh"
bash -n "$work/mend.sh" || fail "bash cannot read the fix script"
shellcheck "$work/mend.sh" || fail "shellcheck finds something in the fix script"
grep -q 'NET-04' "$work/mend.sh" || fail "the fix script does not name the finding"
kill "$listener"
wait "$listener" 2> /dev/null
expect 0 '1 pass' "$DDLRUN" doctor localhost --only NET-04 --port "$port" --fix-script "$work/nothing.sh"
grep -q "^ddlrun: nothing to mend: $work/nothing.sh is not written$" "$work/err" || fail "--fix-script, nothing to mend: $(cat "$work/err")"
[ ! -e "$work/nothing.sh" ] || fail "a fix script without remedies"

# Options without a program are those of the bundled trainer, as for launch.
trainer=$(dirname "$(readlink -f "$DDLRUN")")/ddl-train
[ ! -x "$trainer" ] || expect 0 "1 pass" "$DDLRUN" doctor localhost --only SW-01 -- --epochs 1

# The baseline: the same machine is as it was; another limit is a difference.
expect 0 'are kept in' "$DDLRUN" doctor localhost --only LIM-03 --baseline save
expect 0 'BASE-01' "$DDLRUN" doctor localhost --only LIM-03 --baseline compare --all
grep -q '^warn' "$work/out" && fail "a difference where there is none: $(grep -A3 '^warn' "$work/out" | head -4)"
# shellcheck disable=SC2016
expect 0 'limit.nofile.soft' bash -c 'ulimit -Sn 300; exec "$0" doctor localhost --only LIM-01 --baseline compare' "$DDLRUN"
grep -q 'ddlrun doctor localhost --baseline save' "$work/out" || fail "the remedy does not name the hosts"
printf '{' > "$XDG_STATE_HOME/ddlrun/baseline.json"
expect_refusal 3 'no baseline' "$DDLRUN" doctor localhost --only LIM-01 --baseline compare

# h1 lies: what it alone reports is in no command for h2 or for this host.
mkdir "$work/bin"
cat > "$work/bin/ssh" << 'END'
#!/bin/bash
while [ "$1" != -- ]; do shift; done
host=$2
bash -c "${*:3}" | if [ "$host" = h1 ]; then
  sed -u -E 's/"python.version":"[^"]*"/"python.version":"9.9.9"/; s/h2 ! [^"\\]*/h2 6.6.6.6/'
else
  cat
fi
END
chmod 755 "$work/bin/ssh"
expect 1 'Python 9.9.9, as on h1' env PATH="$work/bin:$PATH" "$DDLRUN" doctor h1,h2 --only SW-04,NAME-01 \
  --fix-script "$work/lies.sh" -- python3 train.py
grep -q 'check, then add to .etc.hosts: 6.6.6.6 h2 (reported by h1 only)' "$work/out" || fail "NAME-01 does not name the source: $(cat "$work/out")"
[ "$(grep -c '^# There is no command for this one' "$work/lies.sh")" -eq 4 ] || fail "commands by the word of h1"
# launch's words.
expect_refusal 2 "'4x2' is a shape, not a host" "$DDLRUN" doctor 4x2 h1,h2
grep -qF 'try: ddlrun doctor --dims 4x2 h1,h2' "$work/err" || fail "no line for doctor 4x2: $(cat "$work/err")"
expect_refusal 2 'a number of ranks in -H' "$DDLRUN" doctor -H h1:4,h2:4
expect_refusal 2 'hosts are given twice' "$DDLRUN" doctor -H h1 h2
"$DDLRUN" doctor --only SW-04 --json localhost >"$work/words" && "$DDLRUN" doctor --only SW-04 --json -H localhost >"$work/option"
[ "$(grep -c localhost "$work/words")" -eq "$(grep -c localhost "$work/option")" ] || fail "-H is not HOSTS"
finish
