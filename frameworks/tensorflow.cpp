// SPDX-License-Identifier: MIT
// TensorFlow: TF_CONFIG (tensorflow/python/distribute/cluster_resolver/tfconfig_cluster_resolver.py), or the
// older arguments --ps_hosts --worker_hosts --job_name --task_index; ports by host, parameter servers first.
#include "base/error.hpp"
#include "frameworks/plan_parts.hpp"

#include <fmt/format.h>

namespace ddlrun::frameworks {

namespace {

struct TaskAddresses {
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

TaskAddresses task_addresses(const FrameworkRequest& request, const std::vector<RankPlace>& places,
                             std::uint32_t first, std::uint32_t count) {
  TaskAddresses all;
  for (std::uint32_t rank = first; rank < first + count; ++rank) {
    const std::string address = task_address(request, places.at(rank), rank);
    const char* comma = rank == first ? "" : ",";
    all.json += fmt::format("{}\"{}\"", comma, address);
    all.words += comma + address;
  }
  return all;
}

void tell_task(const FrameworkRequest& request, launch::RankGroup& group, const TaskAddresses& ps,
               const TaskAddresses& workers) {
  if (request.flags_style) {
    group.arguments = {"--ps_hosts=" + ps.words, "--worker_hosts=" + workers.words,
                       "--job_name=" + group.name, "--task_index={group_rank}"};
    return;
  }
  const std::string servers = ps.json.empty() ? "" : fmt::format("\"ps\":[{}],", ps.json);
  give_each(group, "TF_CONFIG",
            fmt::format(R"({{"cluster":{{{}"worker":[{}]}},"task":{{"type":"{}","index":{{group_rank}}}}}})",
                        servers, workers.json, group.name),
            "which tasks there are and which one this is");
}

void hide_gpus(const FrameworkRequest& request, launch::RankGroup& group) {
  if (any_gpu(request.sheet))
    give_each(group, "CUDA_VISIBLE_DEVICES", "-1",
              "a parameter server computes nothing: no GPU memory for it");
}

void show_own_gpu(const FrameworkRequest& request, FrameworkPlan& plan, launch::RankGroup& group) {
  if (!any_gpu(request.sheet)) return;
  if (most_local_ranks(request.sheet) == 1) {
    plan.gpu_view = "host";  // a worker uses all it sees
    return;
  }
  give_each(group, "CUDA_VISIBLE_DEVICES", "{gpu}",
            "its own GPU, which it calls 0: TensorFlow takes every GPU it sees");
}

}  // namespace

void plan_tensorflow(const FrameworkRequest& request, FrameworkPlan& plan) {
  const std::uint32_t ranks = request.sheet.size();
  if (request.framework == Framework::tensorflow && ranks == 1) {
    if (any_gpu(request.sheet)) plan.gpu_view = "host";
    plan.remarks.push_back("one rank: no TF_CONFIG; MirroredStrategy takes all GPUs of the host");
    return;
  }
  if (request.ps >= ranks) {
    throw Error(ErrorKind::request,
                {fmt::format("{} parameter servers and {} ranks leave no worker", request.ps, ranks), "--ps",
                 "--ps 1 --workers 2"});
  }
  const std::vector<RankPlace> places = places_of(request.sheet);
  const TaskAddresses ps = task_addresses(request, places, 0, request.ps);
  const TaskAddresses workers = task_addresses(request, places, request.ps, ranks - request.ps);
  if (request.ps > 0) {
    launch::RankGroup& group = plan.groups.emplace_back();
    group.name = "ps";
    group.ranks = request.ps;
    group.serves = true;
    tell_task(request, group, ps, workers);
    hide_gpus(request, group);
  }
  launch::RankGroup& group = plan.groups.emplace_back();
  group.name = "worker";
  group.first = request.ps;
  group.ranks = ranks - request.ps;
  tell_task(request, group, ps, workers);
  show_own_gpu(request, plan, group);
}

}  // namespace ddlrun::frameworks
