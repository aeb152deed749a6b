# SPDX-License-Identifier: MIT
"""ddl.torch on any number of ranks: the hook and DistributedOptimizer beside DistributedDataParallel over Gloo."""
import copy
import os
import unittest
import unittest.mock

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import ddl
import ddl.torch

place = ddl.launch.place()
torch.distributed.init_process_group("gloo", init_method="file://" + os.environ["MEETING"], rank=place.rank,
                                     world_size=place.size)
rank, size = place.rank, place.size
torch.set_num_threads(1)


class Net(nn.Module):
    """Ranks use one of two branches, or both."""

    def __init__(self):
        super().__init__()
        self.first, self.left, self.right = nn.Linear(8, 16), nn.Linear(16, 4), nn.Linear(16, 4)

    def forward(self, x, branch=0):
        hidden = torch.tanh(self.first(x))
        return self.left(hidden) if branch == 1 else self.right(hidden) if branch == 2 else self.left(hidden) + self.right(hidden)


def net(seed=1):
    torch.manual_seed(seed)
    return Net()


def data(step):
    torch.manual_seed(1000 * step + rank)
    return torch.randn(16, 8), torch.randn(16, 4)


def train(model, optimizer, branch=0, steps=20):
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        inputs, targets = data(step)
        loss = nn.functional.mse_loss(model(inputs, branch), targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def sgd(model, **more):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, **more)


def weights_of(model):
    return torch.cat([one.detach().flatten() for one in model.parameters()])


