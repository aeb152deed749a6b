# SPDX-License-Identifier: MIT
"""The job by Horovod."""
import horovod.torch as hvd
import work

hvd.init()
work.run(hvd.rank(), hvd.size(), lambda value: hvd.allreduce(value, op=hvd.Min))
hvd.shutdown()
