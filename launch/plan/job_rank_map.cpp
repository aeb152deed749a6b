// SPDX-License-Identifier: MIT
#include "launch/plan/job_rank_map.hpp"

#include "base/text/parse_enum.hpp"

#include <algorithm>

namespace ddlrun::cli {

namespace {

using launch::GpuView;
using launch::MemoryPolicy;

void tell_memory(const launch::RankMap& rank_map, JobPlan& job) {
  if (rank_map.memory == MemoryPolicy::leave) return;
  for (const auto& bindings : rank_map.kinds) {
    const bool unknown =
        std::any_of(bindings.begin(), bindings.end(),
                    [](const launch::RankBinding& binding) { return binding.numa_node < 0; });
    if (!unknown) continue;
    job.remarks.push_back(
        "--mem-bind is for ranks whose cores are of one NUMA node; the others take memory from anywhere");
    return;
  }
}

GpuView choose_gpu_view(const LaunchOptions& options, const launch::Exports& exports, GpuView usual,
                        JobPlan& job) {
  const bool asked = !options.gpu_view.empty();
  const GpuView view =
      asked ? parse_enum<GpuView>("--visible-gpus", options.gpu_view,
                                  {{"all", GpuView::leave}, {"one", GpuView::one}, {"host", GpuView::host}})
            : usual;
  const auto& names = exports.names;
  const bool own = std::find(names.begin(), names.end(), "CUDA_VISIBLE_DEVICES") != names.end();
  if (!own || view == GpuView::leave) return view;
  if (asked) job.remarks.push_back("CUDA_VISIBLE_DEVICES is as you export it; --visible-gpus gives way");
  return GpuView::leave;
}

}  // namespace

launch::RankMap job_rank_map(const JobPlan& job) {
  if (job.plan) return launch::make_rank_map(*job.plan);
  return job.bindings ? *job.bindings : launch::make_rank_map(job.ranks);
}

void complete_rank_map(const LaunchOptions& options, const launch::Exports& exports,
                       launch::LauncherKind launcher, const frameworks::FrameworkPlan& framework,
                       launch::RankMap& rank_map, JobPlan& job) {
  rank_map.bind = launcher != launch::LauncherKind::open_mpi;
  rank_map.memory = parse_enum<MemoryPolicy>(
      "--mem-bind", options.memory,
      {{"local", MemoryPolicy::leave}, {"preferred", MemoryPolicy::preferred}, {"bind", MemoryPolicy::bind}});
  tell_memory(rank_map, job);
  rank_map.gpu_view = choose_gpu_view(options, exports, framework.gpu_view, job);
  if (!framework.groups.empty()) rank_map.groups = framework.groups;
}

}  // namespace ddlrun::cli
