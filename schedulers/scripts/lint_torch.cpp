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
  bool check_agents(const PlacedCommand& placed);
  void check_separate_runs(const PlacedCommand& placed);
  void check_master();
  std::string endpoint_of_first_host() const;
  std::string joined_line(const PlacedCommand& placed, const std::string& launcher) const;
  std::uint64_t count_agents(const PlacedCommand& placed) const;
  std::string launcher_on_each_host(const PlacedCommand& placed) const;
};

bool starts_torchrun(const ShellCommand& command) {
  return std::ranges::any_of(command.words, [](const ShellWord& word) { return is_torchrun(word.text); });
}

bool is_own_host(std::string_view address) {
  const std::string_view name = address.substr(0, address.find(':'));
  return name == "localhost" || name.starts_with("127.") || address == "::1";
}

// "--rdzv_endpoint=a:1" -> "rdzv-endpoint"; torchrun reads '-' and '_' alike.
std::string torch_option(std::string_view word) {
  if (!word.starts_with("--")) return {};
  std::string name(word.substr(2, word.find('=') - 2));
  std::ranges::replace(name, '_', '-');
  return name;
}

// The value of torchrun's option, nothing without it.
std::optional<std::string> torch_value(const ShellCommand& command, std::string_view name) {
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const std::string& word = command.words[i].text;
    if (torch_option(word) != name) continue;
    if (const std::size_t equals = word.find('='); equals != word.npos) return word.substr(equals + 1);
    return i + 1 < command.words.size() ? command.words[i + 1].text : "";
  }
  return std::nullopt;
}

// Where the agents meet; nothing where no option names a place that other hosts reach.
std::optional<std::string> meeting_point(const ShellCommand& command) {
  for (const char* name : {"rdzv-endpoint", "master-addr"})
    if (auto place = torch_value(command, name); place && !is_own_host(*place)) return place;
  return std::nullopt;
}

// Agents of several hosts meet at an endpoint; without one each waits at its own localhost.
void TorchRules::check_endpoint(const PlacedCommand& placed, const std::string& nodes) {
  const ShellCommand& command = placed.command;
  const std::string_view why =
      "each host waits for the others at its own localhost, until the rendezvous times out";
  const std::string hint = endpoint_of_first_host();
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

std::string TorchRules::endpoint_of_first_host() const {
  return view_.slurm()
             ? "--rdzv-backend c10d --rdzv-endpoint \"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | "
               "head -n 1):29500\""
             : "--rdzv-backend c10d --rdzv-endpoint \"$(head -n 1 \"$PBS_NODEFILE\"):29500\"";
}

// The line with the options of one training on all hosts, and `launcher` in place of what starts torchrun,
// unless that is empty; all else as it is.
std::string TorchRules::joined_line(const PlacedCommand& placed, const std::string& launcher) const {
  const std::string_view text = placed.line->text;
  const auto& words = placed.command.words;
  const bool meets = meeting_point(placed.command).has_value();
  std::string line(text.substr(0, words.front().at));
  std::size_t from = words.front().at;  // what is not copied yet
  if (!launcher.empty()) {
    const auto program = std::ranges::find_if(words, [](const ShellWord& word) {
      return is_torchrun(word.text) || base_name(word.text).starts_with("python");
    });
    line += launcher + " ";
    from = program->at;
  }
  const auto copy_until = [&](std::size_t end) {
    if (end <= from) return;
    const std::string_view part = text.substr(from, end - from);
    const bool is_gap = part.find_first_not_of(" \t\n") == part.npos;
    line += is_gap ? std::string_view(" ") : part;
    from = end;
  };
  bool is_behind = false;  // of the word torchrun
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = is_behind ? torch_option(words[i].text) : "";
    const bool is_rendezvous =
        name == "master-addr" || name == "master-port" || name == "rdzv-endpoint" || name == "rdzv-backend";
    if (name == "standalone" || name == "nnodes" || (is_rendezvous && !meets)) {
      const bool is_split = name != "standalone" && words[i].text.find('=') == std::string::npos;
      if (is_split && i + 1 < words.size()) ++i;
      from = words[i].end;
      continue;
    }
    copy_until(words[i].at);
    copy_until(words[i].end);
    if (is_behind || !is_torchrun(words[i].text)) continue;
    is_behind = true;
    line += view_.slurm() ? std::string(" --nnodes \"$SLURM_NNODES\"")
                          : fmt::format(" --nnodes {}", node_count(view_.request));
    if (!meets) line += " " + endpoint_of_first_host();
  }
  copy_until(text.size());
  return std::string(trim(line));
}

// How often the line starts torchrun; 1 for a step on one host.
std::uint64_t TorchRules::count_agents(const PlacedCommand& placed) const {
  const ShellCommand& command = placed.command;
  const std::uint64_t hosts = node_count(view_.request);
  const auto step = read_launch_step(command).value_or(LaunchStep());
  if (step.nodes == 1) return 1;
  if (step.all_tasks() > 0) return step.all_tasks();
  if (step.tasks_per_node > 0) return step.tasks_per_node * hosts;
  const bool once_each = command.name() == "pbsdsh" && has_word(command, "-u");
  if (const auto each = option_value(command, {"-npernode", "--npernode", "-N", "-ppn", "-perhost"});
      each && step.launcher != "srun")
    return parse_unsigned(*each, max_count).value_or(1) * hosts;
  const auto map = option_value(command, {"--map-by", "-map-by"});
  if (once_each || (map && map->starts_with("ppr:1:node"))) return hosts;
  return std::max(hosts, task_count(view_.request));
}

