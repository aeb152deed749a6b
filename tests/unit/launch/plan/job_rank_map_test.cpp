// SPDX-License-Identifier: MIT
#include "launch/plan/job_rank_map.hpp"

#include "base/text/error.hpp"

#include <doctest/doctest.h>

using namespace ddlrun;
using launch::GpuView;
using launch::LauncherKind;
using launch::MemoryPolicy;

namespace {

launch::RankMap settled(const cli::LaunchOptions& options, const launch::Exports& exports, LauncherKind kind,
                        const frameworks::FrameworkPlan& framework, cli::JobPlan& job) {
  launch::RankMap rank_map = cli::job_rank_map(job);
  cli::complete_rank_map(options, exports, kind, framework, rank_map, job);
  return rank_map;
}

}  // namespace

TEST_SUITE_BEGIN("launch/plan/job_rank_map");

TEST_CASE("who binds, and what --mem-bind says") {
  cli::JobPlan job;
  job.ranks = {{0, 0, "h1", "0:0", {0}, 1}};
  cli::LaunchOptions options;
  CHECK_FALSE(settled(options, {}, LauncherKind::open_mpi, {}, job).has_content());
  CHECK(settled(options, {}, LauncherKind::mpich, {}, job).bind);
  options.memory = "bind";
  CHECK(settled(options, {}, LauncherKind::open_mpi, {}, job).memory == MemoryPolicy::bind);
  CHECK(job.remarks.size() == 1);  // a rankfile of the user's tells no NUMA node
  options.memory = "far";
  CHECK_THROWS_AS(settled(options, {}, LauncherKind::open_mpi, {}, job), Error);
}

TEST_CASE("GPUs: the framework's view, --visible-gpus before it, an exported CUDA_VISIBLE_DEVICES before both") {
  struct Row {
    const char* asked;
    GpuView usual;
    bool own;
    GpuView view;
    std::size_t remarks;
  };
  const Row rows[] = {
      {"", GpuView::leave, false, GpuView::leave, 0}, {"", GpuView::host, false, GpuView::host, 0},
      {"one", GpuView::host, false, GpuView::one, 0}, {"all", GpuView::host, false, GpuView::leave, 0},
      {"", GpuView::host, true, GpuView::leave, 0},   {"one", GpuView::leave, true, GpuView::leave, 1},
      {"all", GpuView::host, true, GpuView::leave, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.asked);
    cli::JobPlan job;
    job.ranks = {{0, 0, "h1", "0:0", {0}, 1}};
    cli::LaunchOptions options;
    options.gpu_view = row.asked;
    launch::Exports exports;
    if (row.own) exports.names = {"CUDA_VISIBLE_DEVICES"};
    frameworks::FrameworkPlan framework;
    framework.gpu_view = row.usual;
    CHECK(settled(options, exports, LauncherKind::open_mpi, framework, job).gpu_view == row.view);
    CHECK(job.remarks.size() == row.remarks);
  }
}

TEST_SUITE_END();
