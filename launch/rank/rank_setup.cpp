// SPDX-License-Identifier: MIT
#include "launch/rank/rank_setup.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ddlrun::launch {

namespace {

constexpr const char* visible_gpus = "CUDA_VISIBLE_DEVICES";

bool any_gpu(const RankMap& rank_map) {
  return std::any_of(rank_map.kinds.begin(), rank_map.kinds.end(),
                     [](const std::vector<RankBinding>& bindings) {
                       return std::any_of(bindings.begin(), bindings.end(),
                                          [](const RankBinding& binding) { return binding.gpu >= 0; });
                     });
}

// Whose GPUs the rank is to see, in their order; each GPU once.
std::vector<const RankBinding*> seen_seats(const RankMap& rank_map, const RankView& rank) {
  if (rank_map.gpu_view == GpuView::one) return {rank.binding};
  std::vector<const RankBinding*> bindings;
  const std::vector<RankBinding>& all = rank_map.kinds[rank_map.hosts[rank.node].kind];
  for (std::size_t i = 0; i < std::min<std::size_t>(rank.local_size, all.size()); ++i) {
    const bool again = std::any_of(bindings.begin(), bindings.end(),
                                   [&](const RankBinding* binding) { return binding->gpu == all[i].gpu; });
    if (!again) bindings.push_back(&all[i]);
  }
  return bindings;
}

// By UUID if the driver gives all of them; else by number, in PCI bus order as in the plan.
void plan_gpu_view(const RankMap& rank_map, const RankView& rank, const GpuReader& read_gpu,
                   RankSetup& setup) {
  if (rank_map.gpu_view == GpuView::leave || rank.binding == nullptr || !any_gpu(rank_map)) return;
  if (setup.variables.count(visible_gpus) != 0) return;  // the group's own
  std::vector<std::string> uuids, numbers;
  bool all_known = true;
  for (const RankBinding* binding : seen_seats(rank_map, rank)) {
    if (binding->gpu < 0) continue;
    const GpuFacts facts = binding->gpu_pci.empty() ? GpuFacts() : read_gpu(binding->gpu_pci);
    if (facts.is_split) {
      setup.remarks.push_back(fmt::format("GPU {} is split into MIG instances: {} is left as it is",
                                          binding->gpu_pci, visible_gpus));
      return;
    }
    uuids.push_back(facts.uuid);
    numbers.push_back(fmt::format("{}", binding->gpu));
    all_known = all_known && !facts.uuid.empty();
  }
  setup.variables[visible_gpus] = join(all_known ? uuids : numbers, ",");
  if (!all_known) setup.variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
}

void correct_hydra(const RankView& rank, const RankIdentity& identity, RankSetup& setup) {
  if (identity.launcher != RankLauncher::hydra) return;
  setup.variables["MPI_LOCALRANKID"] = fmt::format("{}", rank.local_rank);
  setup.variables["MPI_LOCALNRANKS"] = fmt::format("{}", rank.local_size);
}

}  // namespace

GpuFacts parse_gpu_information(std::string_view text) {
  GpuFacts facts;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    // A driver that has not looked yet answers in question marks.
    if (name == "GPU UUID" && value.starts_with("GPU-") && value.find('?') == std::string_view::npos)
      facts.uuid = value;
    const auto minor = parse_unsigned(value, 1u << 20);
    if (name == "Device Minor" && minor) facts.device_minor = static_cast<int>(*minor);
  }
  return facts;
}

EnvVars rank_identity_variables(const RankView& rank) {
  const auto number = [](std::uint32_t value) { return fmt::format("{}", value); };
  return {{"DDLRUN_RANK", number(rank.rank)},
          {"DDLRUN_SIZE", number(rank.size)},
          {"DDLRUN_LOCAL_RANK", number(rank.local_rank)},
          {"DDLRUN_LOCAL_SIZE", number(rank.local_size)},
          {"DDLRUN_NODE_RANK", number(rank.node)},
          {"DDLRUN_NODE_COUNT", number(rank.nodes)}};
}

RankSetup plan_rank_setup(const RankMap& rank_map, const RankView& rank, const RankIdentity& identity,
                          const Command& program, const GpuReader& read_gpu) {
  RankSetup setup;
  setup.removed = {rank_map_variable};
  setup.workdir = rank_map.workdir;
  setup.unbind = rank_map.unbind;
  if (rank.binding != nullptr) {
    if (rank_map.bind) setup.pus = rank.binding->pus;
    setup.numa_node = rank.binding->numa_node;
    if (setup.numa_node >= 0) setup.memory = rank_map.memory;
    if (!rank.binding->nic.empty()) setup.variables["DDLRUN_NIC"] = rank.binding->nic;
  }
  if (rank.rank == 0 && !rank_map.result.empty()) setup.variables[result_variable] = rank_map.result;
  correct_hydra(rank, identity, setup);
  for (const RankVariable& variable : rank.group->variables)
    setup.variables[variable.name] = expand_placeholders(variable.value, rank);
  plan_gpu_view(rank_map, rank, read_gpu, setup);
  setup.program = rank.group->program.empty() ? program : rank.group->program;
  for (const std::string& word : rank.group->arguments)
    setup.program.push_back(expand_placeholders(word, rank));
  for (const auto& [name, value] : rank_identity_variables(rank)) setup.variables[name] = value;
  return setup;
}

std::string judge_binding(const std::vector<int>& planned, const std::vector<int>& found, int code) {
  if (code == 0 && found == planned) return {};
  return fmt::format("the rank is to run on PUs {}, but the kernel allows {}{}", render_ranges(planned),
                     found.empty() ? "none" : render_ranges(found),
                     code == 0 ? "" : fmt::format(" ({})", std::strerror(code)));
}

}  // namespace ddlrun::launch