// One torchrun on each host, whatever the job's number of tasks is.
std::string TorchRules::launcher_on_each_host(const PlacedCommand& placed) const {
  const std::uint64_t hosts = node_count(view_.request);
  if (view_.slurm()) return fmt::format("srun --ntasks={} --ntasks-per-node=1", hosts);
  if (!intel_options(placed.command).empty()) return fmt::format("mpirun -n {} -ppn 1", hosts);
  // By itself Open MPI binds so few ranks to a core each.
  return fmt::format("mpirun -n {} --map-by ppr:1:node --bind-to none --hostfile \"$PBS_NODEFILE\"", hosts);
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

// torchrun for one host, in a job of several: started on each host it trains there for itself, else on the
// first host only.
void TorchRules::check_separate_runs(const PlacedCommand& placed) {
  const ShellCommand& command = placed.command;
  const std::uint64_t hosts = node_count(view_.request);
  if (hosts < 2 || view_.script.exports.contains("PET_NNODES")) return;
  const auto nodes = torch_value(command, "nnodes");
  const std::string how = has_word(command, "--standalone") ? "with --standalone"
                          : nodes                           ? "with --nnodes " + *nodes
                                                            : "without --nnodes";
  const std::string name = command.base_name();
  if (name == "torchrun" || name.starts_with("python"))
    add("torchrun-on-first-host", Severity::warning, placed.place,
        fmt::format("torchrun {} starts on the first of {} hosts only", how, hosts),
        "a batch script runs on the first host of its job: nothing runs on the others",
        joined_line(placed, launcher_on_each_host(placed)));
  const LaunchTool tool = launch_tool_of(command);
  if (tool != LaunchTool::srun && tool != LaunchTool::mpirun && name != "pbsdsh") return;
  const std::uint64_t agents = count_agents(placed);
  if (agents < 2) return;
  add("torchrun-separate-runs", Severity::error, placed.place,
      fmt::format("{} starts torchrun {} times, {}", name, agents, how),
      fmt::format("{} separate trainings run, not one: each torchrun takes its host for the only one",
                  agents),
      joined_line(placed, agents > hosts ? launcher_on_each_host(placed) : ""));
}

// `srun torchrun`: each task is an agent, and each agent starts all processes of a host. True where it
// starts too many.
bool TorchRules::check_agents(const PlacedCommand& placed) {
  const auto processes = torch_value(placed.command, "nproc-per-node");
  const auto step = read_launch_step(placed.command);
  if (!processes || *processes == "1" || !step) return false;
  const std::uint64_t hosts = std::max<std::uint64_t>(1, node_count(view_.request));
  const std::uint64_t own = step->nodes > 0 ? step->nodes : hosts;
  std::uint64_t agents = task_count(view_.request) / hosts;
  if (step->tasks > 0) agents = step->tasks / own;
  if (step->tasks_per_node > 0) agents = step->tasks_per_node;
  if (agents < 2) return false;
  add("torchrun-per-task", Severity::error, placed.place,
      fmt::format("srun starts torchrun {} times on each host, each with --nproc_per_node={}", agents,
                  printable(*processes, 40)),
      "every task starts all processes of its host: several of them take one GPU, and a port is in use",
      "srun --ntasks-per-node=1 torchrun ...; or srun --ntasks-per-node=N python train.py, without torchrun");
  return true;
}

void TorchRules::check_master() {
  const auto found = view_.script.exports.find("MASTER_ADDR");
  if (found == view_.script.exports.end() || node_count(view_.request) < 2) return;
  if (!is_own_host(found->second.text)) return;
  add("master-is-localhost", Severity::error, {found->second.line, 1},
      fmt::format("MASTER_ADDR={} in a job of {} hosts", found->second.text, node_count(view_.request)),
      "each host waits for the others at its own localhost, until the rendezvous times out",
      view_.slurm() ? "export MASTER_ADDR=\"$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\""
                    : "export MASTER_ADDR=\"$(head -n 1 \"$PBS_NODEFILE\")\"");
}

std::vector<Finding> TorchRules::check() {
  for (const PlacedCommand& placed : view_.commands) {
    if (!starts_torchrun(placed.command)) continue;
    const LaunchTool tool = launch_tool_of(placed.command);
    if (tool == LaunchTool::ddlrun) continue;  // it replaces torchrun
    const bool is_reported = tool == LaunchTool::srun && check_agents(placed);
    const auto nodes = torch_value(placed.command, "nnodes");
    const bool is_alone = has_word(placed.command, "--standalone");
    if (!nodes || *nodes == "1" || *nodes == "1:1" || is_alone) {
      if (!is_reported) check_separate_runs(placed);
      continue;
    }
    check_endpoint(placed, *nodes);
    check_first_host(placed, *nodes);
  }
  check_master();
  return std::move(findings_);
}

}  // namespace

std::vector<Finding> lint_torch(const ScriptView& view) { return TorchRules(view).check(); }

}  // namespace ddlrun::job_scripts
