// SPDX-License-Identifier: MIT
// PyTorch's env:// rendezvous (torch/distributed/rendezvous.py) and the further variables that torchrun sets
// (torch/distributed/elastic/agent/server/local_elastic_agent.py). Not TORCHELASTIC_*: no agent is there to
// ask.
#include "launch/frameworks/plan_internal.hpp"

#include <fmt/format.h>

namespace ddlrun::frameworks {

void set_torch_variables(const FrameworkRequest& request, FrameworkPlan& plan) {
  launch::RankGroup& group = whole_job(request, plan);
  set_per_rank(group, "RANK", "{rank}", "torch.distributed: this rank of all");
  set_per_rank(group, "WORLD_SIZE", "{size}", "torch.distributed: all ranks");
  set_per_rank(group, "LOCAL_RANK", "{local_rank}", "which GPU of its host a script takes");
  set_per_rank(group, "LOCAL_WORLD_SIZE", "{local_size}", "ranks of its host");
  set_per_rank(group, "GROUP_RANK", "{node}", "which host, as torchrun counts them");
  set_per_rank(group, "GROUP_WORLD_SIZE", "{nodes}", "how many hosts");
  set_per_rank(group, "NODE_RANK", "{node}", "which host, for Lightning");
  set_per_rank(group, "ROLE_NAME", "default", "torchrun: there is one role");
  set_per_rank(group, "ROLE_RANK", "{rank}", "torchrun: there is one role");
  set_per_rank(group, "ROLE_WORLD_SIZE", "{size}", "torchrun: there is one role");
  share(request, plan, "MASTER_ADDR", address_of(request, places_of(request.rank_map).at(0).host),
        "the address of rank 0: the others connect to it");
  share(request, plan, "MASTER_PORT", fmt::format("{}", request.master_port), request.master_port_why);
}

void plan_pytorch(const FrameworkRequest& request, FrameworkPlan& plan) {
  set_torch_variables(request, plan);
  if (any_gpu(request.rank_map)) plan.gpu_view = launch::GpuView::host;  // scripts choose with LOCAL_RANK
}

}  // namespace ddlrun::frameworks
