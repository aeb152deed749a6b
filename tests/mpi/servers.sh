#!/bin/bash
# SPDX-License-Identifier: MIT
# Parameter servers: the curve of an all-reduce run where workers wait for each other, learning where they do not;
# going on from a checkpoint, stopping, and the messages when a server dies or cannot exist.
here=$(dirname "$(readlink -f "$0")")
. "$here/ranks.sh"
command -v python3 > /dev/null || skip "no python3 to compare the curves; apt-get install python3"
calm=(--data "$subset" --global-batch 40 --epochs 10 --lr 0.005 --lr-decay none --quiet)

# Two workers and any number of servers: the losses of two ranks that add up.
expect 0 ' weights=equal ' ranks 2 "$train" "${calm[@]}" --max-steps 50 --metrics "$work/0.jsonl"
for servers in 1 2; do
  expect 0 " workers=2 servers=$servers mode=synchronous " ranks $((2 + servers)) "$train" "${calm[@]}" --max-steps 50 \
    --parameter-servers "$servers" --metrics "$work/$servers.jsonl" --timeline "$work/timeline.json"
  python3 "$here/check_timeline.py" "$work/timeline.json" $((2 + servers)) > "$work/judged" || fail "the timeline: $(cat "$work/judged")"
done
python3 - "$work" << 'PY' || fail 'the curves differ'
import json, sys
def read(servers):
    return [json.loads(line) for line in open(f"{sys.argv[1]}/{servers}.jsonl")]
def losses(records):
    return [r["loss"] for r in records if r["type"] == "step"]
plain = losses(read(0))
assert len(plain) == 50 and plain[-1] < 0.8 * plain[0], plain
for servers in (1, 2):
    records = read(servers)
    for record in (records[0], records[-1]):
        assert (record["workers"], record["servers"], record["asynchronous"]) == (2, servers, False), record
    worst = max(abs(a - b) for a, b in zip(plain, losses(records), strict=True))
    tests = [[r["test_loss"] for r in run if r["type"] == "epoch"] for run in (read(0), records)]
    print(f"{servers} server(s): the losses of 50 steps differ by at most {worst:.1e}")
    assert worst <= 1e-4 and all(abs(a - b) <= 1e-4 for a, b in zip(*tests, strict=True)), tests
PY

# Each at its own pace: 3 workers, 5 epochs. One in ten is right by chance.
for staleness in 0 4; do
  expect 0 '' ranks 5 "$train" --data "$subset" --batch-size 10 --lr 0.005 --momentum 0.5 --parameter-servers 2 --async \
    --staleness "$staleness" --json
  python3 - "$work/out" << 'PY' || fail "asynchronous workers do not learn, with staleness $staleness"
import json, sys
end = json.load(open(sys.argv[1]))
assert (end["workers"], end["servers"], end["asynchronous"], end["steps"]) == (3, 2, True, 5 * 33), end
assert end["test_accuracy"] >= 0.6 and end["weights_equal"] is True, end
print(f"asynchronous: {end['test_accuracy']:.3f} of the test images; {end['sums']}")
PY
done

