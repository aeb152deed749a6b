#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""TensorFlow's tasks. TF_CONFIG as TFConfigClusterResolver reads it (tensorflow/python/distribute/cluster_resolver/
tfconfig_cluster_resolver.py: json, cluster, task.type as a string, task.index as a number; without a cluster it goes on
alone, here that fails); or the flags of the older
distributed programs (tf.app.flags: --ps_hosts --worker_hosts --job_name --task_index). ClusterSpec wants each job a
list, or a dictionary by index, of host:port (tensorflow/python/training/server_lib.py). Each task listens at its own address, as tf.train.Server;
workers reach every task; a parameter server would wait forever (server.join()), here it ends with --ps_ends."""
import json
import os
import socket
import sys
import time

flags = dict(word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--"))
if "job_name" in flags:
    # tf.app.flags.DEFINE_integer refuses what is no number, split(",") takes anything.
    cluster = {"ps": flags["ps_hosts"].split(","), "worker": flags["worker_hosts"].split(",")}
    kind, index = flags["job_name"], int(flags["task_index"])
else:
    config = json.loads(os.environ.get("TF_CONFIG", "{}"))
    if "cluster" not in config or "task" not in config:
        sys.exit("TF_CONFIG has no cluster or no task")
    cluster, task = config["cluster"], config["task"]
    kind, index = str(task["type"]), int(task["index"])
for job, tasks in cluster.items():
    if not isinstance(tasks, list) or any(not isinstance(one, str) or ":" not in one for one in tasks):
        sys.exit(f"The ClusterSpec's job {job} is no list of addresses")
every = [one for tasks in cluster.values() for one in tasks]
if len(set(every)) != len(every):
    sys.exit("two tasks with one address")
if kind not in cluster or not 0 <= index < len(cluster[kind]):
    sys.exit(f"no task {kind} {index} in the cluster")
visible = os.environ.get("CUDA_VISIBLE_DEVICES")


def split_address(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


with socket.create_server(split_address(cluster[kind][index])) as server:
    server.settimeout(20)
    if kind == "worker":
        for address in every:
            for attempt in range(200):
                try:
                    socket.create_connection(split_address(address), 5).close()
                    break
                except ConnectionRefusedError:
                    time.sleep(0.1)
            else:
                sys.exit(f"worker {index}: no process listens at {address}")
    for worker in range(len(cluster["worker"])):  # until every worker was here
        server.accept()[0].close()
if kind == "ps" and "ps_ends" not in flags:
    time.sleep(3600)
print(f"{kind} {index} of {len(cluster[kind])}, GPUs {visible}")
