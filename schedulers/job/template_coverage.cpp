// SPDX-License-Identifier: MIT
#include "schedulers/job/template_coverage.hpp"

#include "base/text/text.hpp"
#include "schedulers/job/script_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ddlrun::schedulers {

namespace {

using Holes = std::set<std::string>;

// `placeholders`: any of them carries the key. Lines to add: of Slurm, of PBS and Torque, and where it stands
// in the shell part of any script.
struct Carrier {
  std::string_view key, placeholders, slurm, pbs, shell;
};

constexpr auto carriers = std::to_array<Carrier>({
    {"name", "name", "--job-name={{name|sbatch}}", "-N {{name|pbs}}", "# {{name|sh}}"},
    {"order", "launch", "", "", "exec {{launch|sh}}"},
    {"hosts", "hosts", "--nodelist={{hosts|sbatch}}", "", "hosts={{hosts|sh}}"},
    {"cores_per_node", "cores_per_node threads cpus_per_rank launch", "--cpus-per-task={{cpus_per_rank|int}}",
     "-l select={{nodes|int}}:ncpus={{cores_per_node|int}}:mpiprocs={{ranks_per_node|int}}",
     "export OMP_NUM_THREADS={{threads|int}}"},
    {"hardware_threads_per_core", "cpus_per_rank", "--cpus-per-task={{cpus_per_rank|int}}", "",
     "cpus={{cpus_per_rank|int}}"},
    {"reserved_cores", "threads cpus_per_rank launch", "--cpus-per-task={{cpus_per_rank|int}}", "",
     "export OMP_NUM_THREADS={{threads|int}}"},
    {"threads", "threads cpus_per_rank launch", "--cpus-per-task={{cpus_per_rank|int}}", "",
     "export OMP_NUM_THREADS={{threads|int}}"},
    {"gpus", "gpus_per_node", "--gpus-per-node={{gpus_per_node|int}}",
     "-l select={{nodes|int}}:ncpus={{cores_per_node|int}}:ngpus={{gpus_per_node|int}}",
     "gpus={{gpus_per_node|int}}"},
    {"gpu_type", "gpu_type", "--gpus-per-node={{gpu_type|sbatch}}:{{gpus_per_node|int}}", "",
     "gpu_type={{gpu_type|sh}}"},
    {"memory", "memory_mb", "--mem={{memory_mb|int}}M", "-l select={{nodes|int}}:mem={{memory_mb|int}}mb",
     "ulimit -v $(({{memory_mb|int}} * 1024))"},
    {"constraint", "constraint", "--constraint={{constraint|sbatch}}", "", ""},
    {"walltime", "walltime walltime_seconds", "--time={{walltime|sbatch}}", "-l walltime={{walltime|pbs}}",
     "timeout {{walltime_seconds|int}} {{program|sh}}"},
    {"queue", "queue", "--partition={{queue|sbatch}}", "-q {{queue|pbs}}", ""},
    {"account", "account", "--account={{account|sbatch}}", "-A {{account|pbs}}", ""},
    {"project", "project", "--wckey={{project|sbatch}}", "-P {{project|pbs}}", ""},
    {"application", "application", "--comment={{application|sbatch}}", "-A {{application|pbs}}", ""},
    {"qos", "qos", "--qos={{qos|sbatch}}", "", ""},
    {"reservation", "reservation", "--reservation={{reservation|sbatch}}", "-q {{reservation|pbs}}", ""},
    {"modules", "modules", "", "", "module load {{modules|sh}}"},
    {"conda", "conda", "", "", "conda activate {{conda|sh}}"},
    {"venv", "venv", "", "", ". {{venv|sh}}/bin/activate"},
    {"container", "container", "", "", "apptainer exec {{container|sh}} {{program|sh}}"},
    {"environment", "environment", "", "", "export {{environment|sh}}"},
    {"data", "data", "", "", "export DDLRUN_DATA={{data|sh}}"},
    {"program", "program launch", "", "", "exec {{program|sh}}"},
    {"workdir", "workdir", "--chdir={{workdir|sbatch}}", "", "cd {{workdir|sh}}"},
    {"affinity", "launch", "", "", "exec {{launch|sh}}"},
    {"framework", "launch", "", "", "exec {{launch|sh}}"},
    {"verify", "launch", "", "", "exec {{launch|sh}}"},
    {"oversubscribe", "launch", "", "", "exec {{launch|sh}}"},
    {"launcher", "launch", "", "", "exec {{launch|sh}}"},
    {"interface", "launch", "", "", "exec {{launch|sh}}"},
    {"mem_bind", "launch", "", "", "exec {{launch|sh}}"},
    {"visible_gpus", "launch", "", "", "exec {{launch|sh}}"},
    {"rank_output", "launch", "", "", "exec {{launch|sh}}"},
    {"stall_timeout", "launch", "", "", "exec {{launch|sh}}"},
    {"on_stall", "launch", "", "", "exec {{launch|sh}}"},
    {"max_restarts", "launch", "", "", "exec {{launch|sh}}"},
    {"signal", "signal", "--signal=B:{{signal|sbatch}}", "", ""},
    {"array", "array", "--array={{array|sbatch}}", "-J {{array|pbs}}", ""},
    {"dependencies", "dependencies", "--dependency={{dependencies|sbatch}}", "-W depend={{dependencies|pbs}}",
     ""},
    {"mail", "mail", "--mail-user={{mail|sbatch}}", "-M {{mail|pbs}}", ""},
    {"mail_events", "mail_events", "--mail-type={{mail_events|sbatch}}", "-m {{mail_events|pbs}}", ""},
    {"output", "output", "--output={{output|sbatch}}", "", "exec >>{{output|sh}} 2>&1"},
    // What our own script does; a template does it by itself or not at all.
    {"exclusive", "", "", "", ""},
    {"purge_modules", "", "", "", ""},
    {"setup", "", "", "", ""},
    {"runner", "", "", "", ""},
    {"srun_mpi", "", "", "", ""},
    {"doctor", "", "", "", ""},
    {"doctor_skip", "", "", "", ""},
    {"doctor_warn", "", "", "", ""},
    {"requeue", "", "", "", ""},
    {"directives", "", "", "", ""},
});

bool has_any(const Holes& placeholders, std::string_view names) {
  const auto words = split(names, ' ');
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view name) { return placeholders.contains(std::string(name)); });
}

