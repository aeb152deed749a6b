#!/bin/bash
# SPDX-License-Identifier: MIT
# JSON documents on a terminal: control characters beyond ASCII and those that turn the direction of writing are
# escaped, and the values stay what they were.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
cd "$work" || exit 1
export HOME=$work XDG_STATE_HOME=$work/state

hostile=$'csi\u009b2Jturn\u202eisolate\u2066mark\u200fdel\u007f한'
cat > "$work/judge.py" << 'PYTHON'
import json
import sys

name, hostile = sys.argv[1:3]
text = sys.stdin.buffer.read().decode()
raw = {hex(ord(c)) for c in text if 0x7f <= ord(c) <= 0x9f or c in "\u061c\u200e\u200f"
       or 0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069}
if raw:
    print(f"{name}: raw {' '.join(sorted(raw))}")
if "한" not in text:
    print(f"{name}: a letter is escaped")


def strings(value):
    if isinstance(value, dict):
        return [s for k, v in value.items() for s in [k, *strings(v)]]
    if isinstance(value, list):
        return [s for v in value for s in strings(v)]
    return [value] if isinstance(value, str) else []


if not any(hostile in s for s in strings(json.loads(text))):
    print(f"{name}: the value is another one")
PYTHON
escapes() { # NAME STATUS COMMAND...: what it prints
  run "${@:3}"
  [ "$status" -eq "$2" ] || fail "$1: status $status: $(head -c 300 "$work/err")"
  problem=$(python3 "$work/judge.py" "$1" "$hostile" < "$work/out" 2>&1)
  [ -z "$problem" ] || fail "$problem"
}

"$DDLRUN" topo --json > machine.json || fail "topo --json"
python3 - "$hostile" << 'PYTHON'
import json, sys
machine = json.load(open("machine.json"))
machine["packages"][0]["model"] = sys.argv[1]
json.dump(machine, open("machine.json", "w"))
PYTHON
escapes "topo" 0 "$DDLRUN" topo --topology machine.json --json

printf 'rank 0=h1 slot=%s\n' "$hostile" > job.rf
cp job.rf "$hostile.rf"
escapes "check-rankfile" 1 "$DDLRUN" check-rankfile "$hostile.rf" --json

printf '#!/bin/bash\n#SBATCH --nodes=%s\nsrun true\n' "$hostile" > job.sh
escapes "lint-script" 1 "$DDLRUN" lint-script job.sh --json

escapes "doctor" 1 "$DDLRUN" doctor localhost --only SW-01 --json -- "/nowhere/$hostile"

"$DDLRUN" launch --launcher ssh 1 -- true "$hostile" > /dev/null 2>&1 || fail "launch"
escapes "history" 0 "$DDLRUN" history --json
escapes "run.json" 0 find "$work/state" "$work" -name run.json -exec cat {} \; -quit
finish
