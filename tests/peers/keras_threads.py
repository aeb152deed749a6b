# SPDX-License-Identifier: MIT
"""The threads with which TensorFlow begins, of one operator and of operators at once: keras_threads.py prints them and the
CPUs of the process. TensorFlow's own names: those of its inter-op pool; its intra-op pool's have the process's."""
import os
import socket

import tensorflow as tf


def count():
    names = [open(f"/proc/self/task/{one}/comm").read().strip() for one in os.listdir("/proc/self/task")]
    return names.count("tf_Compute"), sum(not name.startswith(("tf_", "grpc")) for name in names)


before = count()
tf.matmul(tf.ones((256, 256)), tf.ones((256, 256)))
after = count()
print(f"{socket.gethostname()} intra {after[1] - before[1]} inter {after[0] - before[0]} cpus {len(os.sched_getaffinity(0))}")
