// SPDX-License-Identifier: MIT
#include "schedulers/scripts/launch_step.hpp"

#include "base/text/text.hpp"
#include "schedulers/scripts/directive_lexer.hpp"
#include "schedulers/scripts/lint_internal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::job_scripts {

namespace {

std::uint64_t step_number(std::string_view text) { return parse_unsigned(text, max_count).value_or(0); }

// srun(1) of Slurm 22.05: options with a value that sbatch does not have, or has without one.
bool takes_value_srun(std::string_view option) {
  static constexpr std::array<std::string_view, 14> own{
      "--mpi", "--cpu-bind", "--relative", "-r",      "--threads",   "-T",           "--wait",
      "-W",    "--prolog",   "--epilog",   "--jobid", "--het-group", "--accel-bind", "--task-epilog"};
  return std::ranges::find(own, option) != own.end() || takes_value_slurm(option);
}

// "gpu:a100:4" -> 4, "gpu" -> 1; the type, if there is one.
std::uint64_t step_gpus(std::string_view text, std::string& type) {
  const auto words = split(text, ':');
  if (words.size() == 2) type = std::string(words[0]);
  return step_number(words.back());
}

void read_gres(std::string_view list, LaunchStep& step) {
  for (const std::string_view item : split(list, ',')) {
    if (item == "gpu") step.gpus_per_node = 1;
    if (item.starts_with("gpu:")) step.gpus_per_node = step_gpus(item.substr(4), step.gpu_type);
  }
}

// False for an option that is not read here.
bool read_srun_option(const std::string& name, const std::string& value, LaunchStep& step) {
  if (name == "ntasks") {
    step.tasks = step_number(value);
    if (step.tasks == 0) step.tasks_text = value;
  } else if (name == "nodes") {
    step.nodes = step_number(std::string_view(value).substr(0, value.find('-')));
  } else if (name == "ntasks-per-node") {
    step.tasks_per_node = step_number(value);
  } else if (name == "cpus-per-task") {
    step.cpus_per_task = step_number(value);
  } else if (name == "gres") {
    read_gres(value, step);
  } else if (name == "gpus") {
    step.gpus = step_gpus(value, step.gpu_type);
  } else if (name == "gpus-per-node") {
    step.gpus_per_node = step_gpus(value, step.gpu_type);
  } else if (name == "gpus-per-task") {
    step.gpus_per_task = step_gpus(value, step.gpu_type);
  } else if (name == "overcommit") {
    step.overcommits = true;
  } else {
    static constexpr std::array<std::string_view, 5> harmless{"exclusive", "distribution", "hint", "gpu-bind",
                                                              "oversubscribe"};
    return std::ranges::find(harmless, name) != harmless.end();
  }
  return true;
}

bool is_harmless_srun(std::string_view option) {
  static constexpr std::array<std::string_view, 9> words{
      "-u", "--unbuffered", "--overlap", "--exact", "-K", "--kill-on-bad-exit", "--mpi", "--cpu-bind", "-s"};
  return std::ranges::find(words, option) != words.end();
}

LaunchStep read_srun_step(const ShellCommand& command) {
  LaunchStep step;
  const auto& words = command.words;
  std::size_t i = 1;
  for (; i < words.size() && words[i].text.starts_with('-') && words[i].text != "--"; ++i) {
    const std::string& word = words[i].text;
    const bool is_long = word.starts_with("--");
    const std::size_t end = is_long ? word.find('=') : 2;
    const std::string option = word.substr(0, end);
    std::string value = end < word.size() ? word.substr(end + (is_long ? 1 : 0)) : "";
    if (end >= word.size() && takes_value_srun(option) && i + 1 < words.size()) value = words[++i].text;
    const auto name = slurm_option_name(option);
    if (option == "-l" || option == "--label") {
      step.label = true;
    } else if (!(name && read_srun_option(*name, value, step)) && !is_harmless_srun(option)) {
      step.unknown.push_back(value.empty() || word.size() > option.size() ? word : option + " " + value);
    }
  }
  if (i < words.size() && words[i].text == "--") ++i;
  step.program = i;
  return step;
}

// "a:2,b:2"; a host without a count has one rank.
void read_hosts(std::string_view list, LaunchStep& step) {
  if (list.find_first_of("$`") != std::string_view::npos) return;
  step.hosts = std::string(list);
  for (const std::string_view item : split(list, ',')) {
    const std::size_t colon = item.find(':');
    step.slots += colon == std::string_view::npos ? 1 : step_number(item.substr(colon + 1));
    ++step.nodes;
  }
}

LaunchStep read_ranks_and_hosts(const ShellCommand& command) {
  LaunchStep step;
  if (const auto ranks = option_value(command, {"-n", "-np", "--np", "--n", "--num-proc", "-c"})) {
    step.tasks = step_number(*ranks);
    if (step.tasks == 0) step.tasks_text = *ranks;
  }
  if (const auto hosts = option_value(command, {"-H", "--hosts", "--host", "-host"}))
    read_hosts(*hosts, step);
  return step;
}

// The most of each that the steps ask.
void join_step(const LaunchStep& step, LaunchStep& all) {
  for (const auto number :
       {&LaunchStep::nodes, &LaunchStep::tasks, &LaunchStep::tasks_per_node, &LaunchStep::cpus_per_task,
        &LaunchStep::gpus, &LaunchStep::gpus_per_node, &LaunchStep::gpus_per_task})
    all.*number = std::max(all.*number, step.*number);
  if (all.gpu_type.empty()) all.gpu_type = step.gpu_type;
}

}  // namespace