class Torch(unittest.TestCase):
    def close(self, ours, theirs):
        torch.testing.assert_close(torch.as_tensor(ours), torch.as_tensor(theirs), rtol=1e-5, atol=1e-6)

    def gloo(self, branch=0, **more):
        model = DistributedDataParallel(net(), **more)
        return train(model, sgd(model), branch), weights_of(model)

    def test_hook(self):
        """Buckets so small that several sums are under way."""
        losses, weights = self.gloo()
        for state in (None, ddl.torch.init()):
            model = DistributedDataParallel(net(), bucket_cap_mb=0.0001)
            model.register_comm_hook(state, ddl.torch.allreduce_hook)
            self.close(train(model, sgd(model)), losses)
            self.close(weights_of(model), weights)

    def test_hook_with_unused_parameters(self):
        branch = 1 + rank % 2
        losses, weights = self.gloo(branch, find_unused_parameters=True)
        model = DistributedDataParallel(net(), find_unused_parameters=True)
        model.register_comm_hook(None, ddl.torch.allreduce_hook)
        self.close(train(model, sgd(model), branch), losses)
        self.close(weights_of(model), weights)

    def test_optimizer(self):
        losses, weights = self.gloo()
        for bucket_bytes in (25 << 20, 100):
            model = net()
            with unittest.mock.patch("ddl.torch_optimizer.BUCKET_BYTES", bucket_bytes):
                optimizer = ddl.torch.DistributedOptimizer(sgd(model), named_parameters=model.named_parameters())
            self.assertIsInstance(optimizer, torch.optim.SGD)
            self.close(train(model, optimizer), losses)
            self.close(weights_of(model), weights)

    def test_optimizer_with_unused_parameters(self):
        """Ranks use other branches: their gradients become final in another order, or never."""
        branch = rank % 3
        losses, weights = self.gloo(branch, find_unused_parameters=True)
        model = net()
        optimizer = ddl.torch.DistributedOptimizer(sgd(model))
        self.close(train(model, optimizer, branch), losses)
        self.close(weights_of(model), weights)

    def test_a_parameter_that_no_rank_uses_gets_zeros(self):
        model = net()
        optimizer = ddl.torch.DistributedOptimizer(sgd(model))
        train(model, optimizer, 1, 2)
        self.assertEqual(model.right.weight.grad.abs().sum().item(), 0)

    def test_sum_closure_scheduler_and_passes(self):
        def one_step(optimizer, model, use_closure, passes=1):
            def closure():
                optimizer.zero_grad()
                for step in range(passes):
                    inputs, targets = data(step)
                    loss = nn.functional.mse_loss(model(inputs), targets)
                    loss.backward()
                return loss

            if use_closure:
                optimizer.step(closure)
            else:
                closure()
                optimizer.step()

        def expected(passes, scale):
            model = net()
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for step in range(passes):
                inputs, targets = data(step)
                nn.functional.mse_loss(model(inputs), targets).backward()
            for one in model.parameters():
                torch.distributed.all_reduce(one.grad)
                one.grad *= scale
            optimizer.step()
            return weights_of(model)

        for operation, passes in (("mean", 1), ("sum", 1), ("mean", 3)):
            for use_closure in (False, True):
                model = net()
                optimizer = ddl.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), operation=operation,
                                                           backward_passes_per_step=passes)
                torch.optim.lr_scheduler.StepLR(optimizer, 1)
                one_step(optimizer, model, use_closure, passes)
                self.close(weights_of(model), expected(passes, 1 if operation == "sum" else 1 / size))

    def test_clipping(self):
        model = net()
        optimizer = ddl.torch.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=1.0))
        before = weights_of(model)
        inputs, targets = data(0)
        nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.synchronize()
        nn.utils.clip_grad_norm_(model.parameters(), 0.01)
        with optimizer.skip_synchronize():
            optimizer.step()
        self.assertAlmostEqual((weights_of(model) - before).norm().item(), 0.01, places=4)

    def test_what_is_refused(self):
        model = net()
        optimizer = sgd(model)
        torch.optim.lr_scheduler.StepLR(optimizer, 1)
        double = [("x", one) for one in model.parameters()]
        wrapped = ddl.torch.DistributedOptimizer(sgd(model))
        for call, text in ((lambda: ddl.torch.DistributedOptimizer(optimizer), "a scheduler holds"),
                           (lambda: ddl.torch.DistributedOptimizer(wrapped), "already"),
                           (lambda: ddl.torch.DistributedOptimizer(sgd(model), double), "not unique: x"),
                           (lambda: ddl.torch.DistributedOptimizer(sgd(model), [("a", model.first.weight)]), "5 parameters"),
                           (lambda: ddl.torch.DistributedOptimizer(sgd(model), operation="max"), "'max'"),
                           (wrapped.skip_synchronize().__enter__, "without synchronize"),
                           (lambda: ddl.torch.broadcast_parameters({"x": 1}), "x is of int"),
                           (lambda: ddl.init().all_reduce(torch.ones(2, 3).t(), "sum"), r"\(3, 2\) is not contiguous"),
                           (lambda: ddl.init().all_reduce(torch.ones(2, dtype=torch.int16), "sum"), "torch.int16"),
                           (lambda: ddl.init().all_reduce(torch.ones(2).to_sparse(), "sum"), "sparse"),
                           (lambda: ddl.init().all_reduce(torch.ones(2, device="meta"), "sum"), "device meta")):
            with self.subTest(text), self.assertRaisesRegex(ddl.UsageError, text):
                call()
        inputs, targets = data(0)
        nn.functional.mse_loss(model(inputs), targets).backward()
        with self.assertRaisesRegex(ddl.UsageError, "zero_grad"):
            wrapped.zero_grad()
        with self.assertRaisesRegex(ddl.UsageError, "more often than 1 times"):
            nn.functional.mse_loss(model(inputs), targets).backward()
        wrapped.synchronize()

    @unittest.skipIf(size == 1, "one rank")
    def test_other_parameters_on_a_rank(self):
        model = net()
        model.left.weight.requires_grad_(rank != 0)
        with self.assertRaisesRegex(ddl.MismatchError, "the parameters of the optimizer differ"):
            ddl.torch.DistributedOptimizer(sgd(model))

    def test_tensors(self):
        context = ddl.init()
        for kind in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8):
            values = torch.full((3, 2), rank + 1).to(kind)
            address = values.data_ptr()
            self.assertIs(context.all_reduce(values, "sum"), values)
            self.assertEqual((values.data_ptr(), values.tolist()), (address, [[size * (size + 1) // 2] * 2] * 3))

    def test_broadcast_parameters(self):
        model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4)).to(memory_format=torch.channels_last)
        state = copy.deepcopy(model.state_dict())
        for key in state:  # another on each rank: among them int64, and a tensor that is not contiguous
            state[key] += torch.tensor(rank + 1).to(state[key].dtype)
        state["flags"] = torch.tensor([rank == size - 1, True])
        state["strided"] = torch.full((4, 4), float(rank))[:, ::2]
        state["complex"], state["empty"] = torch.tensor([complex(rank, 1)]), torch.zeros(0)
        ddl.torch.broadcast_parameters(state, root_rank=size - 1)
        self.assertEqual(state["strided"].unique().tolist(), [size - 1])
        self.assertEqual((state["flags"].tolist(), state["complex"].tolist()), ([True, True], [complex(size - 1, 1)]))
        gathered = [None] * size
        torch.distributed.all_gather_object(gathered, {key: value.tolist() for key, value in state.items()})
        self.assertEqual(gathered, [gathered[0]] * size)
        for rows in (model.named_parameters(), model.parameters()):
            ddl.torch.broadcast_parameters(rows, root_rank=0)

    def test_broadcast_optimizer_state(self):
        """Of a root that goes on, to ranks that begin; and the losses of all are then the same as without a pause."""
        for make in (sgd, lambda model: torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.8, 0.99)),
                     lambda model: torch.optim.RMSprop([{"params": [one]} for one in model.parameters()], lr=0.01)):
            model = net(seed=rank)
            optimizer = make(model)
            if rank == 0:
                train(model, optimizer, steps=3)
                optimizer.param_groups[0]["lr"] = 0.03
            ddl.torch.broadcast_parameters(model.state_dict())
            ddl.torch.broadcast_optimizer_state(optimizer)
            gathered = [None] * size
            torch.distributed.all_gather_object(gathered, optimizer.state_dict())
            self.assertEqual(str(gathered), str([gathered[0]] * size))
            self.assertEqual(gathered[0]["param_groups"][0]["lr"], 0.03)
            self.assertGreater(len(gathered[-1]["state"]), 0)
            train(model, ddl.torch.DistributedOptimizer(optimizer), steps=2)

    def test_state_of_other_kinds(self):
        for value in (None, True, 3, -0.1, float("inf"), "x", (1, [2.5, None], {"a": (1,), 2: {}}), 2 ** 70):
            with self.subTest(value):
                found = []
                self.assertEqual(ddl.torch.unpack(ddl.torch.json.loads(ddl.torch.json.dumps(ddl.torch.pack(value, []))), found), value)
        with self.assertRaisesRegex(ddl.UsageError, "has a object"):
            ddl.torch.pack([object()], [])


if __name__ == "__main__":
    unittest.main()