# Saved in the middle of an epoch, and gone on to the same weights; also without servers.
hash_of() { sed -n 's/.* hash=\([0-9a-f]*\).*/\1/p' "$1"; }
expect 0 '' ranks 3 "$train" "${calm[@]}" --max-steps 40 --parameter-servers 1
whole=$(hash_of "$work/out")
expect 0 '' ranks 3 "$train" "${calm[@]}" --max-steps 40 --parameter-servers 1 --checkpoint "$work/kept" --checkpoint-every 15 --keep-checkpoints 9
[ "$(hash_of "$work/out")" = "$whole" ] || fail 'saving changes the weights'
saved=("$work"/kept/*15*.safetensors)
[ -s "${saved[0]}" ] || fail "no checkpoint of step 15: $(ls "$work/kept")"
for ranks_and_servers in '3 1' '4 2' '2 0'; do
  read -r count servers <<< "$ranks_and_servers"
  expect 0 '' ranks "$count" "$train" "${calm[@]}" --max-steps 40 --parameter-servers "$servers" --resume "${saved[0]}"
  [ "$(hash_of "$work/out")" = "$whole" ] || fail "$count ranks, $servers servers: other weights after going on"
done

# What becomes of a server, by signal: rank 2 of 3 is one.
cat > "$work/rank" << 'RANK'
#!/bin/sh
echo "$$" > "$1/${OMPI_COMM_WORLD_RANK:-0}"
shift
exec "$@"
RANK
chmod +x "$work/rank"
# start NAME OPTION...: an endless run; its server's process in $server once a checkpoint is there
start() {
  local name=$1
  shift
  mkdir "$work/$name"
  ranks 3 "$work/rank" "$work/$name" "$train" "${calm[@]:0:4}" --epochs 100000 --quiet --parameter-servers 1 \
    --checkpoint "$work/$name/saved" "$@" > "$work/out" 2> "$work/err" < /dev/null &
  job=$!
  for _ in $(seq 200); do
    [ ! -e "$work/$name/saved/latest" ] || break
    sleep 0.1
  done
  server=$(cat "$work/$name/2")
}
start stop
kill -USR1 "$server"
wait "$job"
status=$?
[ "$status" -eq 75 ] || fail "status $status, not 75, when a server is asked to stop: $(head -3 "$work/err")"

start pause --stall-timeout 1
named='warning: rank 2 (.*) has not reached step [0-9]* (weights of a parameter server) for [12] s'
for _ in 1 2 3 4 5; do # stopped at the end of an epoch it is missed in the talk of all ranks, not by its workers
  kill -STOP "$server"
  sleep 3
  kill -CONT "$server"
  ! grep -q "$named" "$work/err" || break
  sleep 0.3
done
grep -q "$named" "$work/err" ||
  fail "no message names the server that is stopped: $(head -3 "$work/err")"
grep -q "try: kill -CONT $server" "$work/err" || fail 'not how to send it on'
kill -USR1 "$server"
wait "$job"
status=$?
[ "$status" -eq 75 ] || fail "status $status, not 75, after it went on"

start kill
kill -KILL "$server"
begin=$(date +%s)
wait "$job"
status=$?
took=$(($(date +%s) - begin))
case $status in
  0 | 124) fail "a killed server ends the job with $status" ;;
esac
[ "$took" -le 30 ] || fail "a killed server is noticed after $took s"
grep -q '^ddl-train: error: .*rank 2 (' "$work/err" || fail "no worker names the killed server: $(head -5 "$work/err")"

# Between hosts, that are UTS namespaces of this machine: who is stopped does not respond, and all name that rank, not the
# one that waits for it as they do.
if unshare --uts hostname ddlrun-test 2> /dev/null && [[ ${launcher[*]} == *--oversubscribe* ]]; then
  cat > "$work/far" << 'RANK'
#!/bin/sh
echo $$ > "$1/pid.$OMPI_COMM_WORLD_RANK"
exec 2> "$1/said.$OMPI_COMM_WORLD_RANK"
shift
exec "$@"
RANK
  chmod +x "$work/far"
  while read -r victim others what; do
    said=$work/far.$victim
    mkdir "$said"
    "${launcher[@]}" --host h1:1,h2:1,h3:1 -n 3 --mca if_base_do_not_resolve 1 --mca plm_rsh_agent "$here/../support/uts_ssh.sh" \
      -x OMPI_ALLOW_RUN_AS_ROOT -x OMPI_ALLOW_RUN_AS_ROOT_CONFIRM -x OMP_NUM_THREADS -x DDL_OPTIONS="-timeout 5" \
      "$work/far" "$said" "$train" "${calm[@]:0:4}" --epochs 100000 --quiet --parameter-servers 1 --stall-timeout 2 \
      --checkpoint "$said/saved" --checkpoint-every 15 > "$work/out" 2> "$work/err" < /dev/null &
    job=$!
    for _ in $(seq 300); do
      [ ! -e "$said/saved/latest" ] || break
      sleep 0.1
    done
    kill -STOP "$(cat "$said/pid.$victim")"
    begin=$(date +%s)
    for _ in $(seq 250); do
      kill -0 "$job" 2> /dev/null || break
      [ "$(grep -ls '^ddl-train: error' "$said"/said.* | wc -l)" -lt 2 ] || break
      sleep 0.1
    done
    took=$(($(date +%s) - begin))
    { kill -KILL "$job"; wait "$job"; } 2> /dev/null  # its daemons end with it
    for pid in "$said"/pid.*; do kill -KILL "$(cat "$pid")" 2> /dev/null; done
    [ "$took" -le 20 ] || fail "a $what of another host: named after $took s"
    for rank in ${others//,/ }; do
      grep -q "^ddl-train: warning: rank $victim (h$((victim + 1))) has not reached step" "$said/said.$rank" ||
        fail "a $what of another host: rank $rank's warning does not name it: $(head -3 "$said/said.$rank")"
      ! grep '^ddl-train: warning: rank ' "$said/said.$rank" | grep -qv "rank $victim (h" || fail "a $what of another host: rank $rank names another"
    done
    grep -qh "^ddl-train: error: .*rank $victim (h$((victim + 1))) .*, which does not respond\$" "$said"/said.* ||
      fail "a $what of another host: no message says that it is lost: $(cat "$said"/said.*)"
  done << 'ROWS'
1 0,2 worker
2 0,1 server
ROWS
else
  echo 'several hosts need root and Open MPI here: left out'
fi

# refuse TEXT COUNT OPTION...
refuse() {
  expect_refusal 2 "$1" ranks "$2" "$train" --data "$subset" "${@:3}"
  [ "$(grep -c '^ddl-train: error:' "$work/err")" -eq 1 ] || fail "not exactly one error: ${*:3}"
}
refuse '2 parameter server(s) of 2 rank(s) leave no worker' 2 --parameter-servers 2
refuse '--async needs parameter servers' 2 --async
refuse '--staleness needs --async' 4 --parameter-servers 1 --staleness 2
refuse '--lms cannot be used with --parameter-servers' 3 --parameter-servers 1 --lms 64
refuse '--grad-dtype cannot be used with --parameter-servers' 3 --parameter-servers 1 --grad-dtype bf16
refuse '--optimizer lars needs norms of whole tensors' 3 --parameter-servers 1 --optimizer lars
refuse '--gradient-accumulation 2 cannot be used with --parameter-servers: a worker pushes each batch' 3 --parameter-servers 1 --gradient-accumulation 2
expect_refusal 2 '1 parameter server(s) of 1 rank(s)' "$train" --data "$subset" --parameter-servers 1
grep -q 'try: mpirun -n 2 ' "$work/err" || fail 'not how to have two ranks'
finish
