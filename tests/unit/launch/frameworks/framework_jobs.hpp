// SPDX-License-Identifier: MIT
// Jobs to plan for, and each rank's view of a plan: what its environment and arguments will be.
#pragma once

#include "base/text/error.hpp"
#include "launch/frameworks/framework.hpp"
#include "tests/support/machines.hpp"

#include <map>
#include <string>
#include <vector>

namespace ddlrun::tests {

inline topology::Plan framework_plan(
    const std::string& dims, std::vector<std::string> hosts,
    topology::RankOrder order = topology::RankOrder::ddl,
    const topology::MachineTopology& machine = topology::regular_machine(2, 8, 1, "test")) {
  topology::PlanOptions options;
  options.order = order;
  const std::vector<std::uint32_t> machine_of_host(hosts.size(), 0);
  return topology::plan_job(topology::parse_dims(dims), std::move(hosts), {machine}, machine_of_host,
                            options);
}

// `plan` must outlive it.
inline frameworks::FrameworkRequest framework_request(frameworks::Framework framework,
                                                      const topology::Plan& plan, Command program = {"./p"}) {
  frameworks::FrameworkRequest request;
  request.framework = framework;
  request.program = std::move(program);
  request.plan = &plan;
  request.dims = plan.dims;
  request.rank_map = launch::make_rank_map(plan);
  return request;
}

// What one rank's environment gets by the plan, shared variables too.
inline std::map<std::string, std::string> variables_of(const frameworks::FrameworkRequest& request,
                                                       const frameworks::FrameworkPlan& plan,
                                                       std::uint32_t rank) {
  std::map<std::string, std::string> all;
  for (const auto& variable : plan.shared) all[variable.name] = variable.value;
  launch::RankMap rank_map = request.rank_map;
  if (!plan.groups.empty()) rank_map.groups = plan.groups;
  const auto self = launch::find_rank(rank_map, rank);
  for (const auto& variable : self->group->variables)
    all[variable.name] = launch::expand_placeholders(variable.value, *self);
  return all;
}

inline std::vector<std::string> arguments_of(const frameworks::FrameworkRequest& request,
                                             const frameworks::FrameworkPlan& plan, std::uint32_t rank) {
  launch::RankMap rank_map = request.rank_map;
  rank_map.groups = plan.groups;
  const auto self = launch::find_rank(rank_map, rank);
  std::vector<std::string> all;
  for (const std::string& argument : self->group->arguments)
    all.push_back(launch::expand_placeholders(argument, *self));
  return all;
}

// What was refused: "what | at | try"; "" if nothing was.
template <typename Function>
std::string refusal_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.message().what + " | " + error.message().where + " | " + error.message().hint;
  }
  return {};
}

}  // namespace ddlrun::tests
