// SPDX-License-Identifier: MIT
#include "launch/frameworks/framework.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/plan_internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace ddlrun::frameworks {

namespace {

constexpr std::array<std::pair<Framework, std::string_view>, 8> framework_names{{
    {Framework::none, "none"},
    {Framework::caffe_ddl, "caffe-ddl"},
    {Framework::ddl, "ddl"},
    {Framework::intel_caffe, "intel-caffe"},
    {Framework::horovod, "horovod"},
    {Framework::pytorch, "pytorch"},
    {Framework::tensorflow, "tensorflow"},
    {Framework::tensorflow_ps, "tensorflow-ps"},
}};

}  // namespace

std::string_view name_of(Framework framework) {
  for (const auto& [known, name] : framework_names) {
    if (known == framework) return name;
  }
  return "none";
}

std::optional<Framework> parse_framework(const std::string& text) {
  if (text == "auto") return std::nullopt;
  std::vector<std::string> words{"auto"};
  for (const auto& [known, name] : framework_names) {
    if (name == text) return known;
    words.emplace_back(name);
  }
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is not one of {}", printable(text, 40), join(words, ", ")), "--framework",
               "--framework " + closest_match(text, words).value_or("auto")});
}

std::optional<topology::RankOrder> usual_order(Framework framework) {
  switch (framework) {
    case Framework::horovod:
    case Framework::pytorch:
    case Framework::tensorflow:
      return topology::RankOrder::packed;
    case Framework::caffe_ddl:
    case Framework::ddl:
      return topology::RankOrder::ddl;
    default:
      return std::nullopt;
  }
}

void share(const FrameworkRequest& request, FrameworkPlan& plan, const std::string& name,
           const std::string& value, const std::string& why) {
  const auto own = request.environment.find(name);
  if (own == request.environment.end()) {
    plan.shared.push_back({name, value, why, false});
  } else {
    plan.shared.push_back({name, own->second, "from the environment", true});
  }
}

launch::RankGroup& whole_job(const FrameworkRequest& request, FrameworkPlan& plan) {
  if (plan.groups.empty()) plan.groups.emplace_back().ranks = request.rank_map.size();
  return plan.groups.front();
}

void set_per_rank(launch::RankGroup& group, const std::string& name, const std::string& value,
                  const std::string& why) {
  group.variables.push_back({name, value, why});
}

std::string address_of(const FrameworkRequest& request, const std::string& host) {
  const auto found = request.address.find(host);
  return found == request.address.end() ? host : found->second;
}

std::string join_address(const std::string& address, std::uint32_t port) {
  const bool bare = address.find(':') == std::string::npos || address.starts_with('[');
  return fmt::format("{}{}{}:{}", bare ? "" : "[", address, bare ? "" : "]", port);
}

std::vector<RankPlace> places_of(const launch::RankMap& rank_map) {
  std::vector<RankPlace> places(rank_map.size());
  for (const launch::RankMapHost& host : rank_map.hosts) {
    for (std::uint32_t local = 0; local < host.ranks.size(); ++local)
      places.at(host.ranks[local]) = {host.name, local};
  }
  return places;
}

std::uint32_t most_local_ranks(const launch::RankMap& rank_map) {
  std::size_t most = 0;
  for (const launch::RankMapHost& host : rank_map.hosts) most = std::max(most, host.ranks.size());
  return static_cast<std::uint32_t>(most);
}

bool any_gpu(const launch::RankMap& rank_map) {
  return std::ranges::any_of(rank_map.kinds, [](const auto& bindings) {
    return std::ranges::any_of(bindings, [](const launch::RankBinding& binding) { return binding.gpu >= 0; });
  });
}

void set_libddl_variables(const FrameworkRequest& request, FrameworkPlan& plan) {
  bool has_token = false;
  for (const std::string_view name : libddl_token_variables) {
    if (const auto own = request.environment.find(std::string(name));
        own == request.environment.end() || own->second.empty())
      continue;
    share(request, plan, std::string(name), "", "");
    has_token = true;
  }
  if (!has_token) return;
  launch::RankGroup& group = whole_job(request, plan);
  set_per_rank(group, "DDL_RANK", "{rank}", "libddl: this rank of all");
  set_per_rank(group, "DDL_SIZE", "{size}", "libddl: all ranks");
  share(request, plan, "DDL_MASTER",
        join_address(address_of(request, places_of(request.rank_map).at(0).host), request.libddl_port),
        "libddl: the address of rank 0, to which the others connect");
}

FrameworkPlan plan_framework(const FrameworkRequest& request) {
  FrameworkPlan plan;
  plan.framework = request.framework;
  switch (request.framework) {
    case Framework::none:
      if (request.without_mpi) set_torch_variables(request, plan);
      if (request.without_mpi) set_libddl_variables(request, plan);
      break;
    case Framework::caffe_ddl:
      plan_caffe_ddl(request, plan);
      break;
    case Framework::ddl:
      plan_ddl(request, plan);
      break;
    case Framework::intel_caffe:
      plan_intel_caffe(request, plan);
      break;
    case Framework::horovod:
      plan_horovod(request, plan);
      break;
    case Framework::pytorch:
      plan_pytorch(request, plan);
      break;
    case Framework::tensorflow:
    case Framework::tensorflow_ps:
      plan_tensorflow(request, plan);
      break;
  }
  return plan;
}

}  // namespace ddlrun::frameworks
