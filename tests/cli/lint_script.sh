#!/bin/bash
# SPDX-License-Identifier: MIT
# lint-script as users run it: reports, statuses, --json, sites, machines, refusals.
# shellcheck source=tests/support/check.sh
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
golden=$DDLRUN_SOURCE_DIR/tests/golden/job_scripts/lint

# Whole reports; DDLRUN_GOLDEN_WRITE=1 writes them anew.
for script in "$golden"/*.pbs "$golden"/*.slurm; do
  (cd "$golden" && "$DDLRUN" lint-script "$(basename "$script")") >"$work/out" 2>"$work/err"
  [ $? -eq 1 ] || fail "$script: not status 1: $(cat "$work/err")"
  [ -z "${DDLRUN_GOLDEN_WRITE-}" ] || cp "$work/out" "$script.txt"
  diff "$script.txt" "$work/out" || fail "$script: another report"
  grep -qE "^ddlrun: $(basename "$script"): ([0-9]+ (error|warning|note)s?(, )?)+$" "$work/err" || fail "no last line that counts: $(cat "$work/err")"
done

# Clean, from a file and from stdin.
cat >"$work/good.sh" <<'EOF'
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=2
#SBATCH --time=01:00:00
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" ./a
EOF
expect 0 'good.sh: no findings; 4 Slurm options checked' "$DDLRUN" lint-script "$work/good.sh"
[ ! -s "$work/out" ] || fail "findings in a clean script"
"$DDLRUN" lint-script - <"$work/good.sh" >"$work/out" 2>&1 || fail "stdin: $(cat "$work/out")"

# A mistyped script, where another one is here or beside the job script.
mkdir "$work/typed" && touch "$work/typed/train.py"
printf '#!/bin/bash\n#SBATCH --time=01:00:00 --ntasks=4\nsrun -n 4 python3 trian.py\n' >"$work/typed/job.sh"
for place in "$work" "$work/typed"; do
  expect 1 'job.sh:3:19: warning: the script trian.py does not exist [script-missing]' env -C "$place" "$DDLRUN" lint-script "$work/typed/job.sh"
  has "a mistyped script" "$work/out" '  try: train.py   # did you mean this?'
done
sed -i 's/trian/train/' "$work/typed/job.sh"
expect 0 'no findings' "$DDLRUN" lint-script "$work/typed/job.sh"

# A note alone is no finding to stop at.
sed 's/^#SBATCH --time.*/#SBATCH --time=60/' "$work/good.sh" >"$work/note.sh"
expect 0 'note: --time=60 means 60 minutes [bare-time]' "$DDLRUN" lint-script "$work/note.sh"

# --fix: the corrected script, and what is left.
printf '#!/bin/bash\r\n#PBS -N t\r\n#PBS -l walltime=1:00:00\r\npython train.py\r\n' >"$work/dos.pbs"
expect 0 '' "$DDLRUN" lint-script "$work/dos.pbs" --fix
printf '#!/bin/bash\n#PBS -N t\n#PBS -l walltime=1:00:00\ncd "$PBS_O_WORKDIR" || exit 1\npython train.py\n' >"$work/unix.pbs"
cmp "$work/unix.pbs" "$work/out" || fail "--fix: $(cat "$work/out")"
grep -qF "dos.pbs: 1 error, 1 warning corrected (crlf, no-cd); nothing left" "$work/err" || fail "--fix: $(cat "$work/err")"
expect 0 'no findings' "$DDLRUN" lint-script "$work/unix.pbs"
printf 'export A,1\n' >>"$work/unix.pbs"
expect 1 'export A,1' "$DDLRUN" lint-script "$work/unix.pbs" --fix
grep -qF "unix.pbs: nothing corrected; 1 error left (export-no-name in line 6)" "$work/err" || fail "left: $(cat "$work/err")"
# A remedy that is a whole line is carried out; a name that is left has its line.
cat >"$work/hello.pbs" <<'EOF'
#!/bin/bash
#PBS -N mpi_hello
#PBS -q normal
#PBS -l select=2:ncpus=4:mpiprocs=4:ompthreads=1
#PBS -l walltime=00:10:00
#PBS -j oe

cd $PBS_O_WORKDIR
export OMP_NUM_THREADS=2
export KMP_AFFINITY=granularity=fine,compact
mpirun -np 8 -hostfile $PBS_NODEFILE ./hello
EOF
expect 1 '' "$DDLRUN" lint-script "$work/hello.pbs" --fix
has "place" "$work/out" '#PBS -l place=scatter'
has "KMP_AFFINITY" "$work/out" 'export KMP_AFFINITY=granularity=fine,compact,1,0'
has "corrected" "$work/err" 'corrected (unquoted-path, kmp-compact, place-missing)'
has "left" "$work/err" 'left (ompthreads-differ in line 10'
expect_refusal 2 '--fix prints a script' "$DDLRUN" lint-script "$work/unix.pbs" --fix --json

