# SPDX-License-Identifier: MIT
"""DistributedOptimizer: sums of gradients start in the backward pass, bucket by bucket, and step() waits for them."""
import contextlib
import hashlib

import torch

from .errors import MismatchError, failure, usage
from .torch_context import init

BUCKET_BYTES = 25 << 20  # as DistributedDataParallel's


class Bucket:
    """Gradients of one type, one after the other. The order of the buckets is the same on all ranks."""

    def __init__(self, parameters):
        self.parameters = parameters
        first = parameters[0]
        self.values = torch.zeros(sum(one.numel() for one in parameters), dtype=first.dtype, device=first.device)
        self.views, at = {}, 0
        for one in parameters:
            self.views[one] = self.values[at:at + one.numel()].view(one.shape)
            at += one.numel()
        self.reset()

    def reset(self):
        self.missing, self.handle = set(self.parameters), None


def plan_buckets(parameters):
    """In the reverse of their order, which is about that in which gradients become final."""
    open_buckets, buckets = {}, []
    for one in reversed(parameters):
        kind = (one.dtype, one.device)
        rows, size = open_buckets.get(kind, ([], 0))
        nbytes = one.numel() * one.element_size()
        if rows and size + nbytes > BUCKET_BYTES:
            buckets.append(rows)
            rows, size = [], 0
        rows.append(one)
        open_buckets[kind] = (rows, size + nbytes)
    return [Bucket(rows) for rows in buckets + [rows for rows, _ in open_buckets.values()]]


def name_parameters(optimizer, named_parameters):
    """The parameters with gradients, with their names; named as Horovod does where the program does not."""
    listed = [(one, f"allreduce.noname.{group}.{index}") for group, row in enumerate(optimizer.param_groups)
              for index, one in enumerate(row["params"]) if one.requires_grad]
    if named_parameters is None:
        return listed
    rows = list(named_parameters)
    names = [name for name, _ in rows]
    if len(set(names)) != len(names):
        double = sorted(name for name in set(names) if names.count(name) > 1)
        raise usage("names of parameters are not unique: " + ", ".join(double[:5]), "named_parameters",
                    "names with the name of the model before them")
    name_of = {one: name for name, one in rows}
    unnamed = [name for one, name in listed if one not in name_of]
    if unnamed:
        raise usage(f"{len(unnamed)} parameters of the optimizer are not named", "named_parameters", "model.named_parameters()")
    return [(one, name_of[one]) for one, _ in listed]


def require_same_parameters(context, rows):
    """Ranks with other parameters would add gradients of different ones."""
    text = "\n".join(f"{name} {one.dtype} {tuple(one.shape)}" for one, name in rows)
    digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")
    if context.all_reduce(digest, "max") != context.all_reduce(digest, "min"):
        raise failure(MismatchError, "the parameters of the optimizer differ between ranks",
                      f"DistributedOptimizer, rank {context.rank} has {len(rows)}",
                      "the same model, with the same frozen layers, on all ranks")


