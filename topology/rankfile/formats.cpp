// SPDX-License-Identifier: MIT
#include "topology/rankfile/formats.hpp"

#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "topology/plan_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::rankfile {

using namespace topology;  // the words of machines and plans

namespace {

std::string os_numbers(const std::vector<PuIndex>& pus, std::string_view separator) {
  std::string text;
  for (const PuIndex pu : pus) {
    if (!text.empty()) text += separator;
    text += std::to_string(pu.os);
  }
  return text;
}

// Launchers with one binding list for all hosts can only express plans in which all hosts agree.
const MachinePlan& only_machine(const Plan& plan, std::string_view launcher) {
  const auto same = [&](const MachinePlan& other) {
    return std::equal(plan.machines[0].ranks.begin(), plan.machines[0].ranks.end(), other.ranks.begin(),
                      [](const auto& a, const auto& b) { return a.pus == b.pus; });
  };
  if (!std::all_of(plan.machines.begin(), plan.machines.end(), same)) {
    throw Error(ErrorKind::request,
                {fmt::format("{} has one binding list for all hosts, but {} kinds of machine differ",
                             launcher, plan.machines.size()),
                 "the host list", "--format ompi4, which binds each host by itself"});
  }
  return plan.machines[0];
}

// Hydra counts its binding list anew for each line of the machinefile, so a host must be one line.
void require_packed(const Plan& plan, std::string_view launcher) {
  const bool interleaved =
      plan.order == RankOrder::ddl && plan.dims.gpus_per_node > 1 && plan.hosts.size() > 1;
  if (!interleaved) return;
  throw Error(ErrorKind::request,
              {fmt::format("{} cannot bind ranks that alternate between hosts: its binding list starts again "
                           "with every machinefile line",
                           launcher),
               "the DDL rank order", "--order packed"});
}

std::string host_lines(const Plan& plan) {
  std::string text;
  for (const std::string& host : plan.hosts) text += fmt::format("{}:{}\n", host, plan.dims.gpus_per_node);
  return text;
}

std::string masks(const MachinePlan& machine) {
  std::vector<std::string> list;
  for (const LocalPlacement& place : machine.ranks) list.push_back(render_mask(place.pus));
  return join(list, ",");
}

std::string render_ompi4(const Plan& plan, const RankfileHeader& header) {
  return render_rankfile(plan, header);
}

std::string render_ompi5(const Plan& plan, const RankfileHeader& header) {
  const auto names = rankfile_names(plan, 5);
  std::string text =
      fmt::format("#by ddlrun {} for Open MPI 5: mpirun --map-by rankfile:file=FILE -n {} PROGRAM\n",
                  header.version, plan.dims.world_size());
  for (const Placement& place : plan.by_rank()) {
    text += fmt::format("rank {}={} slot={}\n", place.rank, names[place.host], place.local->slot);
  }
  return text;
}

std::string render_intel(const Plan& plan, const RankfileHeader& header) {
  require_packed(plan, "Intel MPI");
  const MachinePlan& machine = only_machine(plan, "Intel MPI");
  return fmt::format("#by ddlrun {}: I_MPI_PIN_DOMAIN='[{}]' mpirun -machinefile FILE -n {} PROGRAM\n{}",
                     header.version, masks(machine), plan.dims.world_size(), host_lines(plan));
}

std::string render_mpich(const Plan& plan, const RankfileHeader& header) {
  require_packed(plan, "MPICH's hydra");
  std::vector<std::string> sets;
  for (const LocalPlacement& place : only_machine(plan, "MPICH's hydra").ranks) {
    sets.push_back(os_numbers(place.pus, "+"));
  }
  return fmt::format("#by ddlrun {}: mpiexec.hydra -f FILE -bind-to user:{} -n {} PROGRAM\n{}",
                     header.version, join(sets, ","), plan.dims.world_size(), host_lines(plan));
}

std::string render_slurm(const Plan& plan, const RankfileHeader& header) {
  const MachinePlan& machine = only_machine(plan, "srun");
  std::string text = fmt::format(
      "#by ddlrun {}: SLURM_HOSTFILE=FILE srun -n {} --distribution=arbitrary --cpu-bind=mask_cpu:{} "
      "PROGRAM\n",
      header.version, plan.dims.world_size(), masks(machine));
  for (const Placement& place : plan.by_rank()) text += plan.hosts[place.host] + "\n";
  return text;
}

std::string render_json(const Plan& plan, const RankfileHeader&) { return render_plan_json(plan); }

constexpr std::array<Format, 6> all_formats{{
    {"ompi4", true, "Open MPI 4 rankfile, in the layout of rank_gen.py (default)", render_ompi4},
    {"ompi5", true, "Open MPI 5: --map-by rankfile:file=FILE", render_ompi5},
    {"intel", false, "Intel MPI: machinefile, I_MPI_PIN_DOMAIN in its first line", render_intel},
    {"mpich", false, "MPICH hydra: hostfile, -bind-to user: in its first line", render_mpich},
    {"slurm", false, "srun: SLURM_HOSTFILE, --cpu-bind in its first line", render_slurm},
    {"json", false, "every rank with host, cores, PUs, GPU, NIC", render_json},
}};

}  // namespace

std::span<const Format> formats() { return all_formats; }

const Format& find_format(std::string_view name) {
  std::vector<std::string> names;
  for (const Format& format : all_formats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  const auto near = closest_match(name, names);
  throw Error(ErrorKind::usage,
              {fmt::format("'{}' is not a format ({})", printable(name, 40), join(names, ", ")), "--format",
               "--format " + near.value_or("ompi4")});
}

std::string render_mask(const std::vector<PuIndex>& pus) {
  if (pus.empty()) return "0x0";
  std::vector<unsigned> digits(static_cast<std::size_t>(pus.back().os) / 4 + 1, 0);
  for (const PuIndex pu : pus) digits[static_cast<std::size_t>(pu.os) / 4] |= 1u << (pu.os % 4);
  std::string text = "0x";
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) text += fmt::format("{:x}", *digit);
  return text;
}

}  // namespace ddlrun::rankfile
