// SPDX-License-Identifier: MIT
// The body of a Slurm script under PBS.
#include "base/text/text.hpp"
#include "schedulers/scripts/convert_body.hpp"
#include "schedulers/scripts/launch_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace ddlrun::job_scripts {

namespace {

const std::map<std::string, std::string>& pbs_names() {
  static const std::map<std::string, std::string> all = {
      {"SLURM_JOB_ID", "PBS_JOBID"},
      {"SLURM_JOBID", "PBS_JOBID"},
      {"SLURM_SUBMIT_DIR", "PBS_O_WORKDIR"},
      {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX"},
      {"SLURM_ARRAY_JOB_ID", "PBS_ARRAY_ID"},
      {"SLURM_JOB_NAME", "PBS_JOBNAME"},
      {"SLURM_JOB_PARTITION", "PBS_QUEUE"},
      {"SLURM_SUBMIT_HOST", "PBS_O_HOST"},
      {"SLURM_NODEID", "PBS_NODENUM"},
      {"SLURM_JOB_NUM_NODES", "SLURM_NNODES"},
      {"SLURM_NODELIST", "SLURM_JOB_NODELIST"},
      {"SLURM_NPROCS", "SLURM_NTASKS"},
  };
  return all;
}

// For each command whether the shell does not wait for it: it, or the pipe that it begins, ends with '&'.
std::vector<bool> find_beside(const std::vector<ShellCommand>& commands) {
  std::vector<bool> beside(commands.size());
  for (std::size_t i = commands.size(); i-- > 0;)
    beside[i] = commands[i].piped && i + 1 < commands.size() ? beside[i + 1] : commands[i].background;
  return beside;
}

constexpr std::size_t most_exported = 500;  // of a line of mpirun, whose length the kernel limits

// Names that the ranks of a line find in their environment under srun: mpirun hands over to other hosts only
// its given path. Takes the script line by line.
class ExportedNames {
 public:
  void take(const std::vector<ShellCommand>& commands) {
    for (const ShellCommand& command : commands) {
      const std::string name = command.name();
      const bool declares = (name == "declare" || name == "typeset") && command.words.size() > 1 &&
                            command.words[1].text == "-x";
      if (name == "module" || name == "ml" || name == "conda" || name == "source" || name == "." ||
          name == "spack") {
        add("PATH");
        add("LD_LIBRARY_PATH");
      }
      if (name != "export" && !declares) continue;
      for (const ShellWord& word : command.assignments) add(word.text);
      for (std::size_t i = 1; i < command.words.size(); ++i) add(command.words[i].text);
    }
  }

  // With those in front of the launch itself.
  std::vector<std::string> names_for(const ShellCommand& launch) const {
    if (launch.assignments.empty()) return names_;
    ExportedNames all = *this;
    for (const ShellWord& word : launch.assignments) all.add(word.text);
    return all.names_;
  }
  bool is_full() const { return names_.size() >= most_exported; }

 private:
  void add(std::string_view word) {
    std::string name(word.substr(0, word.find('=')));
    const bool good =
        !name.empty() && is_name_begin(name[0]) && std::all_of(name.begin(), name.end(), is_name);
    const bool of_launcher =
        name.starts_with("OMPI_") || name.starts_with("SLURM_") || name.starts_with("SRUN_");
    if (good && !of_launcher && !is_full() && known_.insert(name).second) names_.push_back(std::move(name));
  }

  std::vector<std::string> names_;  // as the script has them
  std::set<std::string> known_;
};

std::string render_mpirun(const LaunchStep& srun, const ResourceRequest& request,
                          const std::vector<std::string>& exported) {
  const Chunk& chunk = request.chunks.front();
  const std::uint64_t nodes = srun.nodes > 0 ? srun.nodes : node_count(request);
  const std::uint64_t per_node = srun.tasks_per_node > 0       ? srun.tasks_per_node
                                 : srun.tasks > 0 && nodes > 0 ? (srun.tasks + nodes - 1) / nodes
                                 : srun.nodes > 0              ? 1
                                                               : chunk.tasks;
  const std::uint64_t tasks = srun.tasks > 0            ? srun.tasks
                              : srun.tasks_per_node > 0 ? nodes * srun.tasks_per_node
                              : srun.nodes > 0          ? srun.nodes
                                                        : task_count(request);
  const std::uint64_t cores = std::max<std::uint64_t>(
      1, srun.cpus_per_task > 0 ? srun.cpus_per_task : chunk.cores / std::max<std::uint64_t>(1, chunk.tasks));
  std::string text =
      fmt::format("mpirun -n {} --hostfile \"$PBS_NODEFILE\" --map-by ppr:{}:node:PE={} --bind-to core",
                  tasks, std::max<std::uint64_t>(1, per_node), cores);
  if (srun.label) text += " --tag-output";
  for (const std::string& name : exported) text += " -x " + name;
  return text;
}

// Steps that run beside each other: several in the background, or one of a loop's.
bool has_parallel_steps(const JobScript& script) {
  int steps = 0, loops = 0;
  for (const ScriptLine& line : script.body) {
    const auto commands = parse_commands(line);
    const auto beside = find_beside(commands);
    for (std::size_t i = 0; i < commands.size(); ++i) {
      for (const std::string& word : commands[i].keywords) {
        if (word == "while" || word == "until") ++loops;
        if (word == "done") loops = std::max(0, loops - 1);
      }
      if (commands[i].name() == "for" || commands[i].name() == "select") ++loops;
      if (commands[i].base_name() == "srun" && beside[i]) steps += loops > 0 ? 2 : 1;
    }
  }
  return steps > 1;
}

// Settings of the srun line for its ranks that mpirun lacks.
void report_srun(const LaunchStep& srun, const ResourceRequest& request, int number, BodyChange& change) {
  for (const StepExcess& excess : find_step_excess(srun, request))
    change.unsupported.push_back({number, "srun: " + excess.what, "the job lacks " + excess.directive, true});
  for (const std::string& word : srun.unknown)
    change.unsupported.push_back({number, "srun " + word, "an option that mpirun does not have"});
  if (srun.gpus_per_task > 0)
    change.unsupported.push_back(
        {number, "srun --gpus-per-task",
         "each rank saw its own GPUs only; under mpirun it sees all of its node and has "
         "to pick by $OMPI_COMM_WORLD_LOCAL_RANK"});
  change.unsupported.push_back(
      {number, "srun",
       "replaced by Open MPI's mpirun, which passes to other hosts only the variables that -x names (srun "
       "passes all); other MPIs have other options"});
}

void change_srun(const ScriptLine& line, const ShellCommand& command, const ResourceRequest& request,
                 const std::vector<std::string>& exported, BodyChange& change) {
  const LaunchStep srun = read_launch_step(command).value_or(LaunchStep());
  const int number = place_in(line, command.words.front().at).line;
  if (srun.program >= command.words.size() || request.chunks.empty() || !srun.tasks_text.empty()) {
    change.unsupported.push_back(
        {number, "srun", "PBS has no srun: mpirun, with -n and --hostfile \"$PBS_NODEFILE\"", true});
    return;
  }
  const ShellWord& first = command.words.front();
  change.edits.push_back(
      edit_at(line, first.at, first.end - first.at, render_mpirun(srun, request, exported)));
  for (std::size_t i = 1; i < srun.program; ++i) {
    const ShellWord& word = command.words[i];
    const bool blank = word.at > 0 && line.text[word.at - 1] == ' ' &&
                       place_in(line, word.at - 1).line == place_in(line, word.at).line;
    change.edits.push_back(
        edit_at(line, word.at - (blank ? 1 : 0), word.end - word.at + (blank ? 1 : 0), ""));
  }
  report_srun(srun, request, number, change);
}

void report_slurm_command(const ShellCommand& command, int number, bool list, BodyChange& change) {
  static const std::map<std::string, const char*> counterparts = {{"sbatch", "qsub"},
                                                                  {"squeue", "qstat"},
                                                                  {"scancel", "qdel"},
                                                                  {"sacct", "qstat -x"},
                                                                  {"sinfo", "pbsnodes -a"},
                                                                  {"sbcast", "scp, or pbsdsh cp"},
                                                                  {"sattach", "tail -f of the output file"}};
  const auto found = counterparts.find(command.base_name());
  const bool control = command.base_name() == "scontrol";
  if (found == counterparts.end() && (!control || list)) return;
  change.unsupported.push_back({number, command.base_name(),
                                fmt::format("a command of Slurm that PBS does not have: {}",
                                            control ? "qrerun, qhold, qalter" : found->second)});
}

// "scontrol show hostnames [LIST]", also within "$(...)": the hosts of the node file.
void change_host_lists(const ScriptLine& line, BodyChange& change) {
  static constexpr std::string_view call = "scontrol show hostnames";
  for (std::size_t at = 0; (at = line.text.find(call, at)) != std::string::npos;) {
    std::size_t end = at + call.size();
    while (end < line.text.size() &&
           std::string_view("\n|;)`>&#").find(line.text[end]) == std::string_view::npos)
      ++end;
    while (end > at + call.size() && line.text[end - 1] == ' ') --end;
    change.edits.push_back(edit_at(line, at, end - at, "awk '!seen[$0]++' \"$PBS_NODEFILE\""));
    at = end;
  }
}

// Variables of Slurm whose values are in the request.
std::map<std::string, std::string> known_values(const ResourceRequest& request) {
  const Chunk chunk = request.chunks.empty() ? Chunk{} : request.chunks.front();
  return {{"SLURM_NTASKS", fmt::format("{}", task_count(request))},
          {"SLURM_NNODES", fmt::format("{}", node_count(request))},
          {"SLURM_NTASKS_PER_NODE", fmt::format("{}", chunk.tasks)},
          {"SLURM_TASKS_PER_NODE", fmt::format("{}", chunk.tasks)},
          {"SLURM_CPUS_PER_TASK", fmt::format("{}", chunk.cores / std::max<std::uint64_t>(1, chunk.tasks))},
          {"SLURM_CPUS_ON_NODE", fmt::format("{}", chunk.cores)},
          {"SLURM_GPUS_ON_NODE", fmt::format("{}", chunk.gpus)},
          {"SLURM_GPUS_PER_NODE", fmt::format("{}", chunk.gpus)},
          {"SLURM_JOB_NODELIST", "$(awk '!seen[$0]++' \"$PBS_NODEFILE\" | paste -sd, -)"},
          {"SLURM_JOB_USER", "$USER"}};
}

bool enters_submit_dir(const JobScript& script) {
  for (const ScriptLine& line : script.body)
    for (const ShellCommand& command : parse_commands(line))
      if (command.name() == "cd" && command.words.size() > 1 &&
          command.words[1].text.find("SLURM_SUBMIT_DIR") != std::string::npos)
        return true;
  return false;
}

}  // namespace

BodyChange change_body_to_pbs(const JobScript& script, const ResourceRequest& request) {
  BodyChange change;
  const bool parallel = has_parallel_steps(script);
  ExportedNames exported;
  for (const ScriptLine& line : script.body) {
    const auto commands = parse_commands(line);
    const auto beside = find_beside(commands);
    const bool list = line.text.find("hostnames") != std::string::npos;
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const ShellCommand& command = commands[i];
      const int number = command.words.empty() ? line.line : place_in(line, command.words.front().at).line;
      if (command.base_name() == "srun" && parallel && beside[i]) {
        change.unsupported.push_back(
            {number, "srun ... &",
             "left as it is: PBS has no steps, and several mpirun at once take the same "
             "hosts and cores. Give each a part of \"$PBS_NODEFILE\" by --hostfile",
             true});
      } else if (command.base_name() == "srun") {
        change_srun(line, command, request, exported.names_for(command), change);
      }
      report_slurm_command(command, number, list, change);
      for (const ShellCommand& inner : nested_commands(command)) {
        report_slurm_command(inner, number, list, change);
        if (inner.base_name() == "srun")
          change.unsupported.push_back(
              {number, "srun within another command", "PBS has no srun: mpirun", true});
      }
    }
    change_host_lists(line, change);
    exported.take(commands);
  }
  if (exported.is_full())
    change.unsupported.push_back(
        {0, "export",
         fmt::format("more than {} variables: the others are not passed to mpirun", most_exported), true});
  rename_variables(script, pbs_names(), "SLURM_", change);
  // Names that were only brought to one form.
  for (const ScriptLine& line : script.body) {
    for (const VariableUse& use : find_variables(line)) {
      const auto found = pbs_names().find(use.name);
      if (found != pbs_names().end() && found->second.starts_with("SLURM_"))
        change.kept_names.insert(found->second);
    }
  }
  const auto known = known_values(request);
  for (const std::string& name : change.kept_names)
    if (!known.contains(name))
      change.unsupported.push_back({0, "$" + name,
                                    name == "SLURM_PROCID"    ? "under Open MPI: OMPI_COMM_WORLD_RANK"
                                    : name == "SLURM_LOCALID" ? "under Open MPI: OMPI_COMM_WORLD_LOCAL_RANK"
                                                              : "a variable of Slurm that PBS does not set"});
  mend_damage(script, change);
  return change;
}

std::vector<std::string> prepare_for_pbs(const JobScript& script, const ResourceRequest& request,
                                         const BodyChange& change) {
  std::vector<std::string> lines;
  if (!request.dir.empty()) {
    lines.push_back(fmt::format("cd {} || exit", quote_shell(request.dir)));
  } else if (!enters_submit_dir(script)) {
    lines.emplace_back("# Slurm starts a job where it was submitted, PBS in the home directory.");
    lines.emplace_back("cd \"$PBS_O_WORKDIR\" || exit");
  }
  for (const auto& [name, value] : known_values(request)) {
    if (!change.kept_names.contains(name)) continue;
    lines.push_back(fmt::format("{}={}", name, value));
    lines.push_back("export " + name);
  }
  return lines;
}

}  // namespace ddlrun::job_scripts
