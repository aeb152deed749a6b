// SPDX-License-Identifier: MIT
// Horovod on MPI: who is who it asks MPI; the variables say the same to what asks earlier (gloo_context.cc
// reads them), and carry the settings, which env_parser.cc and operations.cc read.
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "launch/frameworks/plan_internal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::frameworks {

namespace {

void check_thread_affinity(const FrameworkRequest& request, const HorovodValue& value) {
  const auto given = split(value.text, ',').size();
  const std::uint32_t needed = most_local_ranks(request.rank_map);
  if (given >= needed) return;
  throw Error(
      ErrorKind::request,
      {fmt::format("{} core{} for the threads of {} ranks of a host", given, given == 1 ? "" : "s", needed),
       value.place, fmt::format("--thread-affinity with {} cores, one for each local rank", needed)});
}

bool is_on(const HorovodSettings& settings, std::string_view name) {
  const auto found = settings.find(std::string(name));
  if (found == settings.end()) return false;
  if (name != "autotune.enabled") return true;
  const auto key =
      std::ranges::find_if(horovod_keys(), [&](const HorovodKey& one) { return key_name(one) == name; });
  return convert_horovod(*key, found->second) == "1";
}

void share_settings(const FrameworkRequest& request, FrameworkPlan& plan) {
  for (const HorovodKey& key : horovod_keys()) {
    const auto found = request.horovod.find(key_name(key));
    if (found == request.horovod.end()) continue;
    const std::string value = convert_horovod(key, found->second);
    if (!key.needs.empty() && !is_on(request.horovod, key.needs)) {
      plan.remarks.push_back(fmt::format("{} does nothing without {}", found->second.place, key.needs));
      continue;
    }
    if (key_name(key) == "autotune.enabled" && value == "0") continue;
    if (key.kind == HorovodKind::cores) check_thread_affinity(request, found->second);
    // A flag and a file are nearer than a variable of the environment, as with horovodrun.
    plan.shared.push_back(
        {std::string(key.variable), value, fmt::format("{}: {}", found->second.place, key.help), false});
  }
}

}  // namespace

void plan_horovod(const FrameworkRequest& request, FrameworkPlan& plan) {
  if (const auto own = request.environment.find("HOROVOD_CONTROLLER"); own != request.environment.end())
    refuse_gloo(own->second, "HOROVOD_CONTROLLER");
  launch::RankGroup& group = whole_job(request, plan);
  set_per_rank(group, "HOROVOD_RANK", "{rank}", "as MPI numbers it");
  set_per_rank(group, "HOROVOD_SIZE", "{size}", "as MPI numbers it");
  set_per_rank(group, "HOROVOD_LOCAL_RANK", "{local_rank}", "which GPU of its host a script takes");
  set_per_rank(group, "HOROVOD_LOCAL_SIZE", "{local_size}", "ranks of its host");
  set_per_rank(group, "HOROVOD_CROSS_RANK", "{node}", "which host");
  set_per_rank(group, "HOROVOD_CROSS_SIZE", "{nodes}", "how many hosts");
  share(request, plan, "HOROVOD_CONTROLLER", "mpi", "ranks connect over MPI, which starts them");
  share_settings(request, plan);
  for (const auto& [name, value] : request.environment) {
    const bool known = std::ranges::any_of(
        plan.shared, [&name = name](const SharedVariable& one) { return one.name == name; });
    if (name.starts_with("HOROVOD_") && !known &&
        std::ranges::none_of(group.variables, [&name = name](const auto& one) { return one.name == name; }))
      share(request, plan, name, value, "");
  }
  const bool timeline = std::ranges::any_of(
      plan.shared, [](const SharedVariable& one) { return one.name == "HOROVOD_TIMELINE"; });
  if (timeline)
    plan.remarks.push_back(
        "Horovod's timeline can cost 40 % of the images/s: not for runs that are to be fast");
  if (any_gpu(request.rank_map))
    plan.gpu_view = launch::GpuView::host;  // scripts choose with hvd.local_rank()
}

}  // namespace ddlrun::frameworks
