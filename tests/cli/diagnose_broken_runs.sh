#!/bin/bash
# SPDX-License-Identifier: MIT
# `ddlrun diagnose` on the logs of real runs that were broken on purpose, as tests/cluster/failures.sh --record wrote them: one
# file a run, lines "key value" up to "=== log", then the log. The diagnosis must name the injected cause, with its host
# and rank where the log contains them.
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=tests/support/check.sh
. "$here/../support/check.sh"
command -v python3 > /dev/null || { echo "skipped: no python3 here"; exit 125; }
# Known to be wrong. Take a name out as soon as it is right: the test insists.
gaps=' '
runs=0
directories=()
# diagnosed NAME RUN [OPTION...]: checks the exit status and leaves the diagnosis for the judge in $work/NAME.
# RUN is an unpacked run: the files "expected" and "log".
diagnosed() {
  local name=$1 directory=$2 want=1
  shift 2
  ! grep -qx 'causes none' "$directory/expected" || want=0
  [[ $gaps != *" $name "* ]] || want=0
  expect "$want" '' "$DDLRUN" diagnose --json "$@" "$directory/log"
  mkdir "$work/$name"
  cp "$directory/expected" "$work/$name/"
  mv "$work/out" "$work/$name/diagnosis"
  directories+=("$work/$name")
}
for file in "$here"/../golden/broken_runs/*.txt; do
  id=$(basename "$file" .txt)
  directory=$work/runs/$id
  mkdir -p "$directory"
  sed '/^=== log$/,$d' "$file" > "$directory/expected"
  sed '1,/^=== log$/d' "$file" > "$directory/log"
  exit_status=$(sed -n 's/^status //p' "$directory/expected")
  from=$(sed -n 's/^from //p' "$directory/expected")
  runs=$((runs + 1))
  [ -n "$from" ] || diagnosed "$id-log-alone" "$directory" # but for an empty log
  diagnosed "$id" "$directory" --status "$exit_status" ${from:+--from "$from"}
done
[ "$runs" -ge 120 ] || fail "only $runs recorded runs"

shown=0
judged=0
while read -r verdict; do
  name=$(basename "${directories[judged]}")
  if [[ $gaps == *" $name "* ]]; then
    [[ $verdict == *WRONG* ]] || fail "$name is right now: no gap any more"
  elif [[ $verdict == *WRONG* ]]; then
    fail "$name: $verdict"
  fi
  [[ $verdict != *shown ]] || shown=$((shown + 1))
  judged=$((judged + 1))
done < <("$here/../cluster/failures/judge.py" "${directories[@]}")
[ "$judged" -eq "${#directories[@]}" ] || fail "$judged verdicts for ${#directories[@]} diagnoses"
# Where no signature fits, the report must list the lines that show the cause. The limit may only fall.
[ "$shown" -le 8 ] || fail "of $judged diagnoses $shown only show the cause"
echo "$runs recorded runs, $judged diagnoses with and without the status; $shown name nothing but show the lines; gaps:$gaps"
finish
