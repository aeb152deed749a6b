#!/bin/bash
# SPDX-License-Identifier: MIT
# PyPI's PyTorch 2 on virtual hosts, as cluster/torch_hosts.sh has Debian's: DistributedDataParallel, torchrun's variables,
# and ddl.torch.
[ "${DDLRUN_PEERS-}" = all ] || { echo "skipped: GBs of wheels; DDLRUN_PEERS=all runs it"; exit 125; }
peers=$(dirname "$(readlink -f "$0")")
place=$("$peers/install.sh" torch) || { status=$?; echo "$place"; exit "$status"; }
[ ! -d "$DDLRUN_BUILD_DIR/python" ] || "$peers/../python/torch.sh" "$DDLRUN_BUILD_DIR/runtime/ddl-train" "$place/bin/python" || exit 1
exec "$peers/../cluster/torch_hosts.sh" "$place/bin/python"
