// SPDX-License-Identifier: MIT
// plans [--most N] [--jobs J] OMPI_MAP SLOTPARSE|- DIRECTORY TOPOLOGY.xml...: for each machine (the files,
// and synthetic ones made here) and every dims up to 8x4x3 that fits, renders the rankfile and compares, rank
// by rank, the host and the cores that Open MPI's own parser binds with those of the plan. SLOTPARSE "-":
// OMPI_MAP is that of Open MPI 5. The last line counts; exit 1 on a difference.
#include "base/os/posix_system.hpp"
#include "base/text/error.hpp"
#include "base/text/text.hpp"
#include "binding.hpp"
#include "topology/hwloc_reader.hpp"
#include "topology/rankfile/formats.hpp"
#include "topology/rankfile/rankfile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

using namespace ddlrun;
using namespace ddlrun::tests;
using namespace ddlrun::topology;
using namespace ddlrun::rankfile;

namespace {

constexpr const char* synthetic_machines[] = {
    "pack:1 core:1 pu:1",        "pack:1 core:4 pu:1",  "pack:1 core:68 pu:4",
    "pack:2 core:8 pu:1",        "pack:2 core:10 pu:8", "pack:2 core:12 pu:2",
    "pack:2 numa:2 core:7 pu:2", "pack:4 core:3 pu:2",  "pack:8 core:2 pu:1",
    "pack:2 numa:4 core:8 pu:2", "numa:2 core:6 pu:1",  "pack:3 core:5 pu:2",
    "pack:2 l3:4 core:4 pu:2",   "core:12 pu:2",        "pack:2 core:1 pu:2",
};

struct Case {
  const OracleMachine* machine;
  Plan plan;
  std::string rankfile;
};

std::vector<int> planned_cores(const LocalPlacement& place) {
  std::vector<int> cores;
  for (const CoreIndex core : place.cores) cores.push_back(core.logical);
  return cores;
}

// Open MPI draws nothing on machines without packages, and Open MPI 4 nothing for a rank that is bound to
// every core; there the slot parser alone decides.
bool is_drawn(const MachineTopology& machine, const LocalPlacement& place, bool is_prrte) {
  return !machine.packages.empty() && (is_prrte || place.cores.size() < machine.cores.size());
}

// Empty where Open MPI and the plan agree on every rank, else the first difference.
std::string compare(const Plan& plan, const ProcessResult& said, bool is_prrte) {
  const auto found = read_bindings(said.out);
  for (const Placement& place : plan.by_rank()) {
    const auto at = found.find(place.rank);
    if (at == found.end()) {
      return fmt::format("rank {}: not mapped: {}", place.rank, printable(said.err, 300));
    }
    if (at->second.host != plan.hosts[place.host]) {
      return fmt::format("rank {}: planned on {}, found on {}", place.rank, plan.hosts[place.host],
                         at->second.host);
    }
    const bool drawn = is_drawn(plan.machine(place.host).machine, *place.local, is_prrte);
    if (at->second.cores != (drawn ? planned_cores(*place.local) : std::vector<int>{})) {
      return fmt::format("rank {}: slot={} bound to cores {}", place.rank, place.local->slot,
                         render_ranges(at->second.cores));
    }
  }
  return found.size() == plan.dims.world_size() ? "" : fmt::format("{} ranks mapped", found.size());
}

std::vector<OracleMachine> load_machines(const std::vector<std::string>& files,
                                         const std::string& directory) {
  std::vector<OracleMachine> machines;
  for (const std::string& file : files) machines.push_back(machine_of_file(file));
  for (const char* text : synthetic_machines) machines.push_back(synthetic_machine(text, directory));
  return machines;
}

// Every dims up to 8x4x3, by GPUs where the machine has enough, and by packages; both rank orders in turn.
std::vector<Case> make_cases(const std::vector<OracleMachine>& machines, const std::string& directory,
                             bool is_prrte) {
  const Format& format = find_format(is_prrte ? "ompi5" : "ompi4");
  PosixFiles posix_files;
  std::vector<Case> cases;
  for (const OracleMachine& machine : machines)
    for (std::uint32_t x = 1; x <= 8; ++x)
      for (std::uint32_t y = 1; y <= 4; ++y)
        for (std::uint32_t z = 1; z <= 3; ++z) {
          const Dims dims{x, y, z, 1};
          std::vector<std::string> hosts;
          for (std::uint32_t h = 0; h < dims.host_count(); ++h)
            hosts.push_back(fmt::format("host-{}", h + 1));
          for (const MapBy by : {MapBy::gpus, MapBy::packages}) {
            if (by == MapBy::gpus && machine.topology.gpus.size() < x) continue;
            PlanOptions options;
            options.by = by;
            options.order = (x + y + z) % 3 == 0 ? RankOrder::packed : RankOrder::ddl;
            try {
              Plan plan = plan_job(dims, hosts, {machine.topology},
                                   std::vector<std::uint32_t>(hosts.size(), 0), options);
              const std::string file = fmt::format("{}/{}.rf", directory, cases.size());
              posix_files.write(file, format.render(plan, {"test", ""}));
              cases.push_back({&machine, std::move(plan), file});
            } catch (const Error& error) {
              if (error.kind() != ErrorKind::request) throw;  // it does not fit: not a case
            }
          }
        }
  return cases;
}

// An even pick of at most `most` cases, so that a short run meets every machine.
void thin_out(std::vector<Case>& cases, std::size_t most) {
  if (most == 0 || cases.size() <= most) return;
  std::vector<Case> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(std::move(cases[i * cases.size() / most]));
  cases = std::move(kept);
}

// Every different slot text of a machine's plans through Open MPI's slot parser: the PUs must be the plan's.
std::size_t judge_slots(const std::vector<Case>& cases, const std::string& slotparse,
                        const std::string& directory) {
  std::map<const OracleMachine*, std::map<std::string, std::vector<int>>> wanted;
  for (const Case& entry : cases)
    for (const LocalPlacement& place : entry.plan.machines[0].ranks) {
      std::vector<int>& pus = wanted[entry.machine][place.slot];
      pus.clear();
      for (const PuIndex pu : place.pus) pus.push_back(pu.os);
    }
  std::size_t texts = 0, differences = 0;
  for (const auto& [machine, slots] : wanted) {
    std::string input;
    for (const auto& [slot, pus] : slots) input += slot + "\n";
    const std::string file = directory + "/slots.txt";
    PosixFiles().write(file, input);
    const auto said = PosixProcesses().run(
        {"/bin/sh", "-c", "exec \"$0\" \"$1\" < \"$2\"", slotparse, machine->xml_file, file}, {});
    const auto lines = split(said.out, '\n');
    std::size_t i = 0;
    for (const auto& [slot, pus] : slots) {
      ++texts;
      const std::string want = "0\t" + render_ranges(pus);
      const std::string_view got = i < lines.size() ? lines[i++] : "nothing";
      if (got == want) continue;
      ++differences;
      fmt::print("DIFFERS slot={} on {}: planned PUs {}, parsed {}\n", slot, machine->name, want, got);
    }
  }
  fmt::print("{} slot texts, {} differences\n", texts, differences);
  return differences;
}

int judge(const std::vector<Case>& cases, const std::string& ompi_map, unsigned jobs, std::size_t differences,
          bool is_prrte) {
  PosixProcesses processes;
  std::vector<Command> commands;
  for (const Case& entry : cases) {
    commands.push_back({ompi_map, entry.machine->xml_file, entry.rankfile});
  }
  ProcessLimits limits;
  limits.timeout = std::chrono::seconds(120);
  const auto results = processes.run_many(commands, limits, jobs);
  std::uint64_t ranks = 0;
  std::set<const OracleMachine*> machines;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string difference = compare(cases[i].plan, results[i], is_prrte);
    ranks += cases[i].plan.dims.world_size();
    machines.insert(cases[i].machine);
    if (difference.empty()) continue;
    if (++differences > 20) continue;
    fmt::print("DIFFERS {} on {} ({}): {}\n", render_dims(cases[i].plan.dims), cases[i].machine->name,
               cases[i].rankfile, difference);
  }
  fmt::print("{} rankfiles, {} ranks, {} machines, {} differences\n", cases.size(), ranks, machines.size(),
             differences);
  return differences == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t most = 0;
  unsigned jobs = 2;
  std::vector<std::string> words(argv + 1, argv + argc);
  while (words.size() > 1 && words[0].starts_with("--")) {
    const auto value = parse_unsigned(words[1]).value_or(0);
    if (words[0] == "--most") most = value;
    if (words[0] == "--jobs") jobs = static_cast<unsigned>(value);
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.size() < 3) {
    fmt::print(stderr, "usage: plans [--most N] [--jobs J] OMPI_MAP SLOTPARSE|- DIRECTORY TOPOLOGY.xml...\n");
    return 2;
  }
  const auto machines = load_machines({words.begin() + 3, words.end()}, words[2]);
  const bool is_prrte = words[1] == "-";
  auto cases = make_cases(machines, words[2], is_prrte);
  thin_out(cases, most);
  const std::size_t differences = is_prrte ? 0 : judge_slots(cases, words[1], words[2]);
  return judge(cases, words[0], jobs, differences, is_prrte);
}