class Summing:
    """Goes before the class of an optimizer; _ddl_start() gives it what it needs."""

    def _ddl_start(self, rows, context, operation, backward_passes_per_step):
        self._ddl_context, self._ddl_operation, self._ddl_passes = context, operation, backward_passes_per_step
        self._ddl_buckets = plan_buckets([one for one, _ in rows])
        self._ddl_bucket_of = {one: bucket for bucket in self._ddl_buckets for one in bucket.parameters}
        self._ddl_names = dict(rows)
        self._ddl_is_synchronized = self._ddl_keeps_sums = False
        self._ddl_reset()
        # The node that accumulates a gradient runs its hooks behind that, in any version of PyTorch; it is kept, for else the
        # graph would make another one.
        self._ddl_nodes = []
        for one, _ in rows:
            node = one.expand_as(one).grad_fn.next_functions[0][0]
            node.register_hook(lambda *_, one=one: self._ddl_gradient_is_final(one))
            self._ddl_nodes.append(node)

    def _ddl_reset(self):
        self._ddl_next = 0
        for bucket in self._ddl_buckets:
            bucket.reset()
        self._ddl_left = {one: self._ddl_passes for one in self._ddl_bucket_of}

    def _ddl_gradient_is_final(self, one):
        self._ddl_is_synchronized = False
        if self._ddl_left[one] == 0:
            raise usage(f"the gradient of {self._ddl_names[one]} was computed more often than {self._ddl_passes} times "
                        "before step()", "backward()", "backward_passes_per_step=N of DistributedOptimizer")
        self._ddl_left[one] -= 1
        if self._ddl_left[one] == 0:
            self._ddl_put(one)
            self._ddl_start_buckets()

    def _ddl_put(self, one):
        if one.grad.is_sparse:
            raise usage(f"the gradient of {self._ddl_names[one]} is sparse", "backward()", "sparse=False of its Embedding")
        bucket = self._ddl_bucket_of[one]
        bucket.views[one].copy_(one.grad)
        bucket.missing.discard(one)

    def _ddl_start_buckets(self):
        """In their order alone: gradients may become final in another order on another rank."""
        while self._ddl_next < len(self._ddl_buckets) and not self._ddl_buckets[self._ddl_next].missing:
            bucket = self._ddl_buckets[self._ddl_next]
            bucket.handle = self._ddl_context.start_all_reduce(bucket.values, self._ddl_operation)
            self._ddl_next += 1

    @torch.no_grad()
    def synchronize(self):
        """Waits until each gradient is that of all ranks, to clip gradients before step(). A parameter that this rank did
        not use takes part with zeros, because another rank may have used it."""
        for bucket in self._ddl_buckets:
            for one in list(bucket.missing):
                if one.grad is None:
                    one.grad = torch.zeros_like(one)
                self._ddl_put(one)
        self._ddl_start_buckets()
        for bucket in self._ddl_buckets:
            bucket.handle.wait()
            for one in bucket.parameters:
                one.grad.copy_(bucket.views[one])
        self._ddl_reset()
        self._ddl_is_synchronized = True

    @contextlib.contextmanager
    def skip_synchronize(self):
        """step() inside of it sums nothing, after synchronize()."""
        if not self._ddl_is_synchronized:
            raise usage("skip_synchronize() without synchronize()", "optimizer", "optimizer.synchronize() before it")
        self._ddl_keeps_sums = True
        try:
            yield
        finally:
            self._ddl_keeps_sums = False

    def step(self, closure=None):
        if closure is not None:
            return super().step(lambda: self._ddl_closed(closure))
        if not self._ddl_keeps_sums:
            self.synchronize()
        return super().step()

    def _ddl_closed(self, closure):
        with torch.enable_grad():
            loss = closure()
        self.synchronize()
        return loss

    def zero_grad(self, *words, **more):
        if any(bucket.handle is not None for bucket in self._ddl_buckets):
            raise usage("zero_grad() between backward() and step() would spoil sums that are under way", "optimizer.zero_grad()",
                        "zero_grad() behind step(), or synchronize() before it")
        return super().zero_grad(*words, **more)


def DistributedOptimizer(optimizer, named_parameters=None, backward_passes_per_step=1, operation="mean", context=None):
    """`optimizer` itself, which from now on takes its steps with the gradients of all ranks: their "mean", or "sum".

    backward_passes_per_step: so many backward passes add up their gradients before a sum. Broadcast parameters and the state
    of the optimizer before the first step. Without DistributedDataParallel, which would sum the gradients again.
    """
    if isinstance(optimizer, Summing):
        raise usage("the optimizer is a DistributedOptimizer already", "DistributedOptimizer", "one call of it")
    if "step" in vars(optimizer):
        raise usage("a scheduler holds the optimizer's own step()", "DistributedOptimizer",
                    "DistributedOptimizer first, then the scheduler of its learning rate")
    if operation not in ("mean", "sum"):
        raise usage(f"gradients have no {operation!r}", "operation", "mean or sum")
    context = context or init()
    rows = name_parameters(optimizer, named_parameters)
    require_same_parameters(context, rows)
    kind = type(optimizer)
    optimizer.__class__ = type(kind.__name__, (Summing, kind), {})
    optimizer._ddl_start(rows, context, operation, backward_passes_per_step)
    return optimizer
