// SPDX-License-Identifier: MIT
// What is started: the data brought to the hosts, the program in its container, doctor before it, and the
// command of the launcher.
#include "affinity/thread_settings.hpp"
#include "base/error.hpp"
#include "base/secret_name.hpp"
#include "base/text.hpp"
#include "schedulers/script_forms.hpp"

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

// One host's copy, just as the source is: what is gone there goes here. Only in a folder that an earlier copy
// of the same source made, or an empty one: what else lies there is somebody's.
constexpr const char* copy_script =
    "mkdir -p -- \"$2\" || exit; mark=$2/.ddlrun-data; "
    "if [ -e \"$mark\" ]; then was=$(cat -- \"$mark\"); "
    "[ \"$was\" = \"$1\" ] || { echo \"$(uname -n): $2 holds a copy of $was, not of $1\" >&2; exit 1; }; "
    "elif [ -n \"$(ls -A -- \"$2\")\" ]; then "
    "echo \"$(uname -n): $2 holds files that no job of ddlrun put there\" >&2; exit 1; fi; "
    "echo \"$1\" >\"$mark\" || exit; if command -v rsync >/dev/null; then "
    "rsync -rlt --delete --exclude=/.ddlrun-data -- \"$1/\" \"$2/\"; "
    "else find \"$2/\" -mindepth 1 ! -name .ddlrun-data -delete && cp -R -- \"$1/.\" \"$2/\"; fi";

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
      "\"$ddl_binary\" launch {}{} --by packages --no-verify --no-watch --run-folder "
      "\"$ddl_run_folder.data\" -- ",
      topology::render_dims(one_each), hosts);
}

Lines data_lines(const JobSpec& job) {
  if (!job.data) return {};
  const Staging& data = *job.data;
  Lines lines{"", "# The data, as the program finds it."};
  lines.push_back("export DDLRUN_DATA=" + shell_word(data.to.empty() ? data.from : data.to));
  if (data.to.empty()) return lines;
  append(lines,
         {"ddl_source=" + shell_word(data.from),
          per_host(job) + "bash -c " + shell_word(copy_script) + " copy \"$ddl_source\" \"$DDLRUN_DATA\" ||",
          "  ddl_fail \"the data could not be copied to $DDLRUN_DATA on every host\" "
          "\"ls -la $(printf %q \"$DDLRUN_DATA\"); df $(printf %q \"$DDLRUN_DATA\")   # on that host; or "
          "another folder under to:\""});
  return lines;
}

Lines binary_lines(const JobSpec& job) {
  if (!needs_ddlrun(job)) return {};
  Lines lines{
      "", "# ddlrun must be here too.", "ddl_binary=" + shell_word(job.ddlrun),
      "command -v -- \"$ddl_binary\" >/dev/null ||",
      "  ddl_fail \"$ddl_binary is not on this host, or may not be run\" 'ddlrun: /its/path/on/the/hosts'"};
  if (job.launcher != Launcher::ddlrun && !launches_copies(job)) return lines;
  lines.emplace_back("ddl_run_folder=$ddl_folder/run.$ddl_id");
  if (job.scheduler == SchedulerKind::slurm)  // where a restart keeps its id
    lines.emplace_back(
        "if [ \"$ddl_restarts\" -gt 0 ]; then ddl_run_folder=$ddl_run_folder.$ddl_restarts; fi");
  return lines;
}

