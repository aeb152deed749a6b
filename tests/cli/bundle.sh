#!/bin/bash
# SPDX-License-Identifier: MIT
# The bundle of this build: the same archive twice, and what packaging/bundle_checks.sh runs from another directory, with this
# machine's C library and with the bundle's.
. "$(dirname "$(readlink -f "$0")")/../support/check.sh"
bundle=$DDLRUN_SOURCE_DIR/packaging/bundle.sh
command -v patchelf > /dev/null || { echo "skipped: no patchelf (apt-get install patchelf)"; exit 125; }
[ -e "$DDLRUN_BUILD_DIR/runtime/ddl-train" ] || { echo 'skipped: built without ddl-train (DDLRUN_RUNTIME)'; exit 125; }
export GZIP_LEVEL=1
expect 0 'or newer use their own C library' "$bundle" "$work/one.tar.gz" "$DDLRUN_BUILD_DIR"
expect 0 '' "$bundle" "$work/two.tar.gz" "$DDLRUN_BUILD_DIR"
cmp "$work/one.tar.gz" "$work/two.tar.gz" || fail 'two bundles of one build differ'
run "$DDLRUN_SOURCE_DIR/packaging/bundle_checks.sh" "$work/one.tar.gz"
cat "$work/out"
[ "$status" -eq 0 ] || fail 'the bundle does not run'
tar -tf "$work/one.tar.gz" | sed 's|^[^/]*/||' > "$work/list"
for file in bin/ddlrun bin/ddl-train lib/libddl.so include/ddl/ddl.hpp share/doc/ddlrun/LICENSE \
  share/doc/ddlrun/licenses/libc6 libexec/glibc/libc.so.6; do
  grep -qx "$file" "$work/list" || fail "no $file in the bundle"
done
tar -xf "$work/one.tar.gz" -C "$work"
expect 0 ' 0 faults' "$DDLRUN_SOURCE_DIR/tests/lint/installed_pages.py" "$(echo "$work"/ddlrun-*/)"
! grep -E 'libmpi|libcuda\.|libcudnn|libcublas' "$work/list" || fail 'these belong to the host'
finish