std::string line_of(const Carrier& carrier, SchedulerKind kind) {
  if (kind == SchedulerKind::slurm && !carrier.slurm.empty()) return fmt::format("#SBATCH {}", carrier.slurm);
  // Torque writes the file of -o over the log at the job's end, and qsub gets the option.
  if (kind == SchedulerKind::torque && carrier.key == "output") return "#PBS -o {{output|pbs}}";
  const bool pbs = is_pbs_like(kind);
  if (pbs && !carrier.pbs.empty()) return fmt::format("#PBS {}", carrier.pbs);
  return std::string(carrier.shell);
}

// The value of the setting, as short as it was written.
std::string value_of(const YamlValue& value) {
  if (value.kind == YamlValue::Kind::scalar) return printable(value.text, 60);
  std::string text;
  for (const YamlValue& item : value.items) text += (text.empty() ? "" : ", ") + printable(item.text, 60);
  for (const auto& [name, field] : value.fields) text += (text.empty() ? "" : ", ") + printable(name, 60);
  return printable(text, 120);
}

// These ask for nothing.
bool asks_nothing(const JobSpec& job, std::string_view key, const std::string& value) {
  if (key == "exclusive") return !job.exclusive;
  if (key == "purge_modules") return job.modules.empty() || !job.purge_modules;
  if (key == "runner") return job.runner == Runner::none;
  if (key == "doctor") return job.doctor == DoctorLevel::off;
  if (key == "requeue") return !job.requeue.wanted;
  if (key == "affinity") return value == "off" || value == "auto";
  if (key == "launcher") return value == "auto";
  if (key == "mem_bind") return value == "local";
  if (key == "framework") return value == "auto";
  if (key == "order") return job.order == topology::RankOrder::ddl;
  if (key == "gpus") return job.gpus_per_node == 0;
  if (key == "reserved_cores") return job.reserved_cores == 0;
  if (key == "hardware_threads_per_core") return job.hardware_threads_per_core == 1;
  if (key == "mail_events") return job.mail.empty();
  const bool of_schedulers = key == "queue" || key == "account" || key == "qos" || key == "project";
  return of_schedulers && job.scheduler == SchedulerKind::local;  // reported already
}

DroppedSetting lost(std::string key, const Setting& setting, std::string placeholder) {
  return {std::move(key), value_of(setting.value), setting.origin, std::move(placeholder)};
}

// Nodes and ranks are two facts, and each may be carried by another placeholder.
void add_lost_shape(std::vector<DroppedSetting>& all, const JobSpec& job, const JobSettings& settings,
                    const Holes& placeholders) {
  const std::string key = settings.contains("dims") ? "dims" : "nodes";
  const auto found = settings.find(key);
  if (found == settings.end() || has_any(placeholders, "dims launch ranks")) return;
  const bool pbs = is_pbs_like(job.scheduler);
  std::vector<std::string> lines;
  const bool nodes = placeholders.contains("nodes") || placeholders.contains("hosts");
  if (!nodes) lines.emplace_back(pbs ? "-l select={{nodes|int}}:..." : "--nodes={{nodes|int}}");
  if (job.ranks_per_node() > 1 && !placeholders.contains("ranks_per_node"))
    lines.emplace_back(pbs ? ":mpiprocs={{ranks_per_node|int}}" : "--ntasks-per-node={{ranks_per_node|int}}");
  if (lines.empty()) return;
  const bool slurm = job.scheduler == SchedulerKind::slurm;
  const std::string sign = slurm ? "#SBATCH " : pbs ? "#PBS " : "";
  all.push_back(lost(key, found->second,
                     slurm || pbs ? sign + join(lines, pbs ? " and " : " ") : std::string("{{launch|sh}}")));
}

}  // namespace