# JSON
expect 1 '"schema": "ddlrun.lint-script/1"' "$DDLRUN" lint-script "$golden/kisti_caffe.pbs" --json
python3 - "$work/out" <<'EOF' || fail "the JSON is not as described"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["errors"] + d["warnings"] + d["notes"] == len(d["findings"])
assert all(f["hint"] and f["id"] for f in d["findings"])
EOF

# A machine changes the judgment: 60 threads fit one by one where a core has one hardware thread.
expect 1 'on 15 of 68 cores' "$DDLRUN" lint-script "$golden/kisti_caffe.pbs" --sockets 1 --cores 68 --smt 4
expect 1 '' "$DDLRUN" lint-script "$golden/kisti_caffe.pbs" --sockets 1 --cores 68
grep -q 'on 15 of 68' "$work/out" && fail "15 cores where there is no second hardware thread"

# A centre's limit of walltime, also in its usual queue; what its profile does not know is said.
printf '#!/bin/bash\n#PBS -A caffe\n#PBS -l walltime=72:00:00\n' >"$work/long.pbs"
expect 1 'kisti-nurion allows 48:00:00 [site-walltime]' "$DDLRUN" lint-script "$work/long.pbs" --site kisti-nurion
sed 's/72:/48:/' "$work/long.pbs" >"$work/fits.pbs"
expect 0 'the application is not checked' "$DDLRUN" lint-script "$work/fits.pbs" --site kisti-nurion
expect 0 "limits of walltime; not its queues" "$DDLRUN" lint-script --help

# stdin has no file to change.
printf '#!/bin/bash\r\n#PBS -N a\r\n' | "$DDLRUN" lint-script - >"$work/out" 2>"$work/err"
grep -qF "try: tr -d '\r' < FILE" "$work/out" || fail "CR LF on stdin: $(head -4 "$work/out")"

# A Torque script, as submit writes it, is a Torque script.
printf '#!/bin/bash\n#PBS -l nodes=2:ppn=8\n#PBS -l walltime=1:00:00\n#PBS -t 0-7%%2\n' >"$work/torque.pbs"
expect 0 'no findings' "$DDLRUN" lint-script "$work/torque.pbs"
expect 0 'no findings' "$DDLRUN" lint-script "$work/torque.pbs" --scheduler torque
expect 1 "OpenPBS's qsub has no option -t" "$DDLRUN" lint-script "$work/torque.pbs" --scheduler pbs
grep -q 'try: -J 0-7%2' "$work/out" || fail "no -J: $(cat "$work/out")"
expect 0 'or torque' "$DDLRUN" lint-script --help
"$DDLRUN" submit --torque --array 0-7%2 --walltime 1h --cores-per-node 8 --dry-run 2x2x1 -- true >"$work/own.pbs" 2>"$work/err" || fail "submit: $(cat "$work/err")"
expect 0 '' "$DDLRUN" lint-script "$work/own.pbs"

# Refusals
expect_refusal 2 'no script given' "$DDLRUN" lint-script
expect_refusal 2 '--scheduler must be' "$DDLRUN" lint-script "$work/good.sh" --scheduler lsf
expect_refusal 3 'No such file' "$DDLRUN" lint-script "$work/none.sh"
expect_refusal 3 '' "$DDLRUN" lint-script "$work/good.sh" --site no-such-centre
expect_refusal 3 'is larger than' "$DDLRUN" lint-script /dev/zero
# Each rule has an example that the linter flags, and the ids in the code are those of the list.
expect 0 '[place-missing]' "$DDLRUN" lint-script --explain place-missing
has "--explain" "$work/out" '    job.pbs:4:6: warning: select requests 2 chunks, but no place is set'
# The loop that wait-once and signal-late name, run by bash around a child.
cat >"$work/once.sh" <<'EOF'
#!/bin/bash
#SBATCH --time=1:00:00 --signal=B:USR1@60
trap 'kill -USR1 "$child"' USR1
srun a & child=$!
wait "$child"
EOF
expect 1 '[wait-once]' "$DDLRUN" lint-script "$work/once.sh"
wait_loop=$(sed -n 's/^  try: //p' "$work/out")
sed 's/^srun a &.*/srun a/; /^wait/d' "$work/once.sh" >"$work/late.sh"
expect 1 '[signal-late]' "$DDLRUN" lint-script "$work/late.sh"
has "signal-late: the same loop" "$work/out" "  try: srun PROGRAM & child=\$!; $wait_loop"
expect 0 "$wait_loop" "$DDLRUN" lint-script --explain signal-late
around() { # around CHILD PAUSE: the script's exit status, with a pause between the start of the child and the loop
  printf '%s\n' "trap 'kill -USR1 \"\$child\"' USR1" "$1 & child=\$!" ": >'$work/begun'; sleep $2" "$wait_loop" >"$work/around.sh"
  rm -f "$work/begun"
  bash "$work/around.sh"
}
around '(exit 3)' 0
same "a child that fails at once" 3 $?
around '(exit 4)' 0.3
same "a child that fails before the loop" 4 $?
around "(trap 'sleep 0.3; exit 6' USR1; until [ -e '$work/begun' ]; do sleep 0.05; done; sleep 0.2; kill -USR1 \$\$; while :; do sleep 0.05; done)" 0
same "a signal before the child ends" 6 $?
expect_refusal 2 '--explain place-missing' "$DDLRUN" lint-script --explain place-mising
"$DDLRUN" lint-script --list-rules > "$work/rules"
[ "$(wc -l < "$work/rules")" -ge 80 ] || fail "$(wc -l < "$work/rules") rules"
grep -rhoE '(add\(|findings\.push_back\(\{|^ +\{)"[a-z0-9]+(-[a-z0-9]+)+", ?(Severity|$)' "$DDLRUN_SOURCE_DIR"/schedulers/scripts/lint_*.cpp |
  grep -oE '[a-z0-9]+(-[a-z0-9]+)+' | sort -u > "$work/ids"
