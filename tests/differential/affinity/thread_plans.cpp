// SPDX-License-Identifier: MIT
// thread_plans SHIM LIBGOMP_PROGRAM LIBOMP_PROGRAM: plans ranks for pretended machines, gives each rank's
// process the cores of the plan as Open MPI would, and asks the real runtimes, with the variables of
// plan_thread_settings, where the threads are: on the rank's own cores, on as many as there are threads, no
// core with more than its part, none shared between ranks. Exit 1 on a difference.
#include "tests/differential/affinity/thread_judge.hpp"
#include "topology/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

using namespace ddlrun;
using namespace ddlrun::tests;
using namespace ddlrun::affinity;

namespace {

struct Triple {
  ThreadMachine machine;
  std::uint32_t ranks;
  std::uint32_t threads;  // of each rank; 0: one for each of its cores
};

constexpr ThreadMachine knl{1, 68, 4}, minsky{2, 8, 1}, skylake{2, 20, 2};

constexpr Triple triples[] = {
    {knl, 1, 0},      {knl, 1, 60},     {knl, 1, 68},    {knl, 1, 136},    {knl, 1, 272},
    {knl, 1, 1},      {knl, 2, 0},      {knl, 2, 30},    {knl, 2, 68},     {knl, 4, 0},
    {knl, 4, 15},     {knl, 4, 34},     {knl, 4, 68},    {knl, 17, 0},     {knl, 34, 2},
    {knl, 68, 0},     {knl, 68, 4},     {knl, 3, 0},     {minsky, 1, 0},   {minsky, 1, 6},
    {minsky, 2, 0},   {minsky, 2, 7},   {minsky, 4, 0},  {minsky, 4, 3},   {minsky, 4, 8},
    {minsky, 8, 0},   {minsky, 16, 0},  {minsky, 16, 1}, {minsky, 3, 0},   {skylake, 1, 0},
    {skylake, 1, 20}, {skylake, 1, 80}, {skylake, 2, 0}, {skylake, 2, 18}, {skylake, 2, 40},
    {skylake, 4, 0},  {skylake, 4, 20}, {skylake, 8, 0}, {skylake, 8, 10}, {skylake, 20, 0},
    {skylake, 40, 0}, {skylake, 40, 2},
};

struct Asked {
  const Triple* triple;
  OpenMpRuntime runtime, linked;  // what was planned for, what the program has
  std::uint32_t rank, threads;
  std::vector<int> cores;  // of the rank
};

std::vector<int> processors_of(const ThreadMachine& machine, const std::vector<int>& cores) {
  std::vector<int> result;
  for (std::uint32_t t = 0; t < machine.threads_per_core; ++t)
    for (const int core : cores) result.push_back(core + static_cast<int>(t * machine.cores()));
  return result;
}

// Empty where the threads are as planned.
std::string judge_rank(const Asked& asked, const std::vector<std::vector<int>>& places) {
  const ThreadMachine& machine = asked.triple->machine;
  if (places.size() != asked.threads)
    return fmt::format("{} threads instead of {}", places.size(), asked.threads);
  std::map<int, std::uint32_t> on_core;
  for (const auto& place : places) {
    std::set<int> cores;
    for (const int os : place) cores.insert(os % static_cast<int>(machine.cores()));
    if (cores.size() != 1) return "a thread is not held on one core: " + render_ranges(place);
    ++on_core[*cores.begin()];
  }
  const auto own = static_cast<std::uint32_t>(asked.cores.size());
  const std::uint32_t distinct = std::min(asked.threads, own), most = (asked.threads + own - 1) / own;
  if (on_core.size() != distinct) return fmt::format("on {} cores instead of {}", on_core.size(), distinct);
  for (const auto& [core, threads] : on_core) {
    if (!std::binary_search(asked.cores.begin(), asked.cores.end(), core))
      return fmt::format("core {} is another rank's", core);
    if (threads > most) return fmt::format("{} threads on core {} instead of {}", threads, core, most);
  }
  return {};
}

class Run {
 public:
  explicit Run(ThreadJudge judge) : judge_(std::move(judge)) {}

  void add(const Triple& triple, OpenMpRuntime runtime, OpenMpRuntime linked) {
    const ThreadMachine& machine = triple.machine;
    const auto plan = topology::plan_machine(
        topology::regular_machine(static_cast<int>(machine.packages),
                                  static_cast<int>(machine.cores_per_package),
                                  static_cast<int>(machine.threads_per_core), "pretended"),
        triple.ranks, {});
    std::uint32_t fewest = machine.cores();
    for (const auto& rank : plan.ranks)
      fewest = std::min(fewest, static_cast<std::uint32_t>(rank.cores.size()));
    ThreadRequest request;
    request.runtime = runtime;
    request.threads = triple.threads;
    request.cores = fewest;
    request.threads_per_core = machine.threads_per_core;
    request.launcher = "open-mpi";
    EnvVars variables;
    for (const auto& variable : plan_thread_settings(request, {}).variables)
      variables[variable.name] = variable.value;
    std::set<int> taken;
    for (std::uint32_t rank = 0; rank < plan.ranks.size(); ++rank) {
      std::vector<int> cores;
      for (const auto core : plan.ranks[rank].cores) cores.push_back(core.logical);
      for (const int core : cores) {
        if (!taken.insert(core).second) std::printf("core %d is planned twice\n", core);
      }
      const auto threads = threads_of(variables).value_or(0);
      commands_.push_back(
          judge_command(judge_, {machine, processors_of(machine, cores), linked, variables, 0}));
      asked_.push_back({&triple, runtime, linked, rank, threads, cores});
    }
  }

  int finish() {
    PosixProcesses processes;
    ProcessLimits limits;
    limits.timeout = std::chrono::seconds(60);
    const auto said = processes.run_many(commands_, limits, 2);
    int differences = 0;
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      const Asked& asked = asked_[i];
      const std::string problem = judge_rank(asked, read_places_said(said[i]));
      const std::string talk(trim(said[i].err));
      if (problem.empty() && talk.empty()) continue;
      ++differences;
      std::printf("%s, %u ranks, %u threads, planned for %s, linked %s, rank %u: %s %s\n",
                  machine_text(asked.triple->machine).c_str(), asked.triple->ranks, asked.threads,
                  std::string(name_of(asked.runtime)).c_str(), std::string(name_of(asked.linked)).c_str(),
                  asked.rank, problem.c_str(), printable(talk, 200).c_str());
    }
    std::printf("%zu triples x 4 kinds of program, %zu ranks asked, %d differences\n", std::size(triples),
                asked_.size(), differences);
    return differences == 0 ? 0 : 1;
  }

 private:
  ThreadJudge judge_;
  std::vector<Command> commands_;
  std::vector<Asked> asked_;
};

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  Run run({words[1], words[2], words[3]});
  using enum OpenMpRuntime;
  for (const Triple& triple : triples) {
    run.add(triple, libomp, libomp);
    run.add(triple, libgomp, libgomp);
    run.add(triple, unknown, libomp);
    run.add(triple, unknown, libgomp);
  }
  return run.finish();
}