std::vector<DroppedSetting> dropped_settings(const JobSpec& job, const JobSettings& settings,
                                             const std::set<std::string>& placeholders) {
  std::vector<DroppedSetting> all;
  add_lost_shape(all, job, settings, placeholders);
  for (const Carrier& carrier : carriers) {
    const std::string key(carrier.key);
    const auto found = settings.find(key);
    const bool is_set = found != settings.end() && !asks_nothing(job, key, found->second.value.text);
    // A fact of this process is not the user's setting.
    if (!is_set || found->second.origin == "the current directory") continue;
    if (key == "environment" && std::any_of(job.environment.begin(), job.environment.end(),
                                            [](const auto& e) { return is_wildcard(e); })) {
      all.push_back(lost(key, found->second, ""));
    } else if (key == "signal" && is_pbs_like(job.scheduler)) {
      all.push_back(lost(key, found->second, ""));  // no PBS sends it; our own script has an alarm
    } else if (!has_any(placeholders, carrier.placeholders)) {
      all.push_back(lost(key, found->second, line_of(carrier, job.scheduler)));
    } else if (key == "data" && job.data && !job.data->to.empty() && !placeholders.contains("data_to")) {
      all.push_back(lost(key, found->second, "cp -R {{data|sh}}/. {{data_to|sh}}"));
    } else if (key == "container" && job.container && !job.container->binds.empty() &&
               !placeholders.contains("container_binds")) {
      all.push_back(
          lost(key, found->second, "apptainer exec --bind {{container_binds|sh}} {{container|sh}}"));
    }
  }
  return all;
}

bool template_sets_log(SchedulerKind scheduler, const std::set<std::string>& placeholders) {
  return scheduler == SchedulerKind::local || scheduler == SchedulerKind::torque ||
         placeholders.contains("output");
}

namespace {

// Why the log of such a job cannot be followed, with the line to write; "" where it can.
std::string log_remark(const JobSpec& job, const templates::FilledTemplate& filled) {
  const bool is_named = template_sets_log(job.scheduler, filled.used);
  const bool pbs = job.scheduler == SchedulerKind::pbs;
  if (!pbs && is_named) return "";
  const std::string_view line = pbs ? "exec >>{{output|sh}} 2>&1   # after the #PBS lines"
                                    : "#SBATCH --output={{output|sbatch}} --open-mode=append";
  if (!is_named)
    return fmt::format("template: it has no placeholder for output, so the log cannot be followed: {}", line);
  // pbs_mom copies the file of -o when the job is over, over what stands there.
  if (!filled.shell.contains("output"))
    return fmt::format(
        "template: PBS writes the file of -o at the job's end, so the log cannot be followed: {}", line);
  if (filled.directives.contains("output"))
    return "template: at the job's end PBS writes the file of -o over the log: #PBS -j oe -o "
           "{{scheduler_log|pbs}}";
  return "";
}

}  // namespace

std::vector<std::string> template_remarks(const JobSpec& job, const templates::FilledTemplate& filled) {
  std::vector<std::string> remarks;
  if (std::string remark = log_remark(job, filled); !remark.empty()) remarks.push_back(std::move(remark));
  if (!filled.used.contains("exit_status_file")) {
    const bool slurm = job.scheduler == SchedulerKind::slurm;
    remarks.push_back(fmt::format(
        "template: it does not write its exit status down, so how it ended is known only while {} remembers "
        "it: end() {{ echo $? >{{{{exit_status_file|sh}}}}{}; }}; trap end EXIT",
        slurm ? "Slurm" : "PBS",
        !job.array ? ""
        : slurm    ? "${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}"
                   : "${PBS_ARRAY_INDEX:+.$PBS_ARRAY_INDEX}"));
  }
  return remarks;
}

std::vector<Message> check_template(const JobSpec& job, const std::set<std::string>& placeholders,
                                    const std::string& dir) {
  std::vector<Message> errors;
  const std::string& file = job.script_template;
  if (job.scheduler == SchedulerKind::local && !placeholders.contains("exit_status_file")) {
    errors.push_back(
        {"without a scheduler only the script can report its exit status, and the template does "
         "not write it down",
         file, "end() { echo $? >{{exit_status_file|sh}}; }; trap end EXIT   # near its top"});
  }
  if (job.program.empty() && has_any(placeholders, "program launch")) {
    errors.push_back({"the template starts the job's program, and there is no program", file,
                      "program: python train.py   # or: ddlrun submit ... -- python train.py"});
  }
  if (job.scheduler == SchedulerKind::slurm && job.output.empty() && placeholders.contains("output") &&
      dir.find('%') != std::string::npos) {
    errors.push_back(
        {fmt::format("the job's directory {} has a '%', which begins a pattern in Slurm's output",
                     printable(dir, 120)),
         file, "another --workdir, or output: /a/file/without/it.log"});
  }
  return errors;
}

}  // namespace ddlrun::schedulers
