// SPDX-License-Identifier: MIT
#include "launch/plan/job_rank_map.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::GpuView;
using launch::LauncherKind;
using launch::MemoryPolicy;

namespace {

launch::RankMap completed(const launch::PlacementSpec& spec, const launch::Exports& exports,
                          LauncherKind kind, const frameworks::FrameworkPlan& framework,
                          const launch::JobPlan& job, std::vector<std::string>& remarks) {
  launch::RankMap rank_map = launch::job_rank_map(job);
  launch::complete_rank_map(spec, exports, kind, framework, rank_map, remarks);
  return rank_map;
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/job_rank_map");

TEST_CASE("who binds, and what --mem-bind says") {
  launch::JobPlan job;
  job.ranks = {{0, 0, "h1", "0:0", {0}, 1}};
  launch::PlacementSpec spec;
  std::vector<std::string> remarks;
  CHECK_FALSE(completed(spec, {}, LauncherKind::open_mpi, {}, job, remarks).has_content());
  CHECK(completed(spec, {}, LauncherKind::mpich, {}, job, remarks).bind);
  spec.binds = false;
  for (const LauncherKind kind : {LauncherKind::open_mpi, LauncherKind::mpich, LauncherKind::ssh}) {
    const launch::RankMap unbound = completed(spec, {}, kind, {}, job, remarks);
    CHECK_FALSE(unbound.bind);
    CHECK(unbound.unbind == (kind == LauncherKind::open_mpi));  // whose rankfile binds
  }
  spec.binds = true;
  spec.memory = MemoryPolicy::bind;
  CHECK(completed(spec, {}, LauncherKind::open_mpi, {}, job, remarks).memory == MemoryPolicy::bind);
  CHECK(remarks.size() == 1);  // the user's rankfile names no NUMA node
}

TEST_CASE(
    "GPUs: the framework's view, --visible-gpus before it, an exported CUDA_VISIBLE_DEVICES before both") {
  struct Row {
    std::optional<GpuView> asked;
    GpuView usual;
    bool own;
    GpuView view;
    std::size_t remarks;
  };
  const Row rows[] = {{std::nullopt, GpuView::leave, false, GpuView::leave, 0},
                      {std::nullopt, GpuView::host, false, GpuView::host, 0},
                      {GpuView::one, GpuView::host, false, GpuView::one, 0},
                      {GpuView::leave, GpuView::host, false, GpuView::leave, 0},
                      {std::nullopt, GpuView::host, true, GpuView::leave, 0},
                      {GpuView::one, GpuView::leave, true, GpuView::leave, 1},
                      {GpuView::leave, GpuView::host, true, GpuView::leave, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.remarks);
    launch::JobPlan job;
    job.ranks = {{0, 0, "h1", "0:0", {0}, 1}};
    launch::PlacementSpec spec;
    spec.visible_gpus = row.asked;
    std::vector<std::string> remarks;
    launch::Exports exports;
    if (row.own) exports.names = {"CUDA_VISIBLE_DEVICES"};
    frameworks::FrameworkPlan framework;
    framework.gpu_view = row.usual;
    CHECK(completed(spec, exports, LauncherKind::open_mpi, framework, job, remarks).gpu_view == row.view);
    CHECK(remarks.size() == row.remarks);
  }
}

TEST_SUITE_END();