[ "$(wc -l < "$work/ids")" -ge 50 ] || fail "the test found $(wc -l < "$work/ids") ids in the code"
comm -23 "$work/ids" "$work/rules" > "$work/missing"
[ ! -s "$work/missing" ] || fail "rules without an example: $(xargs < "$work/missing")"

# Colours on a terminal, none with NO_COLOR or into a file.
printf '#!/bin/bash\n#PBS -l select=2:ncpus=8\n' > "$work/job.pbs"
on_terminal() { python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$@" < /dev/null; }
on_terminal env TERM=xterm NO_COLOR= "$DDLRUN" lint-script "$work/job.pbs" > "$work/terminal"
grep -qF $'\e[33mwarning:\e[0m' "$work/terminal" || fail "no colour on a terminal: $(cat -v "$work/terminal")"
on_terminal env TERM=xterm NO_COLOR=1 "$DDLRUN" lint-script "$work/job.pbs" > "$work/terminal"
grep -q $'\e' "$work/terminal" && fail "a colour in spite of NO_COLOR"
on_terminal env TERM=xterm NO_COLOR= "$DDLRUN" lint-script > "$work/terminal"
grep -qF $'\e[1;31merror:\e[0m' "$work/terminal" || fail "no colour for an error: $(cat -v "$work/terminal")"
"$DDLRUN" lint-script "$work/job.pbs" > "$work/file" 2>&1
grep -q $'\e' "$work/file" && fail "a colour in a file"

# A name with an escape sequence, which would set the title of the terminal, is cleaned wherever it is printed.
odd=$'x\e]0;TITLE\a.sh'
cp "$work/good.sh" "$work/$odd"
(cd "$work" && "$DDLRUN" lint-script "$odd") > "$work/file" 2>&1 || fail "status of $odd"
(cd "$work" && cp job.pbs "$odd" && "$DDLRUN" lint-script "$odd"; "$DDLRUN" lint-script --fix "$odd"; "$DDLRUN" convert "$odd" --to slurm
  "$DDLRUN" convert "$odd" --to slurm -o "$odd.new"; "$DDLRUN" check-rankfile "$odd"; "$DDLRUN" lint-script "none$odd") >> "$work/file" 2>&1
has "the name of a script, cleaned" "$work/file" 'x\x1b]0;TITLE\x07.sh: no findings'
has "the name of a rankfile, cleaned" "$work/file" 'x\x1b]0;TITLE\x07.sh:2: error: there is no rank line'
grep -q '[[:cntrl:]]' <(tr -d '\n' < "$work/file") && fail "control characters: $(cat -v "$work/file")"

# Time grows with the length of a script, not with its square: on a quiet machine each of these takes less than 2 s, and took
# more than a minute.
many() { # NUMBER TEXT
  printf '#!/bin/bash\n#SBATCH -N 1\n'
  python3 -c 'import sys; print(sys.argv[2] * int(sys.argv[1]))' "$@"
}
many 50000 'srun a | ' > "$work/pipe.sh"
many 50000 'if true; then ' > "$work/nested.sh"
many 200000 "\$(" > "$work/open.sh"
many 4000 $'export A=1 B=2 C=3\nsrun -n 2 ./x $A\n' > "$work/exports.sh"
many 50000 'srun a & ' > "$work/background.sh"
many 100000 'A=1 ' > "$work/assignments.sh"
for name in pipe nested open exports background assignments; do
  for words in lint-script 'convert --to pbs' 'convert --to ddlrun.yaml'; do
    status=0
    # shellcheck disable=SC2086
    timeout 40 "$DDLRUN" $words "$work/$name.sh" > "$work/out" 2> "$work/err" || status=$?
    [ "$status" -le 3 ] || fail "$words $name.sh: status $status"
  done
done
many 1001 $'#SBATCH --comment=x\n' > "$work/directives.sh"
for words in lint-script 'convert --to pbs'; do
  # shellcheck disable=SC2086
  expect_refusal 3 'the script has 1002 directives; ddlrun reads at most 1000' "$DDLRUN" $words "$work/directives.sh"
done
finish
