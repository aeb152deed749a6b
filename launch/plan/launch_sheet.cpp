// SPDX-License-Identifier: MIT
#include "launch/plan/launch_sheet.hpp"

#include "base/text/choice.hpp"

#include <algorithm>

namespace ddlrun::cli {

namespace {

using launch::GpuView;
using launch::MemoryPolicy;

void tell_memory(const launch::RankSheet& sheet, LaunchJob& job) {
  if (sheet.memory == MemoryPolicy::leave) return;
  for (const auto& seats : sheet.kinds) {
    const bool unknown =
        std::any_of(seats.begin(), seats.end(), [](const launch::Seat& seat) { return seat.numa_node < 0; });
    if (!unknown) continue;
    job.remarks.push_back(
        "--memory is for ranks whose cores are of one NUMA node; the others take memory from anywhere");
    return;
  }
}

GpuView choose_gpu_view(const LaunchOptions& options, const launch::Exports& exports, GpuView usual,
                        LaunchJob& job) {
  const bool asked = !options.gpu_view.empty();
  const GpuView view =
      asked ? parse_choice<GpuView>("--gpu-view", options.gpu_view,
                                    {{"all", GpuView::leave}, {"one", GpuView::one}, {"host", GpuView::host}})
            : usual;
  const auto& names = exports.names;
  const bool own = std::find(names.begin(), names.end(), "CUDA_VISIBLE_DEVICES") != names.end();
  if (!own || view == GpuView::leave) return view;
  if (asked) job.remarks.push_back("CUDA_VISIBLE_DEVICES is as you export it; --gpu-view gives way");
  return GpuView::leave;
}

}  // namespace

launch::RankSheet job_sheet(const LaunchJob& job) {
  if (job.plan) return launch::make_rank_sheet(*job.plan);
  return job.seats ? *job.seats : launch::make_rank_sheet(job.ranks);
}

void settle_sheet(const LaunchOptions& options, const launch::Exports& exports, launch::LauncherKind launcher,
                  const frameworks::FrameworkPlan& framework, launch::RankSheet& sheet, LaunchJob& job) {
  sheet.bind = launcher != launch::LauncherKind::open_mpi;
  sheet.memory = parse_choice<MemoryPolicy>(
      "--memory", options.memory,
      {{"local", MemoryPolicy::leave}, {"preferred", MemoryPolicy::preferred}, {"bind", MemoryPolicy::bind}});
  tell_memory(sheet, job);
  sheet.gpu_view = choose_gpu_view(options, exports, framework.gpu_view, job);
  if (!framework.groups.empty()) sheet.groups = framework.groups;
}

}  // namespace ddlrun::cli
