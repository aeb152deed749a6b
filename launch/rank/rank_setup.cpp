// SPDX-License-Identifier: MIT
#include "launch/rank/rank_setup.hpp"

#include "base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ddlrun::launch {

namespace {

constexpr const char* visible_gpus = "CUDA_VISIBLE_DEVICES";

bool any_gpu(const RankSheet& sheet) {
  return std::any_of(sheet.kinds.begin(), sheet.kinds.end(), [](const std::vector<Seat>& seats) {
    return std::any_of(seats.begin(), seats.end(), [](const Seat& seat) { return seat.gpu >= 0; });
  });
}

// Whose GPUs the rank is to see, in their order; each GPU once.
std::vector<const Seat*> seen_seats(const RankSheet& sheet, const SheetRank& rank) {
  if (sheet.gpu_view == GpuView::one) return {rank.seat};
  std::vector<const Seat*> seats;
  const std::vector<Seat>& all = sheet.kinds[sheet.hosts[rank.node].kind];
  for (std::size_t i = 0; i < std::min<std::size_t>(rank.local_size, all.size()); ++i) {
    const bool again =
        std::any_of(seats.begin(), seats.end(), [&](const Seat* seat) { return seat->gpu == all[i].gpu; });
    if (!again) seats.push_back(&all[i]);
  }
  return seats;
}

// By UUID where the driver tells all of them; else by number, in PCI bus order as the plan counts.
void plan_gpu_view(const RankSheet& sheet, const SheetRank& rank, const GpuReader& read_gpu,
                   RankSetup& setup) {
  if (sheet.gpu_view == GpuView::leave || rank.seat == nullptr || !any_gpu(sheet)) return;
  if (setup.variables.count(visible_gpus) != 0) return;  // the group's own
  std::vector<std::string> uuids, numbers;
  bool all_told = true;
  for (const Seat* seat : seen_seats(sheet, rank)) {
    if (seat->gpu < 0) continue;
    const GpuFacts facts = seat->gpu_pci.empty() ? GpuFacts() : read_gpu(seat->gpu_pci);
    if (facts.is_split) {
      setup.remarks.push_back(fmt::format("GPU {} is split into MIG instances: {} is left as it is",
                                          seat->gpu_pci, visible_gpus));
      return;
    }
    uuids.push_back(facts.uuid);
    numbers.push_back(fmt::format("{}", seat->gpu));
    all_told = all_told && !facts.uuid.empty();
  }
  setup.variables[visible_gpus] = join(all_told ? uuids : numbers, ",");
  if (!all_told) setup.variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
}

void correct_hydra(const SheetRank& rank, const RankIdentity& identity, RankSetup& setup) {
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

RankSetup plan_rank_setup(const RankSheet& sheet, const SheetRank& rank, const RankIdentity& identity,
                          const Command& program, const GpuReader& read_gpu) {
  RankSetup setup;
  setup.removed = {sheet_variable};
  setup.working_folder = sheet.working_folder;
  if (rank.seat != nullptr) {
    if (sheet.bind) setup.pus = rank.seat->pus;
    setup.numa_node = rank.seat->numa_node;
    if (setup.numa_node >= 0) setup.memory = sheet.memory;
    if (!rank.seat->nic.empty()) setup.variables["DDLRUN_NIC"] = rank.seat->nic;
  }
  if (rank.rank == 0 && !sheet.result.empty()) setup.variables[result_variable] = sheet.result;
  correct_hydra(rank, identity, setup);
  for (const SheetVariable& variable : rank.group->variables)
    setup.variables[variable.name] = fill_words(variable.value, rank);
  plan_gpu_view(sheet, rank, read_gpu, setup);
  setup.program = rank.group->program.empty() ? program : rank.group->program;
  for (const std::string& word : rank.group->arguments) setup.program.push_back(fill_words(word, rank));
  return setup;
}

std::string judge_binding(const std::vector<int>& planned, const std::vector<int>& found, int code) {
  if (code == 0 && found == planned) return {};
  return fmt::format("the rank is to run on PUs {}, but the kernel allows {}{}", render_ranges(planned),
                     found.empty() ? "none" : render_ranges(found),
                     code == 0 ? "" : fmt::format(" ({})", std::strerror(code)));
}

}  // namespace ddlrun::launch
