// SPDX-License-Identifier: MIT
// torchrun, one agent a host: where it is started, how often, and where its agents meet.
#include "base/text/text.hpp"
#include "schedulers/scripts/launch_step.hpp"
#include "schedulers/scripts/lint_internal.hpp"
#include "schedulers/scripts/torch_start.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::job_scripts {

namespace {

class TorchRules : private RuleSet {
 public:
  explicit TorchRules(const ScriptView& view) : RuleSet(view) {}
  std::vector<Finding> check();

 private:
  void check_endpoint(const PlacedCommand& placed, const std::string& nodes);
  void check_first_host(const PlacedCommand& placed, const std::string& nodes);
  void check_agents(const PlacedCommand& placed);
  void check_master();
};

bool starts_torchrun(const ShellCommand& command) {
  return std::ranges::any_of(command.words, [](const ShellWord& word) { return is_torchrun(word.text); });
}

bool is_own_host(std::string_view address) {
  const std::string_view name = address.substr(0, address.find(':'));
  return name == "localhost" || name.starts_with("127.") || address == "::1";
}

// Agents of several hosts meet at an endpoint; without one each waits at its own localhost.
void TorchRules::check_endpoint(const PlacedCommand& placed, const std::string& nodes) {
  const ShellCommand& command = placed.command;
  const std::string_view why =
      "each host waits for the others at its own localhost, until the rendezvous times out";
  const std::string hint =
      view_.slurm()
          ? "--rdzv-backend c10d --rdzv-endpoint \"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | "
            "head -n 1):29500\""
          : "--rdzv-backend c10d --rdzv-endpoint \"$(head -n 1 \"$PBS_NODEFILE\"):29500\"";
  const auto endpoint =
      option_value(command, {"--rdzv-endpoint", "--rdzv_endpoint", "--master-addr", "--master_addr"});
  if (!endpoint)
    add("torchrun-without-endpoint", Severity::error, placed.place,
        fmt::format("torchrun --nnodes {} without an endpoint", nodes), std::string(why), hint);
  else if (is_own_host(*endpoint))
    add("master-is-localhost", Severity::error, placed.place,
        fmt::format("torchrun --nnodes {} with the endpoint {}", nodes, printable(*endpoint, 60)),
        std::string(why), hint);
}

// A batch script runs on the first host of its job.
void TorchRules::check_first_host(const PlacedCommand& placed, const std::string& nodes) {
  const std::string name = placed.command.base_name();
  const bool is_bare = name == "torchrun" || name.starts_with("python");
  const std::uint64_t hosts = node_count(view_.request);
  if (!is_bare || hosts < 2) return;
  add("torchrun-on-first-host", Severity::error, placed.place,
      fmt::format("torchrun --nnodes {} starts on the first of {} hosts only", nodes, hosts),
      "the agent there waits for those of the other hosts, until the rendezvous times out",
      view_.slurm() ? "srun --ntasks-per-node=1 in front of it; or ddlrun launch DIMS -- python train.py"
                    : "ddlrun launch DIMS -- python train.py");
}

// `srun torchrun`: each task is an agent, and each agent starts all processes of a host.
void TorchRules::check_agents(const PlacedCommand& placed) {
  const auto processes = option_value(
      placed.command, {"--nproc-per-node", "--nproc_per_node", "--nproc-per_node", "--nproc_per-node"});
  const auto step = read_launch_step(placed.command);
  if (!processes || *processes == "1" || !step) return;
  const std::uint64_t hosts = std::max<std::uint64_t>(1, node_count(view_.request));
  const std::uint64_t own = step->nodes > 0 ? step->nodes : hosts;
  std::uint64_t agents = task_count(view_.request) / hosts;
  if (step->tasks > 0) agents = step->tasks / own;
  if (step->tasks_per_node > 0) agents = step->tasks_per_node;
  if (agents < 2) return;
  add("torchrun-per-task", Severity::error, placed.place,
      fmt::format("srun starts torchrun {} times on each host, each with --nproc_per_node={}", agents,
                  printable(*processes, 40)),
      "every task starts all processes of its host: several of them take one GPU, and a port is in use",
      "srun --ntasks-per-node=1 torchrun ...; or srun --ntasks-per-node=N python train.py, without torchrun");
}

void TorchRules::check_master() {
  const auto found = view_.script.exports.find("MASTER_ADDR");
  if (found == view_.script.exports.end() || node_count(view_.request) < 2) return;
  if (!is_own_host(found->second.text)) return;
  add("master-is-localhost", Severity::error, {found->second.line, 1},
      fmt::format("MASTER_ADDR={} in a job of {} hosts", found->second.text, node_count(view_.request)),
      "each host waits for the others at its own localhost, until the rendezvous times out",
      view_.slurm() ? "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)"
                    : "MASTER_ADDR=$(head -n 1 \"$PBS_NODEFILE\")");
}

std::vector<Finding> TorchRules::check() {
  for (const PlacedCommand& placed : view_.commands) {
    if (!starts_torchrun(placed.command)) continue;
    if (launch_tool_of(placed.command) == LaunchTool::srun) check_agents(placed);
    const auto nodes = option_value(placed.command, {"--nnodes"});
    if (!nodes || *nodes == "1") continue;
    check_endpoint(placed, *nodes);
    check_first_host(placed, *nodes);
  }
  check_master();
  return std::move(findings_);
}

}  // namespace

std::vector<Finding> lint_torch(const ScriptView& view) { return TorchRules(view).check(); }

}  // namespace ddlrun::job_scripts
