#!/bin/bash
# SPDX-License-Identifier: MIT
# What `ddlrun __complete` answers: each offered value is one that the program accepts, the answer is fast, and needs
# neither a terminal nor a home.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
export HOME=$work/home
mkdir "$HOME"

# offered WORD...: the candidates behind these words, without their help.
offered() { "$DDLRUN" __complete "$@" | tail -n +2 | cut -f1; }

# accepted OPTION COMMAND...: the program refuses a wrong value of OPTION, and no value that is offered.
accepted() {
  local option=$1 value count=0
  shift
  run "$@" "$option" no-such-value "${rest[@]}"
  [ "$status" -eq 2 ] || [ "$status" -eq 3 ] || fail "$option no-such-value: status $status of $*"
  cp "$work/err" "$work/refusal"
  while IFS= read -r value; do
    [ -n "$value" ] || continue
    count=$((count + 1))
    run "$@" "$option" "$value" "${rest[@]}"
    ! grep -qE "(is not one of|must be|is neither|unknown (value|framework)).*" "$work/err" || ! grep -qF -- "'$value'" "$work/err" ||
      fail "$option $value is offered, but refused: $(head -n 1 "$work/err")"
  done < <(offered "${@:2}" "$option" '')
  [ "$count" -ge 2 ] || fail "$option of $2 offers $count values"
  # Where the refusal lists the values, all of them are offered.
  for value in $(sed -n 's/.*\(is not one of\|must be\|is neither\) \(.*\)/\2/p' "$work/refusal" | head -n 1 |
    sed "s/, not .*//; s/ or / /; s/ nor / /; s/,/ /g"); do
    offered "${@:2}" "$option" '' | grep -qxF -- "$value" || fail "$option does not offer $value"
  done
}

rest=(-- true)
for option in --launcher --affinity --mem-bind --visible-gpus --rank-output --on-stall --on-host-failure --framework \
  --order --map-by; do
  accepted "$option" "$DDLRUN" launch 1 --dry-run --allow-run-as-root --sockets 1 --cores 2
done
rest=()
accepted --format "$DDLRUN" gen-rankfile 1 h1 --sockets 1 --cores 2
printf 'rank 0=h1 slot=0:0\n' > "$work/rankfile"
accepted --mpi "$DDLRUN" check-rankfile "$work/rankfile"
echo x > "$work/log"
accepted --from "$DDLRUN" diagnose "$work/log" --status 1
printf '#!/bin/bash\n#SBATCH -N 1\ntrue\n' > "$work/job.sh"
accepted --scheduler "$DDLRUN" lint-script "$work/job.sh"
accepted --to "$DDLRUN" convert "$work/job.sh"
accepted --explain "$DDLRUN" lint-script

# Check IDs and signatures are those of the lists.
diff <("$DDLRUN" doctor --list-checks | awk '/^[A-Z]/ { print $1 }' | sort) \
  <(offered doctor --explain '' | grep -- - | sort) || fail "other checks are offered than doctor lists"
diff <("$DDLRUN" diagnose --list | awk '{ print $1 }' | sort) <(offered diagnose --explain '' | sort) ||
  fail "other signatures are offered than diagnose lists"

# Jobs and runs of this user, by the real commands.
(
  cd "$work" || exit 1
  "$DDLRUN" submit --local --runner none --doctor off --walltime 5m --name carrot 1x1x1 -- true > "$work/id" 2> /dev/null
)
id=$(head -n 1 "$work/id")
"$DDLRUN" __complete logs '' | grep -qxF "${id:-none}"$'\t'carrot || fail "job '$id' is not offered"
expect 0 '' "$DDLRUN" __complete report ''
grep -qx last "$work/out" || fail "last is not offered"

# bash: a file name behind -- is left to readline, which quotes it.
mkdir "$work/names"
install -m 755 /dev/null "$work/names/a;touch pwned;"
offered=$(cd "$work" && PATH=$(dirname "$DDLRUN"):$PATH bash -c '. "$0"
  COMP_WORDS=(ddlrun launch 2 -- names/a) COMP_CWORD=4 COMP_LINE="ddlrun launch 2 -- names/a"
  COMP_POINT=${#COMP_LINE} && __ddlrun_complete && printf "%s\n" "${COMPREPLY[@]}"' "$DDLRUN_SOURCE_DIR/completion/ddlrun.bash" 2> /dev/null)
[[ $offered != *touch* ]] || fail "a file name is inserted without quotes: $offered"

# Without a home, a terminal or PATH: an answer all the same, and nothing on stderr.
run env -i "$DDLRUN" __complete launch 2 ''
[ "$status:$(cat "$work/err")" = 0: ] || fail "without an environment: $status $(cat "$work/err")"
run env -i "$DDLRUN" __complete submit --queue ''
[ "$status:$(cat "$work/err")" = 0: ] || fail "queues without an environment: $status $(cat "$work/err")"

# The fastest of 10 answers takes less than 50 ms.
fastest=1000
for _ in 1 2 3 4 5 6 7 8 9 10; do
  from=$(date +%s%N)
  "$DDLRUN" __complete launch --la > /dev/null
  took=$((($(date +%s%N) - from) / 1000000))
  [ "$took" -ge "$fastest" ] || fastest=$took
done
echo "fastest answer: $fastest ms"
grep -q '^DDLRUN_SANITIZE:[A-Z]*=ON' "$DDLRUN_BUILD_DIR/CMakeCache.txt" || [ "$fastest" -lt 50 ] ||
  fail "an answer takes $fastest ms"

# A scheduler that does not answer costs its second, not more.
mkdir "$work/bin"
printf '#!/bin/sh\nexec sleep 60\n' > "$work/bin/qstat"
chmod +x "$work/bin/qstat"
from=$SECONDS
PATH=$work/bin:/usr/bin:/bin "$DDLRUN" __complete submit --queue '' > /dev/null
[ $((SECONDS - from)) -le 4 ] || fail "a silent qstat delays the answer by $((SECONDS - from)) s"
finish
