# SPDX-License-Identifier: MIT
"""A small Keras net on Fashion-MNIST under a strategy of TensorFlow: train(STRATEGY) of a script with the arguments OUT DATA.
Each task writes OUT/TYPE.INDEX.json: the cluster as TensorFlow parsed it, its CPUs and variables, and, where it has the loop,
losses and accuracy. BY_HAND: nobody ends the servers, so they end with the chief."""
import gzip
import json
import os
import socket
import sys
import time

import numpy
import tensorflow as tf

out, data = sys.argv[1:3]
resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
kind, index = resolver.task_type or "alone", resolver.task_id or 0
keras = tf.keras


def leave(**found):
    found.update(cluster=resolver.cluster_spec().as_dict(), host=socket.gethostname(), version=tf.__version__,
                 cpus=sorted(os.sched_getaffinity(0)), variables={name: os.environ[name] for name in os.environ if name.startswith("TF_NUM")})
    with open(f"{out}/{kind}.{index}.json", "w") as file:
        json.dump(found, file)


def read(name):
    parts = []
    for part, header in (("images-idx3", 16), ("labels-idx1", 8)):
        with gzip.open(f"{data}/{name}-{part}-ubyte.gz") as file:
            parts.append(numpy.frombuffer(file.read(), numpy.uint8, offset=header))
    return parts[0].reshape(len(parts[1]), 784).astype(numpy.float32) / 255, parts[1].astype(numpy.int64)


def layers():
    start = [keras.initializers.GlorotUniform(seed=seed) for seed in (1, 2)]
    return keras.Sequential([keras.layers.Dense(32, "relu", kernel_initializer=start[0], input_shape=(784,)),
                             keras.layers.Dense(10, kernel_initializer=start[1])])


def serve():
    """A parameter server or worker, which nothing ends: as tf.distribute.Server.join()."""
    server = tf.distribute.Server(resolver.cluster_spec(), kind, index, protocol="grpc")
    leave()
    while "BY_HAND" not in os.environ or not os.path.exists(f"{out}/chief.0.json"):
        time.sleep(1)
    del server
    os._exit(0)


def train(make_strategy):
    if "chief" in resolver.cluster_spec().as_dict() and kind != "chief":
        serve()
    strategy = make_strategy()
    with strategy.scope():
        net = layers()
        net.compile(keras.optimizers.SGD(0.2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    rows = tf.data.Dataset.from_tensor_slices(read("train")).batch(96, drop_remainder=True).repeat()
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    losses = net.fit(rows.with_options(options), epochs=6, steps_per_epoch=10, verbose=0).history["loss"]
    alone = layers()
    alone.set_weights(net.get_weights())
    images, labels = read("t10k")
    accuracy = float((alone(images).numpy().argmax(1) == labels).mean())
    leave(losses=losses, accuracy=accuracy, replicas=strategy.num_replicas_in_sync)
