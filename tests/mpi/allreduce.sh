#!/bin/bash
# SPDX-License-Identifier: MIT
# ddl-train allreduce: all ranks take part and rank 0 says so once; wrong words are refused before MPI starts.
. "$(dirname "$(readlink -f "$0")")/ranks.sh"

for count in 1 3; do
  expect 0 "\"ranks\":$count,\"bytes\":4,\"times\":1," ranks "$count" "$train" allreduce
  [ "$(wc -l < "$work/out")" -eq 1 ] || fail "$count ranks print $(wc -l < "$work/out") lines"
done
expect 0 '"ranks":2,"bytes":1048576,"times":5,' ranks 2 "$train" allreduce --bytes 1048576 --times 5
python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert 0 < d["seconds"] < 60, d' "$work/out" ||
  fail "not the JSON that is promised: $(cat "$work/out")"
expect_refusal 2 'did you mean --bytes?' ranks 2 "$train" allreduce --byte 4
expect_refusal 2 '--bytes' "$train" allreduce --bytes 3
expect 0 'usage: mpirun' "$train" allreduce --help
finish
