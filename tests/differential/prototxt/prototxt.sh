#!/bin/bash
# SPDX-License-Identifier: MIT
# Caffe's files as ddl-train reads them, and as protobuf's own Python does.
. "$(dirname "$0")/../../support/check.sh"
values=${1:?usage: $0 PATH/TO/prototxt_values}
here=$(dirname "$(readlink -f "$0")")
source_dir=$(readlink -f "$here/../../..")
python=
for candidate in python3 /usr/bin/python3; do
  [ -n "$python" ] || ! "$candidate" -c 'import google.protobuf' 2> /dev/null || python=$candidate
done
if ! command -v protoc > /dev/null || [ -z "$python" ]; then
  echo 'skipped: no protobuf for Python; apt-get install python3-protobuf protobuf-compiler'
  exit 125
fi
protoc --proto_path="$source_dir/runtime/caffe" --python_out="$work" caffe.proto || fail 'protoc'
files=("$source_dir"/tests/golden/prototxt/valid/*.prototxt "$source_dir"/examples/caffe/*.prototxt)
"$values" "${files[@]}" > "$work/ours" || fail 'ddl-train refuses a file'
"$python" "$here/prototxt_judge.py" "$work" "${files[@]}" > "$work/theirs" || fail 'Python refuses a file'
diff "$work/theirs" "$work/ours" > "$work/diff" || fail "other values: $(head -20 "$work/diff")"
[ "$(wc -l < "$work/ours")" -ge 300 ] || fail "only $(wc -l < "$work/ours") lines were compared"
echo "$(wc -l < "$work/ours") lines of ${#files[@]} files are the same"
finish
