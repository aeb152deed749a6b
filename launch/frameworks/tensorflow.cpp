// SPDX-License-Identifier: MIT
// TensorFlow: TF_CONFIG (tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py), or the
// older arguments --ps_hosts --worker_hosts --job_name --task_index; ports by host, parameter servers first.
#include "base/text/error.hpp"
#include "launch/frameworks/plan_internal.hpp"

#include <fmt/format.h>

namespace ddlrun::frameworks {

namespace {

// Consecutive ranks of one job, as TensorFlow's ClusterSpec has it.
struct TaskJob {
  std::string name;
  std::uint32_t first = 0, count = 0;
  std::string json;   // "h1:2222","h2:2222"
  std::string words;  // h1:2222,h2:2222
};

std::string task_address(const FrameworkRequest& request, const RankPlace& place, std::uint32_t rank) {
  const std::uint32_t port = request.base_port + place.local_rank;
  if (port > 65535) {
    throw Error(ErrorKind::request, {fmt::format("rank {} on {}: port {} + {} = {} is above 65535", rank,
                                                 place.host, request.base_port, place.local_rank, port),
                                     "--base-port", "--base-port 2222"});
  }
  return join_address(address_of(request, place.host), port);
}

TaskJob task_job(const FrameworkRequest& request, const std::vector<RankPlace>& places,
                 const std::string& name, std::uint32_t first, std::uint32_t count) {
  TaskJob job{name, first, count, "", ""};
  for (std::uint32_t rank = first; rank < first + count; ++rank) {
    const std::string address = task_address(request, places.at(rank), rank);
    const char* comma = rank == first ? "" : ",";
    job.json += fmt::format("{}\"{}\"", comma, address);
    job.words += comma + address;
  }
  return job;
}

std::vector<TaskJob> task_jobs(const FrameworkRequest& request) {
  const std::vector<RankPlace> places = places_of(request.rank_map);
  const std::uint32_t chief = request.chief ? 1 : 0, served = chief + request.ps;
  std::vector<TaskJob> jobs;
  if (request.chief) jobs.push_back(task_job(request, places, "chief", 0, 1));
  if (request.ps > 0) jobs.push_back(task_job(request, places, "ps", chief, request.ps));
  jobs.push_back(task_job(request, places, "worker", served, request.rank_map.size() - served));
  return jobs;
}

void tell_task(const FrameworkRequest& request, launch::RankGroup& group, const std::vector<TaskJob>& jobs) {
  std::string cluster;
  for (const TaskJob& job : jobs) {
    if (request.flags_style) group.arguments.push_back(fmt::format("--{}_hosts={}", job.name, job.words));
    cluster += fmt::format("{}\"{}\":[{}]", cluster.empty() ? "" : ",", job.name, job.json);
  }
  if (request.flags_style) {
    group.arguments.push_back("--job_name=" + group.name);
    group.arguments.push_back("--task_index={group_rank}");
    return;
  }
  set_per_rank(group, "TF_CONFIG",
               fmt::format(R"({{"cluster":{{{}}},"task":{{"type":"{}","index":{{group_rank}}}}}})", cluster,
                           group.name),
               "which tasks there are and which one this is");
}

void hide_gpus(const FrameworkRequest& request, launch::RankGroup& group) {
  if (any_gpu(request.rank_map))
    set_per_rank(group, "CUDA_VISIBLE_DEVICES", "-1", "it computes nothing itself: no GPU memory for it");
}

void show_own_gpu(const FrameworkRequest& request, FrameworkPlan& plan, launch::RankGroup& group) {
  if (!any_gpu(request.rank_map)) return;
  if (request.framework == Framework::tensorflow && most_local_ranks(request.rank_map) == 1) {
    plan.gpu_view = launch::GpuView::host;  // a worker uses all it sees
    return;
  }
  set_per_rank(group, "CUDA_VISIBLE_DEVICES", "{gpu}",
               "its own GPU, which it calls 0: TensorFlow takes every GPU it sees");
}

}  // namespace

void plan_tensorflow(const FrameworkRequest& request, FrameworkPlan& plan) {
  const std::uint32_t ranks = request.rank_map.size();
  if (request.framework == Framework::tensorflow && ranks == 1) {
    if (any_gpu(request.rank_map)) plan.gpu_view = launch::GpuView::host;
    plan.remarks.push_back("one rank: no TF_CONFIG; MirroredStrategy takes all GPUs of the host");
    return;
  }
  const std::uint32_t served = request.ps + (request.chief ? 1 : 0);
  if (served >= ranks) {
    throw Error(ErrorKind::request,
                {fmt::format("{} ranks, {} of them no workers: none is left", ranks, served), "--ps",
                 "--ps 1 --workers 2"});
  }
  const std::vector<TaskJob> jobs = task_jobs(request);
  for (const TaskJob& job : jobs) {
    launch::RankGroup& group = plan.groups.emplace_back();
    group.name = job.name;
    group.first = job.first;
    group.ranks = job.count;
    // A chief has the loop: the others serve it until it ends.
    group.is_service = job.name == "ps" || (request.chief && job.name == "worker");
    tell_task(request, group, jobs);
    if (job.name == "worker") {
      show_own_gpu(request, plan, group);
    } else {
      hide_gpus(request, group);
    }
  }
}

}  // namespace ddlrun::frameworks
