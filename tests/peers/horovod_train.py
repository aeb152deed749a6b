# SPDX-License-Identifier: MIT
"""A small net under Horovod's DistributedOptimizer: horovod_train.py OUT writes OUT/RANK.json: who Horovod is, the settings that
Horovod reads from its variables, and the losses."""
import faulthandler
import json
import os
import socket
import sys

import horovod.torch as hvd
import torch

faulthandler.dump_traceback_later(500, exit=True)  # a rank that hangs prints where; a busy machine takes minutes
hvd.init()
rank, size = hvd.rank(), hvd.size()
torch.manual_seed(7)
rows = torch.randn(64, 8)
goals = rows.pow(2).sum(1, keepdim=True)
torch.manual_seed(100 + rank)  # each begins elsewhere, and gets rank 0's parameters
net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
hvd.broadcast_parameters(net.state_dict(), root_rank=0)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(net.parameters(), lr=0.02), named_parameters=net.named_parameters())
losses = []
for _ in range(30):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(rows[rank::size]), goals[rank::size])
    loss.backward()
    optimizer.step()
    losses.append(hvd.allreduce(loss.detach()).item())
place = {"host": socket.gethostname(), "rank": rank, "size": size, "local_rank": hvd.local_rank(), "local_size": hvd.local_size(),
         "cross_rank": hvd.cross_rank(), "cross_size": hvd.cross_size()}
with open(f"{sys.argv[1]}/{rank}.json", "w") as file:
    json.dump({"place": place, "losses": losses, "mpi": hvd.mpi_enabled(), "gloo": hvd.gloo_enabled(),
               "variables": {name: os.environ[name] for name in os.environ if name.startswith("HOROVOD_")}}, file)
hvd.shutdown()
