// SPDX-License-Identifier: MIT
// What is started: the data brought to the hosts, the program in its container, doctor before it, and the
// command of the runner.
#include "base/os/self_executable.hpp"
#include "base/text/error.hpp"
#include "base/text/secret_name.hpp"
#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"
#include "schedulers/job/script_fragment.hpp"
#include "topology/affinity/thread_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ddlrun::schedulers {

namespace {

[[noreturn]] void refuse_program(const std::string& what, const std::string& where, const std::string& hint) {
  throw Error(ErrorKind::request, {what, where, hint});
}

bool launches_copies(const JobSpec& job) {
  return job.data && !job.data->to.empty() && job.scheduler != SchedulerKind::slurm && job.nodes() > 1;
}

std::string per_host(const JobSpec& job) {
  if (job.scheduler == SchedulerKind::slurm) {
    return fmt::format("srun --nodes={0} --ntasks={0} --ntasks-per-node=1 -- ", job.nodes());
  }
  if (!launches_copies(job)) return "";
  topology::Dims one_each = job.dims;
  one_each.gpus_per_node = 1;
  const std::string hosts = job.scheduler == SchedulerKind::local && !job.hosts.empty()
                                ? " " + shell_word(join(job.hosts, ","))
                                : "";
  return fmt::format(
      "\"$ddl_binary\" launch {}{} --map-by packages --no-verify --no-monitor --no-history --run-dir "
      "\"$ddl_run_dir.data\" -- ",
      topology::render_dims(one_each), hosts);
}

Lines data_lines(const JobSpec& job) {
  if (!job.data) return {};
  const Staging& data = *job.data;
  Lines copy;
  if (!data.to.empty()) {
    const std::string copy_on_host =
        std::string(trusted_function) + join(script_lines("data_copy_host"), " ");
    copy = script_lines("data_copy", {{"source", ScriptValue::quoted(data.from)},
                                      {"on_each_host", ScriptValue::checked(per_host(job))},
                                      {"script", ScriptValue::quoted(copy_on_host)}});
  }
  return script_lines("data", {{"directory", ScriptValue::quoted(data.to.empty() ? data.from : data.to)},
                               {"copy", ScriptValue::block(copy)}});
}

Lines binary_lines(const JobSpec& job) {
  if (!needs_ddlrun(job)) return {};
  Lines run_dir, restarted;
  if (job.runner == Runner::ddlrun || launches_copies(job)) {
    run_dir = {"ddl_run_dir=$ddl_dir/run.$ddl_id"};
    // A requeued job keeps its id there. launch itself adds ".1" for a restart inside the job.
    if (job.scheduler == SchedulerKind::slurm)
      restarted = {"if [ \"$ddl_restarts\" -gt 0 ]; then ddl_run_dir=$ddl_run_dir.requeue$ddl_restarts; fi"};
  }
  return script_lines("binary", {{"ddlrun", ScriptValue::quoted(job.ddlrun)},
                                 {"run_dir", ScriptValue::block(run_dir)},
                                 {"restarted", ScriptValue::block(restarted)}});
}

std::vector<std::string> program_words(const JobSpec& job) {
  const bool for_trainer = job.program.empty() || job.program[0].starts_with('-');
  if (job.program.empty() && job.runner != Runner::ddlrun)
    refuse_program("there is no program to start", "program", "program: [./train, --epochs, \"3\"]");
  if (!job.container) return job.program;
  const Container& container = *job.container;
  if (for_trainer)
    refuse_program("a container needs a program of its own", "program", "program: [python, train.py]");
  if (container.image.empty() || container.image[0] == '-')
    refuse_program("the container's image is no path", "container", "container: /scratch/me/pytorch.sif");
  std::vector<std::string> words{container.runtime, "exec"};
  if (job.gpus_per_node > 0) words.emplace_back("--nv");
  for (const std::string& bind : container.binds) {
    words.emplace_back("--bind");
    words.push_back(bind);
  }
  words.push_back(container.image);
  words.insert(words.end(), job.program.begin(), job.program.end());
  return words;
}

// A word of an array: commas are quoted, since they look like separators that bash does not have.
std::string array_word(const std::string& word) {
  const std::string quoted = shell_word(word);
  return quoted == word && word.find(',') != std::string::npos ? "'" + word + "'" : quoted;
}

// On one line where it fits, else a word a line; no word holds a line break.
Lines array_lines(const std::string& name, const std::vector<std::string>& words) {
  Lines lines;
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + array_word(word);
  if (line.size() <= 90) {
    lines.push_back(name + "=(" + line + ")");
    return lines;
  }
  lines.push_back(name + "=(");
  for (const std::string& word : words) lines.push_back("  " + array_word(word));
  lines.emplace_back(")");
  return lines;
}

std::string shell_words_of(const PassedOption& option) {
  std::string words;
  for (const std::string& word : option.words) words += " " + array_word(word);
  return words;
}

Lines doctor_lines(const JobSpec& job, const std::string& program) {
  if (job.doctor == DoctorLevel::off) return {};
  const std::string hosts = job.scheduler == SchedulerKind::local && !job.hosts.empty()
                                ? " " + shell_word(join(job.hosts, ","))
                                : "";
  // srun reaches every node of the job; ssh between nodes may be closed, and such a job does not need it.
  const char* via = job.runner == Runner::srun ? " --via srun" : "";
  std::string choice;
  for (const PassedOption& option : job.doctor_options) choice += shell_words_of(option);
  // With one host launch has no network to choose.
  const PassedOption* const network = job.launch_option("interface");
  if (network != nullptr && job.nodes() > 1 && network->words.back() != "none")
    choice += shell_words_of(*network);
  if (job.gpus_per_node > 0) choice += fmt::format(" --gpus {}", job.gpus_per_node);
  if (job.exclusive && job.scheduler != SchedulerKind::local) choice += " --exclusive";
  if (job.oversubscribes()) choice += " --oversubscribe";
  // Without GPUs in the request those of an exclusive node are idle, whatever is wrong with them.
  if (job.scheduler != SchedulerKind::local && job.gpus_per_node == 0) choice += " --warn GPU";
  if (job.runner == Runner::ddlrun)
    choice += " \"${ddl_exports[@]}\"";  // all ranks get them: they are no leftovers
  return script_lines(job.doctor == DoctorLevel::warn ? "doctor_warn" : "doctor_fail",
                      {{"hosts", ScriptValue::checked(hosts)},
                       {"dims", ScriptValue::checked(topology::render_dims(job.dims))},
                       {"via", ScriptValue::checked(via)},
                       {"choice", ScriptValue::checked(choice)},
                       {"program", ScriptValue::checked(program)}});
}

// A `case` that continues the loop where the name looks like a secret.
Lines skip_secrets_lines() {
  constexpr std::size_t most_letters = 90;
  Lines clauses{"    case ${ddl_name^^} in"};
  std::string patterns;
  bool is_secret = false;
  const auto close = [&] {
    if (!patterns.empty()) clauses.push_back("      " + patterns + (is_secret ? ") continue ;;" : ") ;;"));
    patterns.clear();
  };
  for (const SecretRule& rule : secret_rules()) {
    if (rule.is_secret != is_secret || patterns.size() + rule.pattern.size() > most_letters) close();
    is_secret = rule.is_secret;
    patterns += (patterns.empty() ? "" : " | ") + std::string(rule.pattern);
  }
  close();
  clauses.emplace_back("    esac");
  return clauses;
}

Lines wildcard_lines(const std::vector<std::string>& prefixes) {
  if (prefixes.empty()) return {};
  return script_lines("exports_wildcard", {{"prefixes", ScriptValue::checked(join(prefixes, " "))},
                                           {"skip_secrets", ScriptValue::block(skip_secrets_lines())}});
}

Lines ddlrun_exports(const JobSpec& job) {
  std::vector<std::string> names, prefixes;
  for (const std::string& entry : job.environment) {
    const bool many = is_wildcard(entry);
    const std::string name = variable_name(many ? entry.substr(0, entry.size() - 1) : entry);
    auto& list = many ? prefixes : names;
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
  std::string always = "-x DDLRUN_RESTART_COUNT";
  if (job.array) always += " -x DDLRUN_ARRAY_INDEX";
  if (job.data) always += " -x DDLRUN_DATA";
  Lines named;
  if (!names.empty() || !prefixes.empty()) {
    // An empty array is an unset variable for `set -u` of bash before 4.4.
    const char* all = names.empty() ? "${ddl_passed[@]+\"${ddl_passed[@]}\"}" : "\"${ddl_passed[@]}\"";
    named = script_lines("exports_named", {{"names", ScriptValue::checked(join(names, " "))},
                                           {"wildcards", ScriptValue::block(wildcard_lines(prefixes))},
                                           {"all", ScriptValue::checked(all)}});
  }
  return script_lines("exports",
                      {{"always", ScriptValue::checked(always)}, {"named", ScriptValue::block(named)}});
}

// launch gets each variable by name; other runners pass the environment of the script.
Lines script_exports(const JobSpec& job) {
  const auto names = inherited_variables(job);
  if (names.empty()) return {};
  return script_lines("exports_script", {{"names", ScriptValue::checked(join(names, " "))}});
}

Lines ddlrun_lines(const JobSpec& job, const std::string& program) {
  Lines lines;
  std::string options;
  if (job.scheduler == SchedulerKind::local && !job.hosts.empty())
    options += " " + array_word(join(job.hosts, ","));
  if (job.order == topology::RankOrder::packed) options += " --order packed";
  if (job.threads > 0) options += fmt::format(" --threads {}", job.threads);
  if (job.affinity != "auto") options += " --affinity " + shell_word(job.affinity);
  if (job.framework != "auto") options += " --framework " + shell_word(job.framework);
  for (const PassedOption& option : job.launch_options) options += shell_words_of(option);
  append(lines, script_lines("launch", {{"dims", ScriptValue::checked(topology::render_dims(job.dims))},
                                        {"options", ScriptValue::checked(options)},
                                        {"program", ScriptValue::checked(program)}}));
  return lines;
}

Lines thread_lines(const JobSpec& job) {
  if (job.threads == 0) return {};
  affinity::ThreadRequest request;
  if (job.affinity == "off") request.runtime = affinity::OpenMpRuntime::none;
  if (job.affinity == "libgomp") request.runtime = affinity::OpenMpRuntime::libgomp;
  if (job.affinity == "libomp") request.runtime = affinity::OpenMpRuntime::libomp;
  request.threads = job.threads;
  request.cores = job.threads;
  request.threads_per_core = std::max(1u, job.hardware_threads_per_core);
  request.bound = job.runner == Runner::srun;
  request.launcher = job.runner == Runner::srun ? "srun" : "";
  EnvVars own;
  for (const std::string& entry : job.environment) {
    if (is_wildcard(entry)) continue;
    const std::string name = variable_name(entry);
    if (entry.size() > name.size()) own[name] = entry.substr(name.size() + 1);
  }
  Lines lines{"", "# The ranks' threads."};
  for (const affinity::ThreadVariable& variable : affinity::plan_thread_settings(request, own).variables)
    lines.push_back("export " + variable_name(variable.name) + "=" + shell_word(variable.value));
  if (lines.size() == 2) return {};
  return lines;
}

Lines srun_lines(const JobSpec& job) {
  Lines lines = thread_lines(job);
  // Since Slurm 22.05 srun does not take the job's --cpus-per-task by itself.
  const char* cpus = job.threads > 0 ? " --cpus-per-task=\"$SLURM_CPUS_PER_TASK\"" : "";
  const std::string mpi =
      job.srun_mpi.empty() ? "" : " --mpi=" + directive_value(ValueKind::name, job.srun_mpi, "srun_mpi");
  if (job.srun_mpi == "pmix") append(lines, script_lines("srun_pmix"));
  append(lines,
         script_lines("srun", {{"cpus", ScriptValue::checked(cpus)}, {"mpi", ScriptValue::checked(mpi)}}));
  return lines;
}

}  // namespace

bool needs_ddlrun(const JobSpec& job) {
  return job.runner == Runner::ddlrun || job.doctor != DoctorLevel::off || launches_copies(job);
}

Lines program_lines(const JobSpec& job) {
  const std::vector<std::string> words = program_words(job);
  const std::string program = words.empty() ? "" : " -- \"${ddl_program[@]}\"";
  Lines lines = binary_lines(job);
  append(lines, data_lines(job));
  if (!words.empty()) {
    append(lines, {"", "# The program, word by word."});
    append(lines, array_lines("ddl_program", words));
  }
  append(lines, job.runner == Runner::ddlrun ? ddlrun_exports(job) : script_exports(job));
  append(lines, doctor_lines(job, program));
  if (job.runner == Runner::ddlrun) append(lines, ddlrun_lines(job, program));
  if (job.runner == Runner::srun) append(lines, srun_lines(job));
  if (job.runner == Runner::none) {
    append(lines, thread_lines(job));
    append(lines, script_lines("no_runner"));
  }
  return lines;
}

}  // namespace ddlrun::schedulers
