#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""torch.distributed's env:// (torch/distributed/rendezvous.py, _env_rendezvous_handler): RANK, WORLD_SIZE, MASTER_ADDR
and MASTER_PORT have to be set and not empty; rank 0 listens at MASTER_PORT, all others connect to MASTER_ADDR. Scripts
for torchrun take their GPU by LOCAL_RANK; the other names are those that torch/distributed/elastic/agent/server/
local_elastic_agent.py sets (tests/cluster/torch_hosts.sh asks torchrun itself), and Lightning's NODE_RANK
(LightningEnvironment.node_rank, before GROUP_RANK)."""
import os
import socket
import sys
import time


def get_env_or_raise(name):
    value = os.environ.get(name, None)
    if not value:
        sys.exit(f"env:// rendezvous: environment variable {name} expected, but not set")
    return value


rank, size = int(get_env_or_raise("RANK")), int(get_env_or_raise("WORLD_SIZE"))
address, port = get_env_or_raise("MASTER_ADDR"), int(get_env_or_raise("MASTER_PORT"))
local, peers = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
node, nodes = int(os.environ["GROUP_RANK"]), int(os.environ["GROUP_WORLD_SIZE"])
if not 0 <= port < 2**16:
    sys.exit(f"port must have value from 0 to 65535 but was {port}.")
if os.environ["ROLE_RANK"] != str(rank) or os.environ["NODE_RANK"] != str(node) or not 0 <= local < peers:
    sys.exit("torchrun's names contradict each other")
if os.environ["ROLE_WORLD_SIZE"] != str(size) or not os.environ["ROLE_NAME"] or not node < nodes <= size:
    sys.exit(f"{nodes} hosts, this one is {node}, {size} ranks")
if rank == 0:
    with socket.create_server((address, port)) as server:
        server.settimeout(20)
        seen = {0: (node, local, peers)}
        while len(seen) < size:
            connection, _ = server.accept()
            with connection:
                number, *place = map(int, connection.makefile().readline().split())
                seen[number] = tuple(place)
    if set(seen) != set(range(size)):
        sys.exit(f"ranks {sorted(seen)} of {size}")
    # As torchrun numbers them: node after node, each with all its local ranks.
    for number in range(size):
        this, at, count = seen[number]
        if number - at < 0 or [seen.get(number - at + i) for i in range(count)] != [(this, i, count) for i in range(count)]:
            sys.exit(f"rank {number} is local rank {at} of {count} on node {this}: ranks are not node-contiguous")
    if {seen[i][0] for i in range(size)} != set(range(nodes)):
        sys.exit(f"ranks are on nodes {sorted({seen[i][0] for i in range(size)})}, GROUP_WORLD_SIZE says {nodes}")
    if [seen[i][0] for i in range(size)] != sorted(seen[i][0] for i in range(size)):
        sys.exit("nodes are not in the order of their ranks")
    print(f"all {size} ranks met at {address}")
else:
    for attempt in range(200):
        try:
            with socket.create_connection((address, port), 5) as connection:
                connection.sendall(f"{rank} {node} {local} {peers}\n".encode())
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    else:
        sys.exit("rank 0 never listened")