std::optional<LaunchStep> read_launch_step(const ShellCommand& command) {
  const std::string name = command.base_name();
  LaunchStep step;
  if (name == "srun")
    step = read_srun_step(command);
  else if (name == "horovodrun" || name == "mpirun" || name == "mpiexec" || name == "orterun")
    step = read_ranks_and_hosts(command);
  else
    return std::nullopt;
  step.launcher = name;
  return step;
}

std::vector<StepExcess> find_step_excess(const LaunchStep& step, const ResourceRequest& request) {
  std::vector<StepExcess> found;
  if (step.launcher != "srun" || request.chunks.empty()) return found;
  const std::uint64_t nodes = node_count(request), cores = core_count(request);
  std::uint64_t gpus = 0, most_gpus = 0;
  for (const Chunk& chunk : request.chunks) {
    gpus += chunk.nodes * chunk.gpus;
    most_gpus = std::max(most_gpus, chunk.gpus);
  }
  if (request.total_gpus > 0) gpus = most_gpus = request.total_gpus;  // on any of its nodes
  const auto add = [&found](std::uint64_t wanted, std::uint64_t there, const char* what, std::string option) {
    if (wanted > there)
      found.push_back(
          {fmt::format("{} {}, the job has {}", wanted, what, there), fmt::format("{}={}", option, wanted)});
  };
  add(step.nodes, nodes, "nodes", "--nodes");
  if (request.exclusive) return found;  // all cores and GPUs of its nodes, how many is not known
  // Slurm 24.11 gives a step without -c the job's; 22.05 gives it one.
  const std::uint64_t own = task_count(request) > 0 ? cores / task_count(request) : 1;
  const std::uint64_t per_task =
      std::max<std::uint64_t>(1, step.cpus_per_task > 0 ? step.cpus_per_task : own);
  const std::uint64_t tasks = step.all_tasks() > 0 ? step.all_tasks() : task_count(request);
  if (!step.overcommits && tasks * per_task > cores) {
    if (per_task == 1)
      add(tasks, cores, "tasks", "--ntasks");
    else
      found.push_back(
          {fmt::format("{} tasks with {} cores each, the job has {} cores", tasks, per_task, cores),
           step.cpus_per_task > own ? fmt::format("--cpus-per-task={}", per_task)
                                    : fmt::format("--ntasks={}", tasks)});
  }
  add(step.gpus_per_node, most_gpus, "GPUs of a node", "--gpus-per-node");
  add(std::max(step.gpus, step.gpus_per_task * tasks), gpus, "GPUs", "--gpus");
  return found;
}

JobScript with_step_requests(JobScript script, std::vector<Unsupported>& taken) {
  if (script.dialect != Dialect::slurm) return script;
  LaunchStep all;
  int line = 0;
  for (const ScriptLine& text : script.body) {
    for (const ShellCommand& command : parse_commands(text)) {
      const auto step = read_launch_step(command);
      if (!step) continue;
      if (command.background) return script;  // steps beside each other share the job
      join_step(*step, all);
      if (line == 0) line = place_in(text, command.words.front().at).line;
      if (all.launcher.empty()) all.launcher = step->launcher;
    }
  }
  const auto asked = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(script.directives, [&](const Directive& directive) {
      const auto name = slurm_option_name(directive.option);
      return name && std::ranges::find(names, *name) != names.end() &&
             (*name != "gres" || directive.value.find("gpu") != std::string::npos);
    });
  };
  std::vector<Directive> more;
  std::string words;
  const auto take = [&](const char* option, std::uint64_t number, const std::string& type = "") {
    if (number == 0) return;
    more.push_back(
        {option, fmt::format("{}{}{}", type, type.empty() ? "" : ":", number), line, 1, Unread::no});
    words += fmt::format(" {}={}", option, more.back().value);
  };
  const bool tasks = asked({"ntasks", "ntasks-per-node"}),
             gpus = asked({"gres", "gpus", "gpus-per-node", "gpus-per-task", "gpus-per-socket"});
  if (!asked({"nodes"})) take("--nodes", all.nodes);
  if (!tasks) take("--ntasks", all.tasks);
  if (!tasks) take("--ntasks-per-node", all.tasks_per_node);
  if (!asked({"cpus-per-task"})) take("--cpus-per-task", all.cpus_per_task);
  if (!gpus) take("--gpus-per-node", all.gpus_per_node, all.gpu_type);
  if (!gpus) take("--gpus", all.gpus, all.gpu_type);
  if (!gpus) take("--gpus-per-task", all.gpus_per_task, all.gpu_type);
  if (!more.empty())
    taken.push_back({line, all.launcher + ":" + words, "not in the directives: taken from this line"});
  script.directives.insert(script.directives.end(), more.begin(), more.end());
  return script;
}

}  // namespace ddlrun::job_scripts