std::vector<std::string> program_words(const JobSpec& job) {
  const bool for_trainer = job.program.empty() || job.program[0].starts_with('-');
  if (job.program.empty() && job.launcher != Launcher::ddlrun)
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

Lines doctor_lines(const JobSpec& job, const std::string& program) {
  if (job.doctor == DoctorLevel::off) return {};
  const std::string hosts = job.scheduler == SchedulerKind::local && !job.hosts.empty()
                                ? " " + shell_word(join(job.hosts, ","))
                                : "";
  // srun reaches every node of the job; ssh between nodes may be closed, and such a job does not need it.
  const std::string via = job.launcher == Launcher::srun ? " --via srun" : "";
  const std::string command = fmt::format("\"$ddl_binary\" doctor{} --quick --dims {}{}{} >&2", hosts,
                                          topology::render_dims(job.dims), via, program);
  if (job.doctor == DoctorLevel::warn) {
    return {"", "# What would break on these hosts is told; the job goes on.",
            command + " || ddl_say 'doctor found something; the job goes on'"};
  }
  return {"",
          "# What would break on these hosts ends the job before anything is started.",
          command + " || {",
          "  ddl_status=$?",
          "  ddl_fail \"doctor's status is $ddl_status: nothing is started\" \\",
          "    '--doctor warn goes on, --doctor off leaves it out' \"$ddl_status\"",
          "}"};
}

// The clauses of a `case` that goes on with the loop where the name looks like a secret.
Lines secret_clauses() {
  constexpr std::size_t most_letters = 90;
  Lines clauses;
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
  return clauses;
}

// What NCCL_* means is known in the job only, once modules and setup have run. Secrets are named one by one.
Lines wildcard_lines(const std::vector<std::string>& prefixes) {
  if (prefixes.empty()) return {};
  Lines lines{"ddl_prefixes=(" + join(prefixes, " ") + ")", "for ddl_prefix in \"${ddl_prefixes[@]}\"; do",
              "  for ddl_name in $(compgen -e \"$ddl_prefix\"); do", "    case ${ddl_name^^} in"};
  append(lines, secret_clauses());
  append(lines, {"    esac", "    case \" ${ddl_passed[*]-} \" in *\" $ddl_name \"*) continue ;; esac",
                 "    ddl_passed+=(\"$ddl_name\")", "  done", "done"});
  return lines;
}

// launch refuses a name that is not set, and a job is not worth ending for one.
Lines ddlrun_exports(const JobSpec& job) {
  std::vector<std::string> names, prefixes;
  for (const std::string& entry : job.environment) {
    const bool many = is_wildcard(entry);
    const std::string name = variable_name(many ? entry.substr(0, entry.size() - 1) : entry);
    auto& list = many ? prefixes : names;
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
  }
  std::string ours = "-x DDLRUN_RESTART_COUNT";
  if (job.array) ours += " -x DDLRUN_ARRAY_INDEX";
  if (job.data) ours += " -x DDLRUN_DATA";
  Lines lines{"", "# What reaches the ranks, by name.", "ddl_exports=(" + ours + ")"};
  if (names.empty() && prefixes.empty()) return lines;
  lines.push_back("ddl_passed=(" + join(names, " ") + ")");
  append(lines, wildcard_lines(prefixes));
  const std::string all = names.empty() ? "${ddl_passed[@]+\"${ddl_passed[@]}\"}" : "\"${ddl_passed[@]}\"";
  append(lines, {"for ddl_name in " + all + "; do", "  if [ -n \"${!ddl_name+set}\" ]; then",
                 "    export \"${ddl_name?}\"", "    ddl_exports+=(-x \"$ddl_name\")", "  fi", "done"});
  return lines;
}

Lines ddlrun_lines(const JobSpec& job, const std::string& program) {
  Lines lines = ddlrun_exports(job);
  std::string options;
  if (job.scheduler == SchedulerKind::local && !job.hosts.empty())
    options += " " + array_word(join(job.hosts, ","));
  if (job.order == topology::RankOrder::packed) options += " --order packed";
  if (job.threads > 0) options += fmt::format(" --threads {}", job.threads);
  if (job.affinity != "auto") options += " --affinity " + shell_word(job.affinity);
  append(
      lines,
      {"", "# Each host's real topology is read, the ranks are planned, started and compared with the plan.",
       fmt::format("ddl_command=(\"$ddl_binary\" launch {}{} --run-folder \"$ddl_run_folder\"",
                   topology::render_dims(job.dims), options),
       "  \"${ddl_exports[@]}\"" + program + ")"});
  return lines;
}

Lines thread_lines(const JobSpec& job) {
  if (job.affinity == "off" || job.threads == 0) return {};
  affinity::ThreadRequest request;
  if (job.affinity == "libgomp") request.runtime = affinity::OpenMpRuntime::libgomp;
  if (job.affinity == "libomp") request.runtime = affinity::OpenMpRuntime::libomp;
  request.threads = job.threads;
  request.cores = job.threads;
  request.threads_per_core = std::max(1u, job.hardware_threads_per_core);
  request.bound = job.launcher == Launcher::srun;
  request.launcher = job.launcher == Launcher::srun ? "srun" : "";
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
  // srun does not take the job's --cpus-per-task by itself.
  const std::string cpus = job.threads > 0 ? " --cpus-per-task=\"$SLURM_CPUS_PER_TASK\"" : "";
  const std::string mpi =
      job.srun_mpi.empty() ? "" : " --mpi=" + directive_value(ValueKind::name, job.srun_mpi, "srun_mpi");
  if (job.srun_mpi == "pmix") {
    append(lines, {"", "# Else a rank may get a message before its MPI_Init is ready, and crash.",
                   "export SLURM_PMIX_FENCE=\"${SLURM_PMIX_FENCE:-ring}\""});
  }
  append(lines, {"", "ddl_command=(srun" + cpus + " --cpu-bind=cores" + mpi +
                         " --kill-on-bad-exit=1 -- \"${ddl_program[@]}\")"});
  return lines;
}

}  // namespace

bool needs_ddlrun(const JobSpec& job) {
  return job.launcher == Launcher::ddlrun || job.doctor != DoctorLevel::off || launches_copies(job);
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
  append(lines, doctor_lines(job, program));
  if (job.launcher == Launcher::ddlrun) append(lines, ddlrun_lines(job, program));
  if (job.launcher == Launcher::srun) append(lines, srun_lines(job));
  if (job.launcher == Launcher::none) {
    append(lines, thread_lines(job));
    append(lines, {"", "ddl_command=(\"${ddl_program[@]}\")"});
  }
  return lines;
}

}  // namespace ddlrun::schedulers
