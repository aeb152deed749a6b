// SPDX-License-Identifier: MIT
// What the frameworks' planners share, and the planners themselves: one function each.
#pragma once

#include "launch/frameworks/framework.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace ddlrun::frameworks {

// A value that the user set stays, with its name exported; else ours.
void share(const FrameworkRequest& request, FrameworkPlan& plan, const std::string& name,
           const std::string& value, const std::string& why);
// The one group of a job whose ranks all run the same; made where there is none yet.
launch::RankGroup& whole_job(const FrameworkRequest& request, FrameworkPlan& plan);
// A variable of each rank, with placeholders of the rank map. One that the user typed would be wrong for all
// but one rank.
void set_per_rank(launch::RankGroup& group, const std::string& name, const std::string& value,
                  const std::string& why);
// The host's address in the job's network, else its name.
std::string address_of(const FrameworkRequest& request, const std::string& host);
// "h1:2222"; an IPv6 address in brackets.
std::string join_address(const std::string& address, std::uint32_t port);
// The place of each rank, by rank, whatever groups the rank map has.
struct RankPlace {
  std::string host;
  std::uint32_t local_rank = 0;
};
std::vector<RankPlace> places_of(const launch::RankMap& rank_map);
std::uint32_t most_local_ranks(const launch::RankMap& rank_map);
bool any_gpu(const launch::RankMap& rank_map);

void plan_caffe_ddl(const FrameworkRequest& request, FrameworkPlan& plan);
void plan_ddl(const FrameworkRequest& request, FrameworkPlan& plan);
void plan_intel_caffe(const FrameworkRequest& request, FrameworkPlan& plan);
void plan_horovod(const FrameworkRequest& request, FrameworkPlan& plan);
void set_torch_variables(const FrameworkRequest& request, FrameworkPlan& plan);
// libddl's start without MPI (docs/libddl.md): only with a token, which launch passes on and does not show.
void set_libddl_variables(const FrameworkRequest& request, FrameworkPlan& plan);
void plan_pytorch(const FrameworkRequest& request, FrameworkPlan& plan);
void plan_tensorflow(const FrameworkRequest& request, FrameworkPlan& plan);

}  // namespace ddlrun::frameworks
