// SPDX-License-Identifier: MIT
#include "launch/plan/job_rank_map.hpp"

#include <algorithm>

namespace ddlrun::launch {

namespace {

void remark_on_memory(const RankMap& rank_map, std::vector<std::string>& remarks) {
  if (rank_map.memory == MemoryPolicy::leave) return;
  for (const auto& bindings : rank_map.kinds) {
    const bool unknown = std::any_of(bindings.begin(), bindings.end(),
                                     [](const RankBinding& binding) { return binding.numa_node < 0; });
    if (!unknown) continue;
    remarks.push_back(
        "--mem-bind is for ranks whose cores are of one NUMA node; the others take memory from anywhere");
    return;
  }
}

GpuView choose_gpu_view(const PlacementSpec& spec, const Exports& exports, GpuView usual,
                        std::vector<std::string>& remarks) {
  const GpuView view = spec.visible_gpus.value_or(usual);
  const auto& names = exports.names;
  const bool own = std::find(names.begin(), names.end(), "CUDA_VISIBLE_DEVICES") != names.end();
  if (!own || view == GpuView::leave) return view;
  if (spec.visible_gpus)
    remarks.push_back("CUDA_VISIBLE_DEVICES is as you export it; --visible-gpus gives way");
  return GpuView::leave;
}

}  // namespace

RankMap job_rank_map(const JobPlan& job) {
  if (job.plan) return make_rank_map(*job.plan);
  return job.bindings ? *job.bindings : make_rank_map(job.ranks);
}

void complete_rank_map(const PlacementSpec& spec, const Exports& exports, LauncherKind launcher,
                       const frameworks::FrameworkPlan& framework, RankMap& rank_map,
                       std::vector<std::string>& remarks) {
  // Open MPI binds by its rankfile; with the others only `ddlrun exec` does.
  const bool by_launcher = launcher == LauncherKind::open_mpi;
  rank_map.bind = spec.binds && !by_launcher;
  rank_map.unbind = !spec.binds && by_launcher;
  rank_map.memory = spec.memory;
  remark_on_memory(rank_map, remarks);
  rank_map.gpu_view = choose_gpu_view(spec, exports, framework.gpu_view, remarks);
  if (!framework.groups.empty()) rank_map.groups = framework.groups;
}

}  // namespace ddlrun::launch
