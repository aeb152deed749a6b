# SPDX-License-Identifier: MIT
"""Trains a small net on Fashion-MNIST with Keras under MultiWorkerMirroredStrategy, on CPUs or GPUs.

    ddlrun launch 2 -x TF_USE_LEGACY_KERAS=1 -- python3 train_keras.py --epochs 2

The script has no line for ddlrun: TensorFlow reads TF_CONFIG. Keras 2 (tf-keras), because Keras 3 refuses this strategy.
"""
import argparse
import gzip

import numpy
import tensorflow as tf


def read_idx(path, offset):
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)


def read_images(directory, part, batch):
    images = read_idx(f"{directory}/{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784) / numpy.float32(255)
    labels = read_idx(f"{directory}/{part}-labels-idx1-ubyte.gz", 8).astype(numpy.int64)
    rows = tf.data.Dataset.from_tensor_slices((images, labels))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return rows.batch(batch, drop_remainder=True).with_options(options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=64, help="of one worker")
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--backup", default="", help="a directory that all workers share: a second start goes on from there")
    options = parser.parse_args()

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    workers = strategy.num_replicas_in_sync
    is_first = strategy.cluster_resolver.task_id in (None, 0)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(128, "relu", input_shape=(784,)), tf.keras.layers.Dense(10)])
        model.compile(tf.keras.optimizers.SGD(options.lr * workers, momentum=0.9),
                      tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    batch = options.batch_size * workers  # of all workers: the strategy deals it
    callbacks = [tf.keras.callbacks.BackupAndRestore(options.backup)] if options.backup else []
    model.fit(read_images(options.data, "train", batch).shuffle(1000, seed=1), epochs=options.epochs, callbacks=callbacks,
              verbose=2 if is_first else 0)
    tested = model.evaluate(read_images(options.data, "t10k", batch), verbose=0)[1]
    if is_first:
        print(f"test accuracy {100 * tested:.1f} % with {workers} workers", flush=True)


if __name__ == "__main__":
    main()
